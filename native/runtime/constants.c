// SPDX-License-Identifier: Apache-2.0
#include "constants.h"

#include <link.h>

uintptr_t ew_constants;
size_t ew_constants_size;

// Of the first that is listed, which is the program itself: from its first segment to the last one
// before those that can be written.
static int look_at_program(struct dl_phdr_info *info, size_t size, void *argument) {
    uintptr_t from = UINTPTR_MAX, to = 0;
    (void)size, (void)argument;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + segment->p_vaddr;
        if (segment->p_type != PT_LOAD)
            continue;
        if (segment->p_flags & PF_W)
            break;
        from = start < from ? start : from;
        to = start + segment->p_memsz;
    }
    ew_constants = from;
    ew_constants_size = to > from ? to - from : 0;
    return 1; // no more of them
}

void ew_constants_start(void) {
    dl_iterate_phdr(look_at_program, NULL);
}

void ew_constants_writable(const void *address, size_t size) {
    uintptr_t from = (uintptr_t)address;
    if (from < ew_constants + ew_constants_size && from + size > ew_constants)
        ew_constants_size = 0;
}
