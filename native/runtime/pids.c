// SPDX-License-Identifier: Apache-2.0
// The numbers of processes come from outside: they are recorded, and told again in a replay.
#include "pids.h"
#include "input.h"

#include <unistd.h>

static struct pair {
    pid_t told, real;
} *pairs;
static uint32_t count, room;

static void remember(pid_t told, pid_t real) {
    if (count == room) {
        uint32_t more_room = room ? room * 2 : 512;
        struct pair *more = ew_pages(more_room * sizeof *more);
        for (uint32_t i = 0; i < count; i++)
            more[i] = pairs[i];
        if (pairs)
            raw3(SYS_munmap, (long)pairs, (long)(room * sizeof *pairs), 0);
        pairs = more;
        room = more_room;
    }
    pairs[count++] = (struct pair){told, real};
}

static pid_t own, parent; // as told; 0: as they are

void ew_pids_begin(void) {
    pid_t now[2] = {(pid_t)raw1(SYS_getpid, 0), (pid_t)raw1(SYS_getppid, 0)}, told[2];
    told[0] = now[0];
    told[1] = now[1];
    ew_input(EW_INPUT_START, told, sizeof told, sizeof told);
    for (int i = 0; i < 2; i++)
        if (told[i] != now[i])
            remember(told[i], now[i]);
    own = told[0];
    parent = told[1];
}

void ew_pids_forked(void) {
    own = parent = 0;
    count = 0;
}

EW_EXPORT pid_t getpid(void) {
    return own ? own : (pid_t)raw1(SYS_getpid, 0);
}

EW_EXPORT pid_t getppid(void) {
    return parent ? parent : (pid_t)raw1(SYS_getppid, 0);
}

pid_t ew_pid_made(pid_t child) {
    long told = child;
    ew_input(EW_INPUT_RESULT, &told, sizeof told, sizeof told);
    if (child > 0 && told != child)
        remember((pid_t)told, child);
    return (pid_t)told;
}

pid_t ew_pid_real(pid_t told) {
    for (uint32_t i = count; i-- > 0;)
        if (pairs[i].told == told || pairs[i].told == -told)
            return told < 0 ? -pairs[i].real : pairs[i].real;
    return told;
}
