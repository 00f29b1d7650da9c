// SPDX-License-Identifier: Apache-2.0
#include "channels.h"
#include "descriptors.h"
#include "own_addresses.h"
#include "signals.h"
#include "tsan_annotations.h"

// Never touched: their addresses stand for channels, and their names are for people to read. Of
// those with a number, even ones are known by their descriptor, odd ones were made.
#define CHANNELS (1u << 20)
#define FIFOS (1u << 10)
EW_LARGE static char channels[CHANNELS], fifos[FIFOS], signals[SIGNALS + 1], message_queues,
    semaphore_sets, file_locks, cancellations, sockets;

static const void *channel_at(int descriptor, const struct stat *known) {
    struct stat status;
    uint32_t number = ew_number_of(descriptor);
    if (number)
        return &channels[2 * number % CHANNELS];
    if (!known)
        ew_look_where(descriptor, &status);
    known = known ? known : &status;
    number = ew_channel_made(known);
    if (number)
        return &channels[(2 * number + 1) % CHANNELS];
    if (S_ISFIFO(known->st_mode))
        return &fifos[(known->st_dev ^ known->st_ino) % FIFOS];
    return ew_calls_itself && S_ISSOCK(known->st_mode) ? &sockets : NULL;
}

void ew_channel_put_on(int descriptor, const struct stat *known, const void *pc) {
    const void *channel = UNLIKELY(ew_watched) ? channel_at(descriptor, known) : NULL;
    if (channel)
        ew_annotate_release(channel, pc ? pc : PC);
}

void ew_channel_took_on(int descriptor, const struct stat *known, const void *pc) {
    const void *channel = UNLIKELY(ew_watched) ? channel_at(descriptor, known) : NULL;
    if (channel)
        ew_annotate_acquire(channel, pc ? pc : PC);
}

void ew_channel_wanted(int descriptor, const struct stat *known, const void *pc) {
    const void *channel = UNLIKELY(ew_watched) && pc ? channel_at(descriptor, known) : NULL;
    if (channel)
        ew_wants(EW_OP_WAIT, EW_FLAG_TRY, channel, 1, pc);
}

void ew_signal_sent(int number, const void *pc) {
    if ((unsigned)number <= SIGNALS)
        ew_annotate_release(&signals[number], pc);
}

void ew_signal_taken(int number, const void *pc) {
    ew_annotate_acquire(&signals[number], pc);
}

static const void *common_at(enum ew_common what) {
    static const void *const all[] = {&message_queues, &semaphore_sets, &file_locks,
                                      &cancellations};
    return all[what];
}

void ew_common_put(enum ew_common what, const void *pc) {
    ew_annotate_release(common_at(what), pc);
}

void ew_common_took(enum ew_common what, const void *pc) {
    ew_annotate_acquire(common_at(what), pc);
}
