// SPDX-License-Identifier: Apache-2.0
// gcc's OpenMP: libgomp makes its system calls itself, where nobody can take them over, and waits
// in them. The first that waited would stop all threads, so its second thread is refused.
#include "openmp.h"

#include <link.h>
#include <string.h>

static uintptr_t lo, hi;

static int is_libgomp(struct dl_phdr_info *info, size_t size, void *unused) {
    (void)size;
    (void)unused;
    if (!strstr(info->dlpi_name, "/libgomp.so"))
        return 0;
    lo = UINTPTR_MAX;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        uintptr_t begin = info->dlpi_addr + part->p_vaddr, end = begin + part->p_memsz;
        if (part->p_type != PT_LOAD)
            continue;
        lo = begin < lo ? begin : lo;
        hi = end > hi ? end : hi;
    }
    return 1;
}

void ew_openmp_look(void) {
    lo = hi = 0;
    dl_iterate_phdr(is_libgomp, NULL);
}

void ew_openmp_refuse(const void *caller) {
    if ((uintptr_t)caller >= lo && (uintptr_t)caller < hi)
        ew_cannot("gcc's OpenMP library (libgomp) waits in system calls of its own, which would "
                  "stop all threads; it works with OMP_THREAD_LIMIT=1");
}
