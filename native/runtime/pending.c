// SPDX-License-Identifier: Apache-2.0
// Signals that were sent and not taken yet: of each thread, and of the process.
#include "signals.h"
#include "timers.h"

uint64_t ew_process_pending;
struct ew_pending *ew_process_list;
static struct ew_pending *spare;

static struct ew_pending *pending_create(const siginfo_t *info) {
    if (!spare) {
        struct ew_pending *some = ew_pages(64 * sizeof *some);
        for (int i = 0; i < 64; i++) {
            some[i].next = spare;
            spare = &some[i];
        }
    }
    struct ew_pending *pending = spare;
    spare = pending->next;
    *pending = (struct ew_pending){*info, NULL};
    return pending;
}

static void pending_destroy(struct ew_pending *pending) {
    pending->next = spare;
    spare = pending;
}

// One of each ordinary signal is kept, and all of the real-time ones.
void ew_pending_put(struct ew_pending **list, uint64_t *set, const siginfo_t *info) {
    if (*set & BIT(info->si_signo) && info->si_signo < SIGRTMIN)
        return;
    *set |= BIT(info->si_signo);
    while (*list)
        list = &(*list)->next;
    *list = pending_create(info);
}

static void update_set(const struct ew_pending *list, uint64_t *set) {
    *set = 0;
    for (; list; list = list->next)
        *set |= BIT(list->info.si_signo);
}

// The lowest number first, and of one number the oldest.
static bool take(struct ew_pending **list, uint64_t *set, uint64_t wanted, siginfo_t *info) {
    if (!(*set & wanted))
        return false;
    int number = __builtin_ctzll(*set & wanted) + 1;
    struct ew_pending **at = list;
    while ((*at)->info.si_signo != number)
        at = &(*at)->next;
    struct ew_pending *found = *at;
    *info = found->info;
    *at = found->next;
    pending_destroy(found);
    update_set(*list, set);
    if (info->si_code == SI_TIMER)
        ew_timer_signal_taken(info->si_timerid, info->si_overrun);
    return true;
}

bool ew_signal_take(uint64_t set, siginfo_t *info) {
    struct ew_life *life = &ew_self->life;
    return take(&life->pending, &life->pending_set, set, info) ||
           take(&ew_process_list, &ew_process_pending, set, info);
}

void ew_pending_discard(struct ew_pending **list, uint64_t *set, uint64_t numbers) {
    siginfo_t info;
    while (take(list, set, numbers, &info))
        ;
}

void ew_signal_discard(int number) {
    ew_pending_discard(&ew_process_list, &ew_process_pending, BIT(number));
    for (uint32_t i = 0; i < ew_thread_count(); i++) {
        struct ew_life *life = &ew_thread_at(i)->life;
        ew_pending_discard(&life->pending, &life->pending_set, BIT(number));
    }
}
