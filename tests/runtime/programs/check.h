// SPDX-License-Identifier: Apache-2.0
// CHECK(expression): says what is wrong and ends the program with 1.
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <unistd.h>

#define CHECK(expression)                                                                          \
    do {                                                                                           \
        if (!(expression)) {                                                                       \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #expression);             \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)

#endif
