// SPDX-License-Identifier: Apache-2.0
// The keeper: starts sandboxes, ends them, and says what isolation is in force.
#include "sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

// All are dead when this is over; what may still hang are their remains, where whoever has to reap
// them does not. Nothing of ours waits for that.
enum { REAP_MILLISECONDS = 5000 };

struct keeper {
    const struct options *options;
    struct isolation isolation;
    bool wanted[KINDS];
    struct kept *kept;
    char *directory;
    int parent; // pidfd
    int signals;
    int channel;
    pid_t init;
    struct descriptors fds; // of the sandbox: layers, namespaces
};

static noreturn void fail(const struct keeper *keeper, const char *text) {
    char line[REPORT_MAX];
    int length = report_error(text, line);
    int to = keeper->options->control >= 0 ? keeper->options->control : keeper->options->report;
    if (to >= 0 && write(to, line, (size_t)length) < 0)
        text = "nobody reads the report";
    die(EXIT_UNAVAILABLE, "%s", text);
}

// ---- ids of a user namespace

static int map_file(char path[64], pid_t of, const char *name) {
    return snprintf(path, 64, "/proc/%d/%s", (int)of, name);
}

// Every id as it is here, for whoever may give that away.
static int map_all(pid_t of, const char *name) {
    char path[64], own[64], text[4096] = "", line[128];
    snprintf(own, sizeof own, "/proc/self/%s", name);
    map_file(path, of, name);
    FILE *file = fopen(own, "re");
    if (!file)
        return -1;
    while (fgets(line, sizeof line, file)) {
        unsigned long inside, outside, count;
        if (sscanf(line, "%lu %lu %lu", &inside, &outside, &count) != 3)
            continue;
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%lu %lu %lu\n", inside, inside, count);
    }
    fclose(file);
    return write_text(path, text);
}

static int map_own(pid_t of, const char *name, unsigned id) {
    char path[64], text[64];
    map_file(path, of, name);
    snprintf(text, sizeof text, "%u %u 1", id, id);
    return write_text(path, text);
}

static int deny_groups(pid_t of) {
    char path[64];
    map_file(path, of, "setgroups");
    return write_text(path, "deny") < 0 && errno != ENOENT ? -1 : 0;
}

// `own_only` comes back true when only the caller's ids could be mapped.
static int map_ids(pid_t of, bool *own_only) {
    *own_only = false;
    if (map_all(of, "uid_map") == 0)
        return map_all(of, "gid_map");
    *own_only = true;
    if (map_own(of, "uid_map", geteuid()) < 0 || deny_groups(of) < 0)
        return -1;
    return map_own(of, "gid_map", getegid());
}

static void answer_map(int channel, pid_t builder) {
    struct message message = {.type = MESSAGE_MAPPED};
    bool own_only;
    if (map_ids(builder, &own_only) < 0) {
        message.value = errno;
        snprintf(message.text, sizeof message.text, "mapping ids of a user namespace");
    } else if (own_only) {
        snprintf(message.text, sizeof message.text, "own");
    }
    channel_send(channel, &message, NULL);
}

// ---- one sandbox

static void want(struct keeper *keeper, enum kind kind) {
    struct isolation *isolation = &keeper->isolation;
    keeper->wanted[kind] = !keeper->options->without[kind];
    if (keeper->wanted[kind])
        return;
    isolation->in_force[kind] = "none";
    snprintf(isolation->why[kind], sizeof isolation->why[kind], "it is to be left out");
}

static void note_refusal(struct keeper *keeper, const struct message *message) {
    enum kind kind = message->kind;
    char text[TEXT_MAX * 2];
    keeper->wanted[kind] = false;
    keeper->isolation.in_force[kind] = "none";
    snprintf(keeper->isolation.why[kind], sizeof keeper->isolation.why[kind], "%s", message->text);
    if (!keeper->options->required[kind])
        return;
    snprintf(text, sizeof text, "%s cannot be isolated here: %s", kind_names[kind], message->text);
    fail(keeper, text);
}

