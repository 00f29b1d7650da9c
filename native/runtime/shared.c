// SPDX-License-Identifier: Apache-2.0
// Memory that other processes have too: nothing tells us when they have changed what a thread waits
// for.
#include "at_work.h"
#include "family_memory.h"
#include "input.h"
#include "schedule.h"
#include "script.h"
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

// --- turns
//
// What comes off has a number in the order of all processes, by which a replay keeps that order.

#define OFTEN 1000 // looks until it is asked whether who is about to take a turn still lives

static void begin_turn(struct ew_family_head *head) {
    uint64_t self = (uint64_t)raw1(SYS_getpid, 0), other = 0;
    for (uint32_t i = 1; !__atomic_compare_exchange_n(&head->turning, &other, self, false,
                                                      __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
         i++) {
        raw1(SYS_sched_yield, 0);
        if (i % OFTEN || !other || !ew_has_ended((pid_t)other))
            other = 0;
    }
}

// The number, from 1 on; 0: it did not come off. All at once: nobody's turn comes in between.
static long take_turn(ew_elsewhere_attempt *attempt, void *argument) {
    struct ew_family_head *head = ew_noted.head;
    if (!head)
        return attempt(argument);
    begin_turn(head);
    long turn = attempt(argument) ? (long)++head->turns : 0;
    __atomic_store_n(&head->turning, 0, __ATOMIC_RELEASE);
    return turn;
}

#define NAP 20000      // nanoseconds between looks, at first
#define NAPS 1000      // looks
#define PATIENCE 20000 // looks after those, until a replay believes that the others will not come

static void take_turn_again(uint64_t turn, ew_elsewhere_attempt *attempt, void *argument) {
    uint64_t *turns = &ew_noted.head->turns;
    for (int i = 0; __atomic_load_n(turns, __ATOMIC_ACQUIRE) + 1 != turn || !attempt(argument);
         i++) {
        if (i == NAPS + PATIENCE)
            ew_schedule_diverged("the replay diverged: another process does not come so far");
        struct timespec nap = {0, i < NAPS ? NAP : AGAIN};
        raw3(SYS_nanosleep, (long)&nap, 0, 0);
    }
    __atomic_store_n(turns, turn, __ATOMIC_RELEASE);
}

bool ew_try_elsewhere(ew_elsewhere_attempt *attempt, void *argument) {
    bool again = ew_replaying && !ew_scripted;
    long turn = again ? 0 : take_turn(attempt, argument);
    ew_input_turn(&turn);
    if (again && turn)
        take_turn_again((uint64_t)turn, attempt, argument);
    return turn != 0;
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
