// SPDX-License-Identifier: Apache-2.0
// How much has been used: time as the virtual clock has it, the rest as the kernel says.
#include "circles.h"
#include "guide.h"
#include "input.h"
#include "libc.h"

#include <dlfcn.h>
#include <errno.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

#define TICK 10000000 // nanoseconds: sysconf(_SC_CLK_TCK) is 100

EW_EXPORT clock_t clock(void) {
    ew_guide_looked();
    ew_circles_disturb();
    ew_now();
    return (clock_t)(ew_cpu_time() / (1000000000 / CLOCKS_PER_SEC));
}

static void add_children(struct tms *used) {
    struct rusage children;
    if (getrusage(RUSAGE_CHILDREN, &children) < 0)
        return;
    used->tms_cutime = children.ru_utime.tv_sec * 100 + children.ru_utime.tv_usec / (TICK / 1000);
    used->tms_cstime = children.ru_stime.tv_sec * 100 + children.ru_stime.tv_usec / (TICK / 1000);
}

EW_EXPORT clock_t times(struct tms *used) {
    struct timespec now;
    ew_clock_look(CLOCK_MONOTONIC, &now);
    if (used) {
        *used = (struct tms){.tms_utime = ew_cpu_time() / TICK};
        add_children(used);
        ew_touch(EW_OP_STORE, used, sizeof *used, PC);
    }
    return now.tv_sec * 100 + now.tv_nsec / TICK;
}

EW_EXPORT int getrusage(__rusage_who_t who, struct rusage *used) {
    long error = ew_input_call(SYS_getrusage, who, (long)used, 0, 0, 0, 0);
    if (error < 0) {
        errno = (int)-error;
        return -1;
    }
    ew_input(EW_INPUT_DATA, used, sizeof *used, sizeof *used);
    if (ew_running && who != RUSAGE_CHILDREN) {
        ew_guide_looked();
        int64_t time = ew_cpu_time();
        used->ru_utime = (struct timeval){time / 1000000000, time % 1000000000 / 1000};
        used->ru_stime = (struct timeval){0, 0};
    }
    ew_touch(EW_OP_STORE, used, sizeof *used, PC);
    return 0;
}

EW_EXPORT int sysinfo(struct sysinfo *info) {
    long error = ew_input_call(SYS_sysinfo, (long)info, 0, 0, 0, 0, 0);
    if (error < 0)
        errno = (int)-error;
    else
        ew_input(EW_INPUT_DATA, info, sizeof *info, sizeof *info);
    return error < 0 ? -1 : 0;
}

static long pages(unsigned long amount, unsigned unit) {
    return (long)(amount * unit / 4096);
}

// Built on the one above: libc's own would ask the kernel, and leave its answer on the stack.
EW_EXPORT long get_phys_pages(void) {
    struct sysinfo info;
    return sysinfo(&info) < 0 ? -1 : pages(info.totalram, info.mem_unit);
}

EW_EXPORT long get_avphys_pages(void) {
    struct sysinfo info;
    return sysinfo(&info) < 0 ? -1 : pages(info.freeram, info.mem_unit);
}

EW_EXPORT long sysconf(int name) {
    static long (*real)(int);
    if (name == _SC_PHYS_PAGES)
        return get_phys_pages();
    if (name == _SC_AVPHYS_PAGES)
        return get_avphys_pages();
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "sysconf");
    return real(name);
}

// All threads run on one carrier, and which processor that is on must not matter.
EW_EXPORT int getcpu(unsigned *processor, unsigned *node) {
    if (processor)
        *processor = 0;
    if (node)
        *node = 0;
    return 0;
}
