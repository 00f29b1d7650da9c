// SPDX-License-Identifier: Apache-2.0
// Vector clocks: for each slot, the last segment of its threads that is known.
#ifndef EITHERWAY_VECTORS_H
#define EITHERWAY_VECTORS_H

#include <stddef.h>
#include <stdint.h>

struct ew_vector {
    uint32_t length, room;
    uint32_t at[];
};

// NULL is the clock that knows nothing. Each of these may give `*to` other memory.
void ew_vector_join(struct ew_vector **to, const struct ew_vector *from);
void ew_vector_copy(struct ew_vector **to, const struct ew_vector *from);
void ew_vector_reach(struct ew_vector **vector, uint32_t length); // makes it at least so long
void ew_vector_give_back(struct ew_vector *vector);

static inline void ew_vector_drop(struct ew_vector **vector) {
    if (*vector)
        ew_vector_give_back(*vector);
    *vector = NULL;
}

#endif