static void note_ready(struct keeper *keeper, const struct message *message) {
    struct isolation *isolation = &keeper->isolation;
    const char *files =
        strcmp(message->text, "overlay-root") == 0 ? "overlay-root" : "overlay-tops";
    for (int kind = 0; kind < KINDS; kind++) {
        if (!keeper->wanted[kind])
            continue;
        isolation->in_force[kind] = kind == FILES ? files : "namespace";
        isolation->why[kind][0] = '\0';
    }
    isolation->read_only = (unsigned)message->value;
    isolation->scratch = keeper->wanted[FILES];
    isolation->namespaces = keeper->fds.count - 1 - (isolation->scratch ? 1 : 0);
    if (strcmp(isolation->in_force[FILES], "overlay-tops") == 0)
        snprintf(isolation->why[FILES], sizeof isolation->why[FILES],
                 "an overlay of / in one piece needs the privilege to mount outside");
}

static void close_descriptors(struct keeper *keeper) {
    for (int i = 0; i < keeper->fds.count; i++)
        close(keeper->fds.list[i]);
    keeper->fds.count = 0;
}

// Talks with builder and init until one of them refuses, or init is known and ready.
static bool listen_to(struct keeper *keeper, pid_t builder) {
    struct message message;
    struct descriptors fds;
    bool ready = false;
    keeper->init = 0;
    while (!ready || !keeper->init) {
        if (channel_receive(keeper->channel, &message, &fds) < 0)
            fail(keeper, "the sandbox ended while it was being made");
        switch (message.type) {
        case MESSAGE_MAP:
            answer_map(keeper->channel, builder);
            break;
        case MESSAGE_PIDS:
            message.value = (int)read_pid_max();
            channel_send(keeper->channel, &message, NULL);
            break;
        case MESSAGE_INIT:
            keeper->init = message.value;
            break;
        case MESSAGE_READY:
            ready = true;
            keeper->fds = fds;
            note_ready(keeper, &message);
            break;
        case MESSAGE_REFUSED:
            note_refusal(keeper, &message);
            return false;
        default:
            fail(keeper, message.text);
        }
    }
    keeper->isolation.init = keeper->init;
    return true;
}

static noreturn void be_builder(const struct keeper *keeper, int channel) {
    struct box box = {.options = keeper->options,
                      .channel = channel,
                      .scratch = -1,
                      .files = "none",
                      .pid_max = read_pid_max(),
                      .kept = keeper->kept,
                      .directory = keeper->directory};
    memcpy(box.wanted, keeper->wanted, sizeof box.wanted);
    own_find(&box.own, keeper->directory, keeper->options->work);
    close(keeper->signals);
    build(&box);
}

static bool try_start(struct keeper *keeper) {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        fail(keeper, "no socket pair");
    pid_t builder = fork();
    if (builder < 0)
        fail(keeper, "no process for the sandbox");
    if (builder == 0) {
        close(pair[0]);
        be_builder(keeper, pair[1]);
    }
    close(pair[1]);
    keeper->channel = pair[0];
    if (listen_to(keeper, builder)) {
        waitpid(builder, NULL, 0);
        return true;
    }
    close(keeper->channel);
    while (waitpid(-1, NULL, 0) > 0)
        ; // builder, and init if it was the one that refused
    return false;
}

static void start(struct keeper *keeper) {
    while (!try_start(keeper))
        ; // each refusal takes one kind out of what is tried
}

static void end(struct keeper *keeper) {
    int init = (int)syscall(SYS_pidfd_open, keeper->init, 0);
    struct pollfd ended = {.fd = init, .events = POLLIN};
    close_descriptors(keeper);
    close(keeper->channel);
    kill(keeper->init, SIGKILL);
    if (poll(&ended, 1, REAP_MILLISECONDS) > 0)
        waitpid(keeper->init, NULL, 0);
    close(init);
}

