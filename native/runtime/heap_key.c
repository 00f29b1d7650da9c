// SPDX-License-Identifier: Apache-2.0
// glibc (since 2.34) marks small blocks that are given back with a number that it has drawn when
// the program started. Who reads a block behind its free sees it, and does something else in every
// replay. So it is made the same in every run: the variable that it lies in has no name, and is
// found by what it holds.
#include "heap.h"
#include "libc.h"

#include <link.h>
#include <stdlib.h>

#define MINE 0x6177726568746965u // in place of it: "eitherwa"
enum { SMALL = 24, MARK = 1 };   // bytes of a block that is marked, and the word that is

EW_REAL(malloc);
EW_REAL(free);

extern void *__libc_malloc(size_t);

// 0: such blocks are not marked.
static uintptr_t mark_of_freed(void) {
    volatile uintptr_t *block = REAL(malloc)(SMALL);
    if (!block)
        return 0;
    block[MARK] = 0;
    REAL(free)((void *)block);
    return block[MARK];
}

struct looking {
    uintptr_t mark, *found;
    size_t count;
};

static void look_in(uintptr_t *from, const uintptr_t *to, struct looking *looking) {
    for (; from < to; from++)
        if (*from == looking->mark) {
            looking->found = from;
            looking->count++;
        }
}

static bool holds(const struct dl_phdr_info *object, uintptr_t address) {
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        if (part->p_type == PT_LOAD && address - object->dlpi_addr - part->p_vaddr < part->p_memsz)
            return true;
    }
    return false;
}

static int look_in_libc(struct dl_phdr_info *object, size_t size, void *argument) {
    (void)size;
    if (!holds(object, (uintptr_t)__libc_malloc))
        return 0;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        uintptr_t from = object->dlpi_addr + part->p_vaddr;
        if (part->p_type == PT_LOAD && part->p_flags & PF_W)
            look_in((uintptr_t *)(from & -sizeof from),
                    (uintptr_t *)((from + part->p_memsz) & -sizeof from), argument);
    }
    return 1;
}

void ew_heap_key_prepare(void) {
    if (!ew_in_libc(real_malloc.function))
        return; // the program is linked with another allocator
    struct looking looking = {.mark = mark_of_freed()};
    if (looking.mark)
        dl_iterate_phdr(look_in_libc, &looking);
    if (looking.count != 1)
        return;
    *looking.found = MINE;
    if (mark_of_freed() != MINE) // it was something else that happens to be the same
        *looking.found = looking.mark;
}
