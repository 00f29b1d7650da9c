// SPDX-License-Identifier: Apache-2.0
// The table of calls, by number.
#include <stddef.h>

#include "tracer.h"

#define CALL_TABLE_ROWS
#include "call_table.h"

enum { SHAPES = sizeof call_shapes / sizeof *call_shapes };
static_assert((int)SHAPES <= (int)CALL_NUMBERS, "a call has a higher number");

const struct call_shape *call_shape_of(uint64_t number) {
    return number < SHAPES && call_shapes[number].name ? &call_shapes[number] : NULL;
}
