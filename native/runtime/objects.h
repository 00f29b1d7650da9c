// SPDX-License-Identifier: Apache-2.0
// What threads synchronise with, by address: locks, semaphores, atomic variables.
#ifndef EITHERWAY_OBJECTS_H
#define EITHERWAY_OBJECTS_H

#include "vectors.h"

#include <stdbool.h>
#include <stddef.h>

// A line of the caches for each: they are met at random.
struct __attribute__((aligned(64))) ew_sync_object {
    uintptr_t address;
    struct ew_vector *released; // lock: by the last writer; atomic: by the release sequence
    struct ew_vector *shared;   // lock: by the readers since
    struct ew_vector *woken;    // by all wakes
    struct ew_vector *own;      // of `released`, if `mixed`: by the last thread that stored
    uint32_t by;                // the segment that `released` is of; 0: of several, or none
    uint32_t stored_by;         // its number + 1; 0: nobody has
    bool mixed;                 // others have released since
    bool used;                  // since its memory came to be
};

struct ew_sync_object *ew_object_at(const void *address);
struct ew_sync_object *ew_object_if_any(const void *address);
void ew_object_expect(const void *address); // it is going to be asked for: into the caches with it

// Their memory is given back: what comes there later is another object. Whether there were any.
bool ew_objects_end(uintptr_t address, size_t size);

void ew_objects_forget(void); // what all of them know

#endif
