// SPDX-License-Identifier: Apache-2.0
// eitherway-tracer: runs a command and all that it starts under ptrace. Every call of the table
// (call_table.h) stops at its begin, waits until the gate lets it through, and is written down with
// the objects that it led to. Recording, replaying and going live differ in the gate alone.
//
// It runs inside the sandbox: threads have the numbers that the command itself sees.
#ifndef EITHERWAY_TRACER_H
#define EITHERWAY_TRACER_H

#include <assert.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdnoreturn.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>

#include "eitherway_format.h"

enum { EXIT_USAGE = 64, EXIT_UNAVAILABLE = 69, EXIT_OUR_BUG = 70 };
enum { ARGUMENTS = 6 };

struct call_shape;
struct shared;

// Where a thread is, as far as the gate is concerned.
enum where {
    ABOUT,   // runs, or does something that is not in the table
    HELD,    // stopped where a call of the table begins
    IN_CALL, // let through, not over yet
};

enum lookup_flag { LOOKUP_LAST = 1, LOOKUP_IN_ROOT = 2 };
enum { LOOKUPS_MAX = 96, ANCHORS_MAX = 3 };

struct thread {
    pid_t id;      // of the thread
    size_t at;     // in the list of all
    pid_t process; // that it belongs to
    struct shared *shared;
    enum where where;
    bool known;        // whoever made it has been told of
    bool waiting;      // stopped until it is known
    bool suspended;    // by a signal that stops processes
    bool lends;        // its memory to a child: a vfork is under way
    bool moves;        // was let go, and will stop by itself unless nothing is heard of it for long
    bool slept;        // when it was last looked at, since it was let go
    bool resumes;      // was woken in a call with a time, and goes on with what is left of it
    bool dozed;        // at a futex of its own until a moment, since its last call
    bool began;        // the command runs: what comes before is ours
    bool brief;        // only the names in its paths are wanted
    bool chose_port;   // a port stands where the program has 0
    bool any_port;     // that was taken: the kernel chooses
    bool sent_back;    // to before the call that it was held at
    bool apart;        // may run on all processors
    uint32_t stops;    // since the timer ticked
    int stat, syscall; // of its directory in /proc; 0: not opened yet
    uint32_t index;
    uint64_t arrived; // where its call began
    uint32_t passed;  // calls that it made while others were held
    const struct call_shape *shape;
    const struct ew_process_turn *turn; // of the call under way, or NULL
    struct ew_process_call call;
    uint64_t shifted;         // address of a deadline that is not the program's, or 0
    struct timespec deadline; // the program's
    bool answered;            // by the tracer, with this
    struct timespec told;
    mode_t mode;   // of the file that the call is about, or 0
    mode_t second; // of the other one
    uint32_t name; // hash of the last part of its first path and of how it is opened, or 0
    uint32_t like[ANCHORS_MAX]; // calls that it made like each anchor of the plan
    size_t lookup_count;
    struct ew_process_lookup lookups[LOOKUPS_MAX]; // of which call is said when it is written
};

#define FOR_EVER 1e9 // seconds

// When a run is ended that does not end by itself.
struct run_limits {
    double patience; // seconds of sleep of all, until they are taken to hang
    uint64_t calls;  // that go through
    double seconds;
    double rest; // in which all slept
};

struct options {
    int into; // directory of the recording
    const char *recorder;
    int plan;       // turns, or -1
    int facts;      // what the recording is to say of its beginnings, or -1
    uint64_t seed;  // of priorities, behind the plan
    uint64_t began; // what is followed, nanoseconds since 1970; or 0
    bool brief;     // what is followed is not written down in full
    bool ordered;   // one call at a time, chosen when all have come to rest; else as they come
    bool apart;     // nobody outside can wake one
    struct run_limits limits;
    char **command;
};

// ---- threads.c

struct thread *thread_find(pid_t id); // or NULL
struct thread *thread_get(pid_t id);  // made when it is not there
void thread_gone(struct thread *thread);
pid_t thread_process(pid_t thread); // as the kernel tells it
// Calls it for each, in no order; it must not end one.
void threads_each(void (*visit)(struct thread *thread, void *context), void *context);
// It goes on: to its next stop, or into a call in which it may sleep.
void thread_goes(struct thread *thread);
// Sleeps in the kernel, until something wakes it. One that is gone does not.
bool thread_sleeps(struct thread *thread);

