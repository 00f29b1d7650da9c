// SPDX-License-Identifier: Apache-2.0
// What gcc has compiled, on its way to the assembler.
#ifndef EITHERWAY_ASSEMBLER_H
#define EITHERWAY_ASSEMBLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// --- loops.c
#define NO_BLOCK UINT32_MAX

// Lines that run one after the other, and who may run next.
struct block {
    uint32_t next[2]; // NO_BLOCK: nobody, or nobody knows
    uint32_t hooks;   // that it calls
    bool calls;       // others
    bool hot;         // answer: it is in a small loop that calls hooks only
};
bool find_loops(struct block *blocks, uint32_t count); // false: there is no memory for it

// --- text.c
struct text {
    char *start;
    size_t size, room;
};
bool add_text(struct text *text, const char *start, size_t size); // false: there is no memory
// The same with hooks in place of calls; empty when there is none to replace.
struct text with_hooks(struct text compiled);
// clang as its own assembler reads each piece of inline assembly by itself; in a text, the syntax
// that one of them sets would stay. The same with the usual one after each; empty when all is well.
struct text with_syntax_set_back(struct text compiled);

#endif
