// SPDX-License-Identifier: Apache-2.0
// Threads that wait, by the object that they wait for.
#ifndef EITHERWAY_WAITERS_H
#define EITHERWAY_WAITERS_H

#include "runtime.h"

void ew_waiters_add(struct ew_thread *thread, const void *object);
void ew_waiters_remove(struct ew_thread *thread);
// The next one in the order of arrival; the first behind NULL.
struct ew_thread *ew_waiter_behind(const void *object, const struct ew_thread *thread);
void ew_waiters_forked(void);

#endif
