// SPDX-License-Identifier: Apache-2.0
#include "sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#define PID_MAX "/proc/sys/kernel/pid_max"

// Once numbers have gone round, the kernel gives out none below this.
enum { RESERVED_PIDS = 300 };

// What is in force already may be tighter, and stays.
static int limit_between(int resource, uint64_t soft, uint64_t hard) {
    struct rlimit now;
    if (getrlimit(resource, &now) < 0)
        return -1;
    if (hard < now.rlim_max)
        now.rlim_max = hard;
    if (soft < now.rlim_cur)
        now.rlim_cur = soft;
    return setrlimit(resource, &now);
}

static int limit(int resource, uint64_t value) {
    return limit_between(resource, value, value);
}

int limits_set(const struct limits *limits, bool pids_by_rlimit) {
    // 1, for 0 still starts a helper outside where core_pattern names one.
    if (limit(RLIMIT_CORE, 1) < 0)
        return -1;
    if (limits->memory && limit(RLIMIT_DATA, limits->memory) < 0)
        return -1;
    if (limits->address_space && limit(RLIMIT_AS, limits->address_space) < 0)
        return -1;
    uint64_t seconds = limits->cpu_seconds; // first SIGXCPU, then SIGKILL
    if (seconds && limit_between(RLIMIT_CPU, seconds, seconds + 1) < 0)
        return -1;
    if (limits->file_size && limit(RLIMIT_FSIZE, limits->file_size) < 0)
        return -1;
    if (limits->processes && pids_by_rlimit && limit(RLIMIT_NPROC, limits->processes) < 0)
        return -1;
    return 0;
}

long read_pid_max(void) {
    char text[32] = "";
    int fd = open(PID_MAX, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    ssize_t length = read(fd, text, sizeof text - 1);
    close(fd);
    return length > 0 ? strtol(text, NULL, 10) : -1;
}

static int write_pid_max(long value) {
    char text[32];
    snprintf(text, sizeof text, "%ld", value);
    return write_text(PID_MAX, text);
}

static long outside_now(const struct box *box) {
    struct message message = {.type = MESSAGE_PIDS};
    if (channel_send(box->channel, &message, NULL) < 0 ||
        channel_receive(box->channel, &message, NULL) < 0)
        _exit(1);
    return message.value;
}

// Since Linux 6.14 each pid namespace has its own; before, a write would reach the whole machine.
static bool own_pid_max(const struct box *box) {
    long inside = read_pid_max();
    if (inside < 0 || box->pid_max < 0)
        return false;
    if (inside != box->pid_max)
        return true;
    if (write_pid_max(inside - 1) < 0)
        return false;
    if (outside_now(box) == inside)
        return true;
    write_pid_max(inside);
    return false;
}

void limits_pids(const struct box *box, bool *by_rlimit) {
    *by_rlimit = false;
    long processes = (long)box->options->limits.processes;
    if (processes == 0)
        return;
    bool own = (box->namespaces & CLONE_NEWPID) && own_pid_max(box);
    if (own && write_pid_max(RESERVED_PIDS + processes) == 0)
        return;
    if (geteuid() == 0) { // RLIMIT_NPROC does not hold for root
        errno = 0;
        broken(box, "the number of root's processes can be limited from Linux 6.14 on, in a pid "
                    "namespace");
    }
    *by_rlimit = true;
}
