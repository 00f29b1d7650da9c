// SPDX-License-Identifier: Apache-2.0
#ifndef EITHERWAY_STACKS_H
#define EITHERWAY_STACKS_H

#include "runtime.h"

// Fills the thread's fields for its stack and its shadow; 0 or EAGAIN.
int ew_stack_create(struct ew_thread *thread, const pthread_attr_t *attributes);
void ew_stack_destroy(struct ew_thread *thread);
void ew_stack_of_first(struct ew_thread *first);
void ew_stacks_prepare(uint32_t count); // makes so many of the usual size, ahead of time
size_t ew_frames_bytes(size_t stack_size);

#endif
