// SPDX-License-Identifier: Apache-2.0
// The program's heap, for functions that give or take blocks of it on behalf of their caller.
#ifndef EITHERWAY_HEAP_H
#define EITHERWAY_HEAP_H

#include "runtime.h"

void *ew_allocate(size_t size, const void *pc);
void *ew_allocate_aligned(size_t alignment, size_t size, const void *pc);
void ew_free(void *block, const void *pc);

void ew_heap_key_prepare(void);

#endif
