// SPDX-License-Identifier: Apache-2.0
// The door: enters a sandbox that is there already and runs one command in it.
//
// It stays outside itself, so that it is an ordinary child of who started it: to be waited for, to
// be signalled; killed, it takes the command with it. guests.c is the other side.
#include "sandbox.h"

#include <errno.h>
#include <linux/nsfs.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// Enters each namespace; their kinds together, as CLONE_NEW* flags.
static int enter_namespaces(const char *numbers) {
    int entered = 0;
    char *rest = NULL;
    for (const char *at = numbers; *at; at = *rest ? rest + 1 : rest) {
        int fd = (int)strtol(at, &rest, 10);
        int type = ioctl(fd, NS_GET_NSTYPE);
        if (type < 0 || setns(fd, type) < 0)
            die(EXIT_UNAVAILABLE, "the sandbox cannot be entered: %s", strerror(errno));
        close(fd);
        entered |= type;
    }
    return entered;
}

static void tell_started(const struct options *options, pid_t command) {
    if (options->started >= 0)
        dprintf(options->started, "%d\n", (int)command);
    close(options->started);
}

static noreturn void fail(void) {
    die(EXIT_UNAVAILABLE, "the sandbox has ended (%s)", strerror(errno));
}

// Tells init who comes with which door, and the door that all is in place.
static noreturn void be_guest(const struct options *options, const struct start *start, int door) {
    struct message message = {.type = MESSAGE_ENTER, .value = getpid()};
    struct descriptors fds = {.count = 1, .list = {door}};
    if (channel_send(options->registry, &message, &fds) < 0 ||
        channel_send(door, &message, NULL) < 0)
        fail();
    while (getppid() != 1)
        sched_yield(); // until the process between has ended
    command_become(start);
}

static void start_guest(const struct options *options, const struct start *start, int door) {
    int status;
    pid_t between = fork();
    if (between == 0) {
        pid_t command = fork();
        if (command == 0)
            be_guest(options, start, door);
        _exit(command < 0);
    }
    if (between < 0 || waitpid(between, &status, 0) != between || status != 0)
        fail();
    close(door);
    close(options->registry);
}

// Messages of signals that were sent to the door.
static void hand_on(int signals, int guest) {
    struct message message = {.type = MESSAGE_SIGNAL};
    while ((message.value = signal_next(signals)))
        channel_send(guest, &message, NULL);
}

static int await_guest(const struct options *options, int guest, int signals) {
    struct message message;
    struct pollfd wait[] = {{.fd = guest, .events = POLLIN}, {.fd = signals, .events = POLLIN}};
    pid_t command = channel_receive_sender(guest, &message);
    if (command < 0)
        fail();
    tell_started(options, command);
    for (;;) {
        poll(wait, 2, -1);
        hand_on(signals, guest);
        if (!wait[0].revents)
            continue;
        return channel_receive(guest, &message, NULL) < 0 ? SIGKILL : message.value;
    }
}

static int run_guest(const struct options *options, const struct start *start, int signals) {
    int pair[2], on = 1;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0 ||
        setsockopt(pair[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof on) < 0)
        fail();
    start_guest(options, start, pair[1]);
    return await_guest(options, pair[0], signals);
}

// Where there is no pid namespace: what the command leaves behind becomes ours, to be killed; and
// nobody else would end the command when who started us is gone.
static int run_child(const struct options *options, const struct start *start, int signals) {
    int parent = (int)syscall(SYS_pidfd_open, getppid(), 0);
    if (parent < 0)
        fail();
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    pid_t command = command_start(start);
    if (command < 0)
        fail();
    tell_started(options, command);
    int status = command_await(command, signals, parent);
    kill_descendants();
    return status;
}

noreturn void enter_box(const struct options *options) {
    char *directory = getcwd(NULL, 0);
    struct kept *kept = kept_find(options->as_is);
    int signals = signals_open();
    if (!directory || !kept || signals < 0)
        die(EXIT_UNAVAILABLE, "the surroundings cannot be read: %s", strerror(errno));
    int entered = enter_namespaces(options->enter);
    prctl(PR_SET_DUMPABLE, 0); // until the command runs, nobody inside may look into it
    struct start start = {.command = options->command,
                          .directory = directory,
                          .limits = &options->limits,
                          .kept = entered & CLONE_NEWNS ? kept : NULL,
                          .pids_by_rlimit = geteuid() != 0};
    bool apart = entered & CLONE_NEWPID;
    end_like((apart ? run_guest : run_child)(options, &start, signals));
}