// ---- reports

static void warn(const struct isolation *isolation) {
    for (int kind = 0; kind < KINDS; kind++)
        if (strcmp(isolation->in_force[kind], "none") == 0)
            fprintf(stderr, "eitherway-sandbox: %s are not isolated: %s\n", kind_names[kind],
                    isolation->why[kind]);
}

static void report(const struct keeper *keeper) {
    char line[REPORT_MAX];
    int length = report_isolation(&keeper->isolation, line);
    if (keeper->options->report < 0)
        warn(&keeper->isolation);
    else if (write(keeper->options->report, line, (size_t)length) != length)
        die(EXIT_UNAVAILABLE, "the report cannot be written: %s", strerror(errno));
}

static void report_with_descriptors(const struct keeper *keeper) {
    char line[REPORT_MAX];
    int length = report_isolation(&keeper->isolation, line);
    if (channel_send_text(keeper->options->control, line, (size_t)length, &keeper->fds) < 0)
        die(EXIT_UNAVAILABLE, "the control descriptor is not a socket in use: %s", strerror(errno));
}

static void release(const struct keeper *keeper) {
    struct message message = {.type = MESSAGE_GO};
    channel_send(keeper->channel, &message, NULL);
}

// ---- the two ways to keep

static noreturn void keep_command(struct keeper *keeper) {
    struct pollfd wait[] = {{.fd = keeper->channel, .events = POLLIN},
                            {.fd = keeper->parent, .events = POLLIN},
                            {.fd = keeper->signals, .events = POLLIN}};
    for (;;) {
        poll(wait, sizeof wait / sizeof wait[0], -1);
        if (wait[1].revents)
            _exit(1); // nobody waits for us; the kernel ends all the rest
        if (wait[2].revents)
            signal_forward(keeper->signals, keeper->init);
        if (!wait[0].revents)
            continue;
        struct message message;
        bool told = channel_receive(keeper->channel, &message, NULL) == 0;
        end(keeper);
        if (!told)
            die(EXIT_UNAVAILABLE, "the sandbox was ended from outside");
        if (message.type != MESSAGE_STATUS)
            die(EXIT_UNAVAILABLE, "%s", message.text);
        end_like(message.value);
    }
}

static noreturn void keep_open(struct keeper *keeper) {
    struct pollfd wait[] = {{.fd = keeper->options->control, .events = POLLIN},
                            {.fd = keeper->parent, .events = POLLIN}};
    for (;;) {
        char request[16] = "";
        report_with_descriptors(keeper);
        close_descriptors(keeper);
        release(keeper);
        while (poll(wait, sizeof wait / sizeof wait[0], -1) < 0)
            ;
        bool asked =
            !wait[1].revents && recv(wait[0].fd, request, sizeof request - 1, MSG_CMSG_CLOEXEC) > 0;
        end(keeper);
        if (!asked)
            _exit(0);
        if (strcmp(request, "reset") != 0)
            fail(keeper, "the control descriptor asks for something that is not known");
        start(keeper);
    }
}

noreturn void keep(const struct options *options) {
    struct keeper keeper = {.options = options};
    for (int kind = 0; kind < KINDS; kind++)
        want(&keeper, kind);
    keeper.parent = (int)syscall(SYS_pidfd_open, getppid(), 0);
    if (keeper.parent < 0)
        fail(&keeper, "the process that started this one cannot be watched (needs Linux 5.3)");
    keeper.directory = getcwd(NULL, 0);
    if (!keeper.directory)
        fail(&keeper, "the current directory has no path");
    if (options->command && !(keeper.kept = kept_find(-1)))
        fail(&keeper, "/proc/self/fd cannot be read");
    keeper.signals = signals_open();
    start(&keeper);
    if (options->control >= 0)
        keep_open(&keeper);
    report(&keeper);
    close_descriptors(&keeper);
    release(&keeper);
    keep_command(&keeper);
}
