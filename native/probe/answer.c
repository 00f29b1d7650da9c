// SPDX-License-Identifier: Apache-2.0
// Answers, bound children and small files: the tools every probe uses.
#include "probe.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static bool entered_user_namespace;

static struct answer make(enum state state, int error, const char *format, va_list args) {
    struct answer a = {.state = state, .error = error};
    vsnprintf(a.text, sizeof a.text, format, args);
    return a;
}

#define ANSWER(name, state, error)                                                                 \
    struct answer name(const char *format, ...) {                                                  \
        int number = (error);                                                                      \
        va_list args;                                                                              \
        va_start(args, format);                                                                    \
        struct answer a = make(state, number, format, args);                                       \
        va_end(args);                                                                              \
        return a;                                                                                  \
    }

ANSWER(yes, STATE_YES, 0)
ANSWER(partly, STATE_PARTLY, 0)
ANSWER(no, STATE_NO, errno)
ANSWER(wrong, STATE_NO, 0)
ANSWER(unknown, STATE_UNKNOWN, 0)

pid_t fork_bound(void) {
    pid_t parent = getpid();
    pid_t child = fork();
    if (child != 0)
        return child;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    pid_t seen = getppid(); // 0 when the parent is outside our new pid namespace
    if (seen != parent && seen != 0)
        _exit(1); // it ended before the signal was asked for
    return 0;
}

struct answer died(int status) {
    if (WIFEXITED(status))
        return unknown("the probe ended with status %d", WEXITSTATUS(status));
    int signal = WTERMSIG(status);
    if (signal == SIGSYS)
        return (struct answer){
            .state = STATE_NO, .error = ERROR_SIGSYS, .text = "killed by a seccomp filter"};
    return unknown("the probe died of signal %d (%s)", signal, strsignal(signal));
}

struct answer ask_child(probe *inner) {
    struct answer *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return no("mmap");
    pid_t child = fork_bound();
    if (child == 0) {
        *shared = inner();
        _exit(0);
    }
    int status = 0;
    struct answer a;
    if (child < 0)
        a = no("fork");
    else if (waitpid(child, &status, 0) != child)
        a = no("waitpid");
    else
        a = status == 0 ? *shared : died(status);
    munmap(shared, sizeof *shared);
    return a;
}

void end_child(pid_t child) {
    int saved = errno; // callers report the error that made them give up
    kill(child, SIGKILL);
    while (waitpid(child, NULL, __WALL) < 0 && errno == EINTR)
        ;
    errno = saved;
}

int write_file(const char *path, const char *text) {
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    size_t length = strlen(text);
    bool whole = write(fd, text, length) == (ssize_t)length;
    int saved = errno;
    close(fd);
    errno = saved;
    return whole ? 0 : -1;
}

ssize_t read_file(const char *path, char *text, size_t size) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    ssize_t length = read(fd, text, size - 1);
    int saved = errno;
    close(fd);
    errno = saved;
    if (length >= 0)
        text[length] = '\0';
    return length;
}

bool in_user_namespace(void) {
    return entered_user_namespace;
}

const char *enter_user_namespace(void) {
    char map[64];
    uid_t uid = geteuid();
    gid_t gid = getegid();
    if (unshare(CLONE_NEWUSER) < 0)
        return "unshare(CLONE_NEWUSER)";
    entered_user_namespace = true;
    if (write_file("/proc/self/setgroups", "deny") < 0 && errno != ENOENT)
        return "writing /proc/self/setgroups";
    snprintf(map, sizeof map, "0 %u 1", (unsigned)uid);
    if (write_file("/proc/self/uid_map", map) < 0)
        return "writing /proc/self/uid_map";
    snprintf(map, sizeof map, "0 %u 1", (unsigned)gid);
    return write_file("/proc/self/gid_map", map) < 0 ? "writing /proc/self/gid_map" : NULL;
}
