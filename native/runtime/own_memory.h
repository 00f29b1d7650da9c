// SPDX-License-Identifier: Apache-2.0
// Where our own variables lie among the program's: own_memory.ld names it.
#ifndef EITHERWAY_OWN_MEMORY_H
#define EITHERWAY_OWN_MEMORY_H

#include <stdint.h>

extern char ew_own_data[] __attribute__((visibility("hidden"))),
    ew_own_data_end[] __attribute__((visibility("hidden"))),
    ew_own_bss[] __attribute__((visibility("hidden"))),
    ew_own_large[] __attribute__((visibility("hidden"))), // arrays, of which a run uses little
    ew_own_bss_end[] __attribute__((visibility("hidden")));

// Calls the function with what a function call must keep on the stack from there on.
void ew_with_registers(void (*function)(const char *sp));

#endif
