// SPDX-License-Identifier: Apache-2.0
// eitherway-sandbox: a command in namespaces of its own, over a file system whose changes vanish.
//
// Processes of one sandbox, each killed by the kernel when the one above it dies:
//
//   keeper      outside; started by the user, watches its parent, speaks on the control descriptor
//     builder   makes the namespaces one by one and the file tree in them, then is gone
//     init      pid 1 inside; reaps, and when it ends everything inside ends
//       command
//
// A sandbox that stays has any number of commands, each brought in by a door: a process outside
// that ends like its command, and whose death is the command's.
#ifndef EITHERWAY_SANDBOX_H
#define EITHERWAY_SANDBOX_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdnoreturn.h>
#include <sys/types.h>

enum { EXIT_USAGE = 64, EXIT_UNAVAILABLE = 69, EXIT_CANNOT_RUN = 126, EXIT_NOT_FOUND = 127 };

// What can be isolated, each on its own.
enum kind { FILES, NETWORK, PROCESSES, PRIVILEGES, KINDS };
extern const char *const kind_names[KINDS];

// 0 is no limit. Sizes in bytes. All but `disk` and `processes` hold for each process.
struct limits {
    uint64_t memory;        // private writable memory
    uint64_t address_space; // all mappings
    uint64_t cpu_seconds;
    uint64_t file_size;
    uint64_t processes; // of the whole sandbox, threads included
    uint64_t disk;      // all that is written, in memory
};

enum { DEVICES_MAX = 16, WORK_MAX = 16 }; // the last is NULL

struct options {
    bool required[KINDS];
    bool without[KINDS]; // left out, though this machine may permit it
    int report;          // one line about the isolation in force, or -1
    int control;         // a socket: reports go out, "reset" comes in, its end is the end; or -1
    const char *enter;   // numbers of namespace descriptors: this is a door
    int registry;        // of a door: the socket that init listens on, or -1
    int as_is;           // of a door: a directory that the command has from outside, or -1
    int started;         // of a door: the number of the command's process is written here, or -1
    struct limits limits;
    const char *devices[DEVICES_MAX]; // in /dev, besides those every program needs
    const char *work[WORK_MAX];       // directories the command will write in
    char **command;
};

// Prints the mistake and ends with EXIT_USAGE.
void options_read(int count, char **arguments, struct options *options);

// ---- channel.c: between keeper and what it starts; one datagram is one message

enum message_type {
    MESSAGE_MAP,     // builder: I am in a new user namespace, map its ids
    MESSAGE_MAPPED,  // keeper: done, or `value` is the errno
    MESSAGE_REFUSED, // builder, init: this machine refuses `kind` because of `text`
    MESSAGE_BROKEN,  // builder, init: cannot go on at all because of `text`
    MESSAGE_INIT,    // builder: init is process `value`
    MESSAGE_PIDS,    // init: what is your pid_max? answered with the same type
    MESSAGE_READY,   // init: all is in place; carries descriptors
    MESSAGE_GO,      // keeper: the isolation in force is told, the command may run
    MESSAGE_STATUS,  // init: the command ended with wait status `value`
    MESSAGE_ENTER,   // a command to init: I am process `value`, and the descriptor is my door's
    MESSAGE_SIGNAL,  // door to init: send the command signal `value`
};

enum { TEXT_MAX = 200, DESCRIPTORS_MAX = 8 };

struct message {
    enum message_type type;
    enum kind kind;
    int value;
    char text[TEXT_MAX];
};

struct descriptors {
    int count;
    int list[DESCRIPTORS_MAX];
};

// Both return 0 or -1 with errno; receive gives EPIPE at the end. `fds` may be NULL.
int channel_send(int channel, const struct message *message, const struct descriptors *fds);
int channel_send_text(int channel, const void *data, size_t length, const struct descriptors *fds);
int channel_receive(int channel, struct message *message, struct descriptors *fds);
// For a socket with SO_PASSCRED: the process that sent it, or -1.
pid_t channel_receive_sender(int channel, struct message *message);

