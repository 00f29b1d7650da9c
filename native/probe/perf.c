// SPDX-License-Identifier: Apache-2.0
// perf events: a hardware watchpoint that traps, instruction counts, a kprobe.
#include "probe.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { TRAP_BY_PERF = 6 }; // si_code TRAP_PERF, Linux 5.13; not in every libc

static volatile sig_atomic_t traps;
static volatile uint64_t watched;

static int open_event(struct perf_event_attr *attr, pid_t pid, int cpu) {
    attr->size = sizeof *attr;
    return (int)syscall(SYS_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static void on_trap(int signal, siginfo_t *info, void *context) {
    (void)signal;
    (void)context;
    if (info->si_code == TRAP_BY_PERF)
        traps++;
}

struct answer probe_watchpoint(void) {
    struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};
    struct perf_event_attr attr = {
        .type = PERF_TYPE_BREAKPOINT,
        .sample_period = 1,
        .bp_type = HW_BREAKPOINT_W,
        .bp_addr = (uint64_t)(uintptr_t)&watched,
        .bp_len = HW_BREAKPOINT_LEN_8,
        .exclude_kernel = 1,
        .exclude_hv = 1,
        .remove_on_exec = 1,
        .sigtrap = 1,
    };
    sigaction(SIGTRAP, &action, NULL);
    int fd = open_event(&attr, 0, -1);
    if (fd < 0)
        return no("perf_event_open of a watchpoint with sigtrap");
    watched = 1;
    sig_atomic_t seen = traps;
    close(fd);
    watched = 2;
    if (seen != 1)
        return wrong("the watchpoint was set, and a write trapped %d times", (int)seen);
    if (traps != 1)
        return wrong("the watchpoint traps after it was closed");
    return yes("a write to the watched word trapped");
}

struct answer probe_counters(void) {
    struct perf_event_attr attr = {
        .type = PERF_TYPE_HARDWARE,
        .config = PERF_COUNT_HW_INSTRUCTIONS,
        .exclude_kernel = 1,
        .exclude_hv = 1,
    };
    uint64_t count = 0;
    int fd = open_event(&attr, 0, -1);
    if (fd < 0)
        return no("perf_event_open of the instruction counter");
    for (volatile int i = 0; i < 10000; i++)
        ;
    if (read(fd, &count, sizeof count) != sizeof count)
        return no("reading the instruction counter");
    if (count < 10000)
        return wrong("the instruction counter stands still");
    return yes("instructions are counted");
}

struct answer probe_kprobe(void) {
    char type[16];
    if (read_file("/sys/bus/event_source/devices/kprobe/type", type, sizeof type) < 0)
        return no("/sys/bus/event_source/devices/kprobe (CONFIG_KPROBES)");
    struct perf_event_attr attr = {
        .type = (uint32_t)strtoul(type, NULL, 10),
        .config1 = (uint64_t)(uintptr_t)"do_exit",
        .disabled = 1,
    };
    int fd = open_event(&attr, -1, 0);
    if (fd < 0)
        return no("perf_event_open of a kprobe on do_exit");
    close(fd);
    return yes("a kprobe was set and removed");
}
