// SPDX-License-Identifier: Apache-2.0
// What is put somewhere by one thread and taken by another without a lock between them: whoever
// takes it knows all that was done before it was put there.
//
// A pipe, a socket pair, an eventfd and an epoll instance are each a channel of its own, and so is
// a FIFO, whoever else has opened it; all message queues are one, and so are all semaphores of
// System V, all locks of files and all cancellations. Signals have one for each number, and who
// sets a timer sends its signal. Other sockets lead outside, and what goes through them orders
// nothing, unless the program has called itself: then all of them are one. Nor does what goes
// through files.
#ifndef EITHERWAY_CHANNELS_H
#define EITHERWAY_CHANNELS_H

#include "runtime.h"

#include <sys/stat.h>

// Something is put there before anybody else goes on, or it is about to be closed; `pc` NULL: not
// by the program itself. `known`: what the descriptor leads to, unless NULL.
void ew_channel_put_on(int descriptor, const struct stat *known, const void *pc);
// Something was taken, or it was seen to be there.
void ew_channel_took_on(int descriptor, const struct stat *known, const void *pc);
// It is about to be waited for; ew_wants says when that is over.
void ew_channel_wanted(int descriptor, const struct stat *known, const void *pc);

static inline void ew_channel_put(int descriptor, const void *pc) {
    ew_channel_put_on(descriptor, NULL, pc);
}

static inline void ew_channel_took(int descriptor, const void *pc) {
    ew_channel_took_on(descriptor, NULL, pc);
}

void ew_signal_sent(int number, const void *pc);
void ew_signal_taken(int number, const void *pc);

enum ew_common { EW_MESSAGE_QUEUES, EW_SEMAPHORE_SETS, EW_FILE_LOCKS, EW_CANCELLATIONS };
void ew_common_put(enum ew_common what, const void *pc);
void ew_common_took(enum ew_common what, const void *pc);

#endif
