/* SPDX-License-Identifier: Apache-2.0 */
/* What the programs in this folder share. */
#ifndef EITHERWAY_TEST_SAMPLE_H
#define EITHERWAY_TEST_SAMPLE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                        \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

#endif
