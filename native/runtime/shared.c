// SPDX-License-Identifier: Apache-2.0
// Memory that other processes have too: nothing tells us when they have changed what a thread waits
// for.
#include "input.h"
#include "schedule.h"
#include "sync.h"

#include <fcntl.h>

#define AGAIN 1000000 // nanoseconds until it is looked at again, really waited if nobody can run

enum ew_woken ew_wait_elsewhere(int64_t deadline) {
    struct pollfd nothing = {-1, 0, 0};
    int64_t again = ew_now() + AGAIN;
    bool last = deadline <= again;
    ew_point(EW_WHY_YIELD);
    enum ew_woken woken = ew_wait_outside(&nothing, 1, last ? deadline : again);
    return last ? woken : EW_WOKEN;
}

#define PATIENCE 20000 // milliseconds until a replay believes that the other process will not come

static void until_so(ew_elsewhere_attempt *attempt, void *argument) {
    for (int i = 0; !attempt(argument); i++) {
        if (i == PATIENCE)
            ew_schedule_diverged("the replay diverged: another process does not come so far");
        raw3(SYS_nanosleep, (long)&(struct timespec){0, AGAIN}, 0, 0);
    }
}

bool ew_try_elsewhere(ew_elsewhere_attempt *attempt, void *argument) {
    long so = ew_replaying ? 0 : attempt(argument);
    ew_input(EW_INPUT_RESULT, &so, sizeof so, sizeof so);
    if (ew_replaying && so)
        until_so(attempt, argument);
    return so;
}

// --- whether it is such memory

struct maps {
    long descriptor, length, at;
    char text[4096];
};

static int next(struct maps *maps) {
    if (maps->at == maps->length) {
        maps->at = 0;
        maps->length = raw3(SYS_read, maps->descriptor, (long)maps->text, sizeof maps->text);
        if (maps->length <= 0)
            return -1;
    }
    return maps->text[maps->at++];
}

// A number in hexadecimal digits, and what ends it.
static uintptr_t number(struct maps *maps, int *end) {
    uintptr_t value = 0;
    for (;;) {
        int digit = next(maps);
        if (digit >= '0' && digit <= '9')
            value = value * 16 + (uintptr_t)(digit - '0');
        else if (digit >= 'a' && digit <= 'f')
            value = value * 16 + (uintptr_t)(digit - 'a' + 10);
        else {
            *end = digit;
            return value;
        }
    }
}

// "from-to rwxs offset ...": s is shared, p private.
static bool is_shared_in(struct maps *maps, uintptr_t address) {
    for (int end = 0; end >= 0;) {
        uintptr_t from = number(maps, &end), to = number(maps, &end);
        for (int i = 0; i < 3 && end >= 0; i++)
            end = next(maps);
        int sharing = next(maps);
        if (address >= from && address < to)
            return sharing == 's';
        for (end = sharing; end >= 0 && end != '\n';)
            end = next(maps);
    }
    return false;
}

bool ew_is_shared_memory(const void *address) {
    struct maps maps = {.descriptor =
                            raw3(SYS_open, (long)"/proc/self/maps", O_RDONLY | O_CLOEXEC, 0)};
    if (maps.descriptor < 0)
        return false;
    bool shared = is_shared_in(&maps, (uintptr_t)address);
    raw1(SYS_close, maps.descriptor);
    return shared;
}