// ---- box: what builder and init know

enum { OWN_MAX = 64 };

struct own {
    size_t count;
    char *paths[OWN_MAX];
};

struct box {
    const struct options *options;
    int channel;
    bool wanted[KINDS]; // what was not refused yet
    int namespaces;     // CLONE_NEW* flags that are in force
    bool user_ids;      // the user namespace maps only the caller's own ids
    int scratch;        // the directory all layers lie in, or -1
    const char *files;  // overlay-root, overlay-tops or none
    unsigned read_only; // places that could only be shown, not written to
    long pid_max;       // outside
    struct kept *kept;
    char *directory; // the current one
    struct own own;
};

// Reports the refusal to the keeper, with errno in words, and ends this process.
noreturn void refuse(const struct box *box, enum kind kind, const char *what);
noreturn void broken(const struct box *box, const char *what);

noreturn void build(struct box *box);   // builder.c
noreturn void be_init(struct box *box); // init.c

// ---- own.c

// The list for a program that works in `current` and `more`; what does not fit is left out.
void own_find(struct own *own, const char *current, const char *const *more);

// ---- tree.c: the file system as the command sees it

// In a private mount namespace: makes the tree and moves into it. NULL, or the step that failed.
const char *tree_build(struct box *box);

// ---- limits.c

// Those that a process sets for itself, just before the command. 0 or -1 with errno.
int limits_set(const struct limits *limits, bool pids_by_rlimit);
// The one that only init can set, for its pid namespace. Ends the process when it cannot be kept.
void limits_pids(const struct box *box, bool *by_rlimit);
long read_pid_max(void);

// ---- kept.c: descriptors that would lead outside

// Descriptors of directories and of files open for reading, with their paths; NULL and errno.
struct kept *kept_find(int as_is); // all but that one
// Opens them again where we are now; NULL, or a text that says which could not be.
const char *kept_reopen(const struct kept *kept);

// ---- command.c

struct start {
    char **command;
    const char *directory;
    const struct limits *limits;
    const struct kept *kept; // NULL: descriptors stay as they are
    bool pids_by_rlimit;
};

// Blocks the signals that are handed on and gives a descriptor to read them from; -1 and errno.
int signals_open(void);
noreturn void command_become(const struct start *start);
// Forks; the child becomes the command, and is killed when this process ends. The pid, or -1.
pid_t command_start(const struct start *start);
// Reaps and hands on signals until the command ends; its wait status. `parent`: a handle of who is
// not to be outlived, which is as if the command was killed; or -1.
int command_await(pid_t command, int signals, int parent);
// The next that a person or a program sent, or 0: what a terminal sends, the command gets itself.
int signal_next(int signals);
void signal_forward(int signals, pid_t to);
// Kills what is left of a command that had no pid namespace, as far as it can be found.
void kill_descendants(void);
// Ends this process the way the status says.
noreturn void end_like(int status);

// ---- guests.c

// Init of a sandbox that stays.
noreturn void host_guests(const struct box *box, int registry, int signals);

noreturn void keep(const struct options *options);      // keeper.c
noreturn void enter_box(const struct options *options); // door.c

// ---- report.c

struct isolation {
    const char *in_force[KINDS];
    char why[KINDS][TEXT_MAX]; // why not better; empty when it is the best
    unsigned read_only;
    pid_t init;
    // Descriptors come along: the registry, perhaps the directory of the layers, namespaces.
    bool scratch;
    int namespaces;
};

// One line of JSON. The length; it always fits.
enum { REPORT_MAX = 4096 };
int report_isolation(const struct isolation *isolation, char line[REPORT_MAX]);
int report_error(const char *error, char line[REPORT_MAX]);

// ---- util.c

noreturn void die(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));
int write_text(const char *path, const char *text);
const char *error_name(int error);

#endif
