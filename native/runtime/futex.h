// SPDX-License-Identifier: Apache-2.0
// One call of SYS_futex, its arguments as the kernel would get them.
#ifndef EITHERWAY_FUTEX_H
#define EITHERWAY_FUTEX_H

#include "runtime.h"

struct ew_futex_call {
    uint32_t *word;
    int operation;
    uint32_t value;
    const struct timespec *timeout;
    uint32_t *word2;
    uint32_t value3;
    const void *pc;
};

long ew_futex(const struct ew_futex_call *call); // a value, or -errno

#endif