// ---- memory.c: of a stopped thread. Bytes, or -1.

ssize_t memory_read(pid_t thread, uint64_t address, void *to, size_t length);
ssize_t memory_write(pid_t thread, uint64_t address, const void *from, size_t length);
// Up to a NUL; the length without it, or -1.
ssize_t memory_text(pid_t thread, uint64_t address, char *to, size_t size);

// ---- stops.c: registers and the next step of a stopped thread

struct entry {
    uint64_t number;
    uint64_t arguments[ARGUMENTS];
};
int stop_entry(pid_t thread, struct entry *entry);
int stop_result(pid_t thread, int64_t *result);
int stop_set_result(pid_t thread, int64_t result);
// The call that it stands before is not made; it returns this.
int stop_skip(pid_t thread, int64_t result);
int stop_argument(pid_t thread, int which, uint64_t value); // of the first two
// It has skipped this call and stands behind it: it makes it anew.
int stop_again(pid_t thread, uint64_t number);
void stop_go(pid_t thread, bool to_the_end_of_the_call, int signal);

// ---- start.c

// The command's process: seized, its calls stop. Ends this process when it cannot be.
pid_t start_command(char **command);
// When it has ended: ends this process too where its calls could not be made to stop.
void start_check(void);
// What a new program gets from the kernel, the same in every run: no vDSO, so that asking for the
// time is a call, and where calls are ordered random bytes that depend on the process alone.
void start_program(const struct thread *thread);

// ---- shapes.c

enum { CALL_NUMBERS = 512 };                             // all are below
const struct call_shape *call_shape_of(uint64_t number); // or NULL

// ---- objects.c, lookups.c: what calls lead to; 0 is nothing

uint32_t object_of(const struct stat *status);
bool object_is_random(uint32_t number); // gives bytes that nobody can tell
// Whether a descriptor leads to what tells of the machine; and whether that is a random name.
bool object_is_of_machine(uint32_t number, pid_t thread, int descriptor, bool *random);
bool position_matters(uint64_t number); // of the file, to a call of this number
uint32_t object_of_descriptor(pid_t thread, int descriptor, struct stat *status);
struct sockaddr_un;
void lookups_take_socket(struct thread *thread, const struct sockaddr_un *address, size_t length);
void lookups_take(struct thread *thread);

// A name in a directory, and the way to it; what is there, and of which type.
struct entry_asked {
    uint32_t directory;
    const char *name;
    size_t length;
    int base;
    const char *way;
    bool last; // of the path
};
struct entry_found {
    uint32_t object;
    mode_t mode;
};
bool entry_find(const struct entry_asked *asked, struct entry_found *found);
// What a link says; its length, or -1.
ssize_t entry_link(uint32_t object, int base, const char *way, char *target, size_t size);

// ---- shared.c: descriptors, root and directory, as far as they are known without asking

void shared_begin(struct thread *thread);
void shared_end(struct thread *thread);
void shared_inherit(struct thread *parent, struct thread *child, uint64_t flags); // of clone
uint32_t shared_object(struct thread *thread, int descriptor, mode_t *mode);
// Its position, and the flags of its open; false when it is not open.
bool descriptor_state(struct thread *thread, int descriptor, uint64_t *position, uint64_t *flags);
void shared_closed(struct thread *thread, int descriptor);
void shared_all_closed(struct thread *thread);
// A descriptor of ours, good until the next is asked for, and its object.
bool shared_root(struct thread *thread, int *descriptor, uint32_t *object);
// Where one of the call's paths begins: the way to it from `base`, and its object.
bool shared_start(struct thread *thread, int directory, uint32_t path, int *base, char *way,
                  size_t size, uint32_t *object);
void shared_directory_changed(struct thread *thread);
bool shared_by_one(const struct thread *thread);
// The thread is about to have a part of it for itself, or another root.
void shared_parts(struct thread *thread);

// ---- texts.c

uint32_t text_number(const char *text, size_t length);
const char *text_of_number(uint32_t number);
size_t text_length(uint32_t number);

// ---- redaction.c: words of commands and data stay out of the recording

void redaction_begin(void);
bool redaction_is_on(void);
// Of words with NULs behind them, redacted where that is on; as a text.
uint32_t command_line_number(const char *text, size_t length);
char **redaction_of_command(char **command, size_t count); // as it may be told

