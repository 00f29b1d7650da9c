// SPDX-License-Identifier: Apache-2.0
// What the processes of a run know of each other: their numbers, their ends, who is at work.
#include "at_work.h"
#include "family_memory.h"

#include <unistd.h>

void ew_family_waiting(bool waits) {
    ew_own->member.waiting = waits;
}

// What processes of this program's say to each other comes when it comes.
bool ew_family_alone(void) {
    return ew_noted.head && ew_memory_used(&ew_noted) == 1 &&
           __atomic_load_n(&ew_noted.head->alone, __ATOMIC_RELAXED);
}

// One that became another program may be on its way to be one of us again; and who has said how it
// ends has yet to do it.
static bool is_busy(const struct ew_member *one) {
    char state = one->pid ? ew_state_of((pid_t)one->pid) : 0;
    if (!state || state == 'Z' || state == 'X')
        return false;
    return one->state == EW_BECAME ? state == 'R' || state == 'D' : !one->waiting;
}

bool ew_family_busy(void) {
    for (uint32_t i = 0; i < ew_memory_used(&ew_noted); i++)
        if (is_busy(&ew_noted.slots[i].member))
            return true;
    return false;
}

void ew_family_numbers(pid_t told_number, pid_t own_number) {
    ew_own->member.told = (uint32_t)told_number;
    ew_own->member.pid = (uint32_t)own_number;
}

// The newest: what a process was before it became another program has the same number.
static struct ew_slot *with_number(const struct ew_family *family, pid_t number, bool as_told) {
    for (uint32_t i = ew_memory_used(family); number > 0 && i-- > 0;) {
        const struct ew_member *one = &family->slots[i].member;
        if ((as_told ? one->told : one->pid) == (uint32_t)number)
            return &family->slots[i];
    }
    return NULL;
}

void ew_family_ended(pid_t number, int status) {
    struct ew_slot *slot = number ? with_number(&ew_noted, number, false) : ew_own;
    if (!slot || (slot->member.state != EW_BEGAN && slot->member.state != EW_HAS_ENDED))
        return; // it was another program that ended
    slot->member.status = (uint32_t)status;
    slot->member.state = EW_HAS_ENDED;
}

bool ew_family_follows(pid_t number) {
    const struct ew_slot *slot = with_number(&ew_given, number, true);
    return slot && slot->member.state != EW_BECAME;
}

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#define AGAIN 1 // milliseconds: nothing tells us when a process becomes another program

void ew_family_until_became(pid_t number) {
    const struct ew_slot *slot = with_number(&ew_noted, number, false);
    struct pollfd end = {(int)raw3(SYS_pidfd_open, number, 0, 0), POLLIN, 0};
    while (slot && slot->member.state == EW_BEGAN && raw3(SYS_poll, (long)&end, 1, AGAIN) == 0)
        ;
    raw1(SYS_close, end.fd);
}

pid_t ew_family_own(pid_t number) {
    const struct ew_slot *slot = with_number(&ew_noted, number, true);
    return slot ? (pid_t)slot->member.pid : 0;
}

pid_t ew_family_told(pid_t number) {
    const struct ew_slot *slot = with_number(&ew_noted, number, false);
    return slot ? (pid_t)slot->member.told : 0;
}
