// SPDX-License-Identifier: Apache-2.0
// Whether descriptors are ready.
#ifndef EITHERWAY_POLLING_H
#define EITHERWAY_POLLING_H

#include "descriptors.h"

#include <signal.h>
#include <sys/epoll.h>

// poll(2) that does not wait, and is not broken off by a signal, which may be for another thread.
long ew_poll_now(struct pollfd *polled, nfds_t count);
// The same; a question to the outside when `outside`.
long ew_look_at(struct pollfd *polled, nfds_t count, bool outside);

int64_t ew_poll_length(int milliseconds); // in nanoseconds; EW_NEVER: for ever

// Around a call that waits, with another signal mask meanwhile unless NULL. The first is a
// cancellation and decision point, and returns the mask to go back to.
uint64_t ew_poll_begin(const sigset_t *mask);
void ew_poll_end(uint64_t mask);

// Whether what another run was told of a descriptor is so now too, unless it leads outside.
bool ew_poll_is_true(const struct pollfd *told);
bool ew_epoll_is_true(const struct epoll_event *told); // as it was noted

#endif
