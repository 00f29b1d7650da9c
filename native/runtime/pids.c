// SPDX-License-Identifier: Apache-2.0
// The numbers of processes come from outside: they are recorded, and told again in a replay.
#include "pids.h"
#include "family_memory.h"
#include "input.h"
#include "threads.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static struct pair {
    pid_t told, real;
} first_pairs[16], *pairs = first_pairs;
static uint32_t count, room = sizeof first_pairs / sizeof *first_pairs;

// A recording does so too, although both are the same there: what it maps, a replay maps.
static void remember(pid_t told, pid_t real) {
    if (count == room) {
        uint32_t more_room = room < 512 ? 512 : room * 2;
        struct pair *more = ew_pages(more_room * sizeof *more);
        for (uint32_t i = 0; i < count; i++)
            more[i] = pairs[i];
        if (pairs != first_pairs)
            raw3(SYS_munmap, (long)pairs, (long)(room * sizeof *pairs), 0);
        pairs = more;
        room = more_room;
    }
    pairs[count++] = (struct pair){told, real};
}

static pid_t own; // as told; 0: as it is

void ew_pids_begin(void) {
    pid_t now[2] = {(pid_t)raw1(SYS_getpid, 0), (pid_t)raw1(SYS_getppid, 0)}, told[2];
    told[0] = now[0];
    told[1] = now[1];
    ew_input(EW_INPUT_START, told, sizeof told, sizeof told);
    remember(told[0], now[0]);
    own = told[0];
    ew_family_numbers(told[0], now[0]);
}

void ew_pids_forked(void) {
    count = 0;
    ew_pids_begin();
}

void ew_pids_copied(void) {
    pid_t now = (pid_t)raw1(SYS_getpid, 0);
    for (uint32_t i = 0; i < count; i++)
        if (pairs[i].told == own)
            pairs[i].real = now;
    ew_family_numbers(own, now);
}

EW_EXPORT pid_t getpid(void) {
    return own ? own : (pid_t)raw1(SYS_getpid, 0);
}

// A parent that ends gives its children to another.
EW_EXPORT pid_t getppid(void) {
    return (pid_t)ew_input_call(SYS_getppid, 0, 0, 0, 0, 0, 0);
}

// --- groups and sessions have the numbers of processes

EW_EXPORT pid_t getpgid(pid_t process) {
    return (pid_t)ew_result(ew_input_call(SYS_getpgid, ew_pid_real(process), 0, 0, 0, 0, 0));
}

EW_EXPORT pid_t getpgrp(void) {
    return getpgid(0);
}

EW_EXPORT pid_t getsid(pid_t process) {
    return (pid_t)ew_result(ew_input_call(SYS_getsid, ew_pid_real(process), 0, 0, 0, 0, 0));
}

// Done in a replay too, but answered as it was then.
static long done(long result) {
    ew_input(EW_INPUT_RESULT, &result, sizeof result, sizeof result);
    return result;
}

EW_EXPORT pid_t setsid(void) {
    return (pid_t)ew_result(done(raw1(SYS_setsid, 0)));
}

EW_EXPORT int setpgid(pid_t process, pid_t group) {
    return (pid_t)ew_result(done(raw3(SYS_setpgid, ew_pid_real(process), ew_pid_real(group), 0)));
}

EW_EXPORT int setpgrp(void) {
    return setpgid(0, 0);
}

// --- children

pid_t ew_pid_made(pid_t child) {
    long told = child;
    ew_input(EW_INPUT_RESULT, &told, sizeof told, sizeof told);
    if (child > 0) {
        remember((pid_t)told, child);
        ew_child_made();
    }
    return (pid_t)told;
}

static pid_t real_of(pid_t told) {
    for (uint32_t i = count; i-- > 0;)
        if (pairs[i].told == told)
            return pairs[i].real;
    if (!ew_replaying)
        return told;
    pid_t member = ew_family_own(told);
    return member ? member : EW_NOBODY;
}

pid_t ew_pid_real(pid_t told) {
    if (told == 0 || told == -1) // the own group, and everybody
        return told;
    return told < 0 ? -real_of(-told) : real_of(told);
}

pid_t ew_pid_told(pid_t real) {
    for (uint32_t i = count; i-- > 0;)
        if (pairs[i].real == real)
            return pairs[i].told;
    return ew_replaying ? ew_family_told(real) : real;
}

void ew_pid_over(pid_t told) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++)
        if (pairs[i].told != told || pairs[i].told == own)
            pairs[kept++] = pairs[i];
    count = kept;
}

// The kernel's words on it have a line "Pid:\t123"; a process that is gone is -1.
pid_t ew_pid_behind(int descriptor) {
    static const char name[] = "\nPid:\t";
    char text[512], path[64];
    ew_write_number(path, "/proc/thread-self/fdinfo/", (uint64_t)descriptor);
    long fd = raw3(SYS_open, (long)path, O_RDONLY | O_CLOEXEC, 0);
    long length = fd < 0 ? 0 : raw3(SYS_read, fd, (long)text, sizeof text - 1);
    raw1(SYS_close, fd);
    text[length > 0 ? length : 0] = 0;
    const char *digit = strstr(text, name);
    pid_t number = 0;
    for (digit += digit ? sizeof name - 1 : 0; digit && *digit >= '0' && *digit <= '9'; digit++)
        number = number * 10 + (*digit - '0');
    return number ? number : EW_NOBODY;
}
