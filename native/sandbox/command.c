// SPDX-License-Identifier: Apache-2.0
// Starts a command, waits for it, and ends like it.
#include "sandbox.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const int handed_on[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGWINCH};
static sigset_t mask_at_start;
static void (*child_at_start)(int); // what SIGCHLD did

int signals_open(void) {
    sigset_t set;
    // Ignored, as some start programs, there would be nothing to wait for.
    child_at_start = signal(SIGCHLD, SIG_DFL);
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    for (size_t i = 0; i < sizeof handed_on / sizeof handed_on[0]; i++)
        sigaddset(&set, handed_on[i]);
    if (sigprocmask(SIG_BLOCK, &set, &mask_at_start) < 0)
        return -1;
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

noreturn void command_become(const struct start *start) {
    const char *failed = start->kept ? kept_reopen(start->kept) : NULL;
    if (failed)
        die(EXIT_UNAVAILABLE, "%s", failed);
    if (start->directory && chdir(start->directory) < 0)
        die(EXIT_UNAVAILABLE, "the current directory %s cannot be entered inside: %s",
            start->directory, strerror(errno));
    if (limits_set(start->limits, start->pids_by_rlimit) < 0)
        die(EXIT_UNAVAILABLE, "a limit is above what this process may have: %s", strerror(errno));
    signal(SIGCHLD, child_at_start);
    sigprocmask(SIG_SETMASK, &mask_at_start, NULL);
    execvp(start->command[0], start->command);
    int status = errno == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN;
    die(status, "cannot run %s: %s", start->command[0], strerror(errno));
}

// Asks for the signal, and sees whether whoever sends it is still there: its end of the pipe is.
static void bind_to_parent(int alive) {
    struct pollfd parent = {.fd = alive};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (poll(&parent, 1, 0) > 0 && (parent.revents & POLLHUP))
        _exit(1);
}

pid_t command_start(const struct start *start) {
    int alive[2];
    if (pipe2(alive, O_CLOEXEC) < 0)
        return -1;
    pid_t child = fork();
    if (child == 0) {
        close(alive[1]);
        bind_to_parent(alive[0]);
        command_become(start);
    }
    int saved = errno;
    close(alive[0]); // the other end stays open as long as this process lives
    errno = saved;
    return child;
}

int signal_next(int signals) {
    struct signalfd_siginfo info;
    while (read(signals, &info, sizeof info) == (ssize_t)sizeof info)
        if (info.ssi_signo != SIGCHLD && info.ssi_code <= 0)
            return (int)info.ssi_signo;
    return 0;
}

void signal_forward(int signals, pid_t to) {
    int number;
    while ((number = signal_next(signals)))
        if (to > 0)
            kill(to, number);
}

int command_await(pid_t command, int signals, int parent) {
    for (;;) {
        int status;
        pid_t ended;
        while ((ended = waitpid(-1, &status, WNOHANG)) > 0)
            if (ended == command)
                return status;
        struct pollfd wait[] = {{.fd = signals, .events = POLLIN},
                                {.fd = parent, .events = POLLIN}};
        poll(wait, 2, -1);
        if (wait[1].revents)
            return SIGKILL;
        signal_forward(signals, command);
    }
}

static bool is_child(const char *pid, pid_t parent) {
    char path[300], line[512];
    snprintf(path, sizeof path, "/proc/%s/stat", pid);
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    size_t length = fread(line, 1, sizeof line - 1, file);
    fclose(file);
    line[length] = '\0';
    char *name_end = strrchr(line, ')'); // the name may hold anything, brackets too
    int of;
    return name_end && sscanf(name_end + 1, " %*c %d", &of) == 1 && of == parent;
}

static void kill_children(void) {
    DIR *proc = opendir("/proc");
    if (!proc)
        return;
    struct dirent *entry;
    while ((entry = readdir(proc)))
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' && is_child(entry->d_name, getpid()))
            kill(atoi(entry->d_name), SIGKILL);
    closedir(proc);
}

void kill_descendants(void) {
    // Children of those killed become ours, so that each round goes one generation down.
    do
        kill_children();
    while (waitpid(-1, NULL, 0) > 0);
}

noreturn void end_like(int status) {
    if (WIFEXITED(status))
        _exit(WEXITSTATUS(status));
    int number = WTERMSIG(status);
    prctl(PR_SET_DUMPABLE, 0); // the command has left its core already
    // Past libc, which does not let go of the two that it keeps: runs are ended with one of them.
    const unsigned long by_default[4] = {0}, all = ~0ul;
    syscall(SYS_rt_sigaction, number, by_default, NULL, sizeof all);
    kill(getpid(), number);
    syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &all, NULL, sizeof all);
    _exit(128 + number);
}