// ---- log.c

void log_begin(const struct options *options);
void log_object(const struct ew_process_object *row);
void log_text(const char *text, size_t length);
void log_call(struct thread *thread);
void log_keep(void); // what was told so far is there, also when this process is killed
void log_event(const struct ew_process_event *event);
// Of the call that is written down next; nothing where data are redacted.
void log_data(uint32_t kind, const void *data, size_t length);
void log_finish(void);

// ---- calls.c: one call from its begin to its end

enum call_flag {
    CALL_NEVER_RETURNED = 1,
    CALL_OTHERS_WENT_ON = 2,
    CALL_APPENDS = 4,
    CALL_NOT_SEEN_TO_END = 8,
    CALL_GIVES = 16
};
// In the value of an fcntl: the call has the first byte and the one behind the last in the places
// of its fourth and fifth argument.
enum { LOCK_OF_BYTES = 1 << 16 };
enum data_kind { CAME_FROM_OUTSIDE = 1, STANDARD_OUTPUT, STANDARD_ERROR };

void calls_begin(void);
void call_enter(struct thread *thread, const struct entry *entry);
// As it is let through: what it will find.
void call_look(struct thread *thread);
// A wait for any child becomes one for this child, until it is over.
void call_wait_for(const struct thread *thread, pid_t child);
void call_leave(struct thread *thread, int64_t result);
// It is followed and brief: how it ends is taken to be what it was. False when that is needed.
bool call_pass(struct thread *thread);
// How it ends is known: it need not stop there.
bool call_ends_for_sure(const struct thread *thread);
void call_cut_off(struct thread *thread); // it never returned
bool call_may_wait(const struct thread *thread);
// Whoever takes output always takes it: a sleep in such a call has an end.
bool call_gives_output(const struct thread *thread);
bool call_waits_for_time(const struct thread *thread);
// Whether a call with this result had waited for something until its time was over.
bool call_ran_out(const struct thread *thread, int64_t result);
bool call_ends_process(const struct thread *thread);

// ---- polls.c, ipc.c: what lies in memory of calls that wait for one of several

void polls_enter(struct thread *thread);
void polls_leave(struct thread *thread, int64_t result);
// Leaves memory as a call does that found none ready.
void polls_find_nothing(struct thread *thread);
void ipc_enter(struct thread *thread);
void ipc_leave(struct thread *thread, int64_t result);

// ---- futexes.c, pidfds.c: what memory that is shared and descriptors of processes lead to

void futexes_enter(struct thread *thread);
void pidfds_enter(struct thread *thread);

// ---- ports.c

void ports_choose(struct thread *thread); // ordered: for a call that is let through
// The port was taken: the thread, which stands behind its call, makes it anew.
bool ports_try_again(struct thread *thread, int64_t result);
void ports_leave(struct thread *thread, int64_t result);

// ---- plan.c: the turns of a branch

enum turn_flag { TURN_ANCHOR = 2, TURN_WAITS_FOR = 4 };

void plan_read(int descriptor);
const struct ew_process_turn *plan_next(void); // NULL when it is over
size_t plan_done(void);
size_t plan_length(void);
void plan_step(void);
void plan_give_up(void);
// Those whose order matters, in the order of the plan; how many of them are over.
size_t plan_anchors(void);
size_t plan_anchors_done(void);
const struct ew_process_turn *plan_anchor(size_t which);
// What the call of a turn got from outside; NULL when nothing.
const void *plan_data(const struct ew_process_turn *turn, enum data_kind kind, size_t *length);

// ---- gate.c: who goes through next

void gate_begin(const struct options *options);
void gate_arrive(struct thread *thread);
void gate_over(struct thread *thread); // its call is over, or need not be waited for
bool gate_is_ordered(void);
uint64_t gate_passed(void); // calls that were let through
// Ordered: all have come to rest. Lets the next one through; false when nobody can go.
bool gate_next(void);
// As they come: whether some are held behind a call, and that sleeps. Then the next goes through.
bool gate_is_busy(void);
bool gate_pass_sleeper(void);
void gate_tell(void); // notes how far the plan was followed

// ---- processors.c

void processors_begin(void);
void processors_inherit(const struct thread *parent, struct thread *child);
void processors_tick(void);
// A thread asks which it may have, or chooses some.
void processors_asked(bool to_choose);

// ---- pids.c

// The next process that is made has this number. False when it cannot have it any more.
bool pids_next(pid_t wanted);

// ---- loop.c

uint64_t tick(void); // the clock of the log: counts, and never gives a number twice
// Until all have ended; the command's wait status.
int loop_run(pid_t command, const struct run_limits *limits);
// This thread is about to end; until it has, stops of other processes are left alone.
void loop_expect_end(pid_t thread);

// ---- hangs.c

// Who could wake one of those who all sleep.
enum wakes {
    BY_NOBODY,  // but themselves
    BY_PACKETS, // or what is still under way between two of them
    BY_OTHERS,  // time, a device, who is outside; or nobody can tell
};

void hangs_begin(bool is_apart);
void hangs_notice(uint64_t number, uint64_t argument); // a call, with its first argument
enum wakes hangs_wait_for(void);                       // all are at rest

// Whether time alone can wake one, be it that of a sleep or of a timer.
bool hangs_until_later(void);

// ---- timers.c: those that send a signal to their process

struct timer;
void timers_notice(struct thread *thread, const struct entry *entry); // a call sets one
void timers_executed(pid_t process); // another program: only that of alarm and setitimer stays
// The one that is due next, of this process, or (0) of any that is there; or NULL.
struct timer *timers_next(pid_t process);
pid_t timer_process(const struct timer *timer);
int64_t timer_left(const struct timer *timer); // nanoseconds
void timers_pass(int64_t nanoseconds);         // that nobody waited for
// Time has gone on until then. Its signal comes now, and not when the kernel's timer is due.
void timer_send(struct timer *timer);
// A signal that is about to be got: false when it was sent before, and must not come again.
bool timers_let_come(const struct thread *thread, siginfo_t *info);

// ---- signals.c

void signals_to(pid_t process); // one was sent, by none of the processes

bool signals_sends(uint64_t number); // a call of this number
// Behind a call that may have sent one.
void signals_after(const struct thread *thread, int64_t result);
// The call ended for a signal that is ignored, as only a call of who is traced does: it is made
// anew, and has the result of those that the kernel makes again itself.
bool signals_make_again(const struct thread *thread, int64_t *result);
// The thread was sent back to before its call, and has come to its end: it makes it anew.
bool signals_try_again(struct thread *thread);

// ---- clock.c

// What is followed began at this moment (nanoseconds since 1970); 0: nothing is followed.
void clock_begin(uint64_t began);
bool clock_is_followed(void); // the time of day is not the machine's
// The time that the kernel noted in a file, as a program is told it; false: not in this run.
bool clock_of_file(struct timespec *time);
int64_t clock_length(const struct thread *thread); // nanoseconds that it wants to sleep, or -1
void clock_slept(const struct thread *thread);     // its call, a sleep, is skipped
void clock_skip(uint64_t nanoseconds);             // nobody did anything for so long
double clock_rested(void); // seconds of such sleep, of a long one only its beginning
// What a call is given of the time from the plan.
void clock_told(const struct thread *thread, const void *given, size_t length);
// A futex call waits until a moment of a clock as it was told: until that of the machine's then.
void clock_shift(struct thread *thread, const uint64_t arguments[]);
// The same of any call that has a moment of this clock there.
void clock_shift_to(struct thread *thread, uint64_t address, uint64_t clock);
// Nanoseconds from now until a moment of a clock as programs are told it.
int64_t clock_until(uint64_t clock, struct timespec moment);
void clock_put_back(struct thread *thread);
// What a call told of the time, put on by what was slept; whether it was.
bool clock_put_on(const struct thread *thread, uint64_t address);
// A call that asks for the time is answered here, and not made: it need not stop a second time.
// False when the kernel must be asked.
bool clock_answers(struct thread *thread);
void clock_other_times(void); // from here on not all have the tracer's
int64_t clock_seconds(int64_t seconds);

// ---- file_times.c: of a call that tells them

bool file_times_matter(const struct thread *thread);
void file_times_leave(struct thread *thread, int64_t result);

// ---- unknown.c

void unknown_count(uint64_t number);
void unknown_tell(void);

// ---- ends.c: how it went, for whoever started this

void end_note(const char *name, const char *text);
void end_note_number(const char *name, uint64_t value);
const char *end_notes(void); // members of a JSON object
noreturn void die(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
