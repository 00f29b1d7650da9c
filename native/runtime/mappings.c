// SPDX-License-Identifier: Apache-2.0
// mmap and its kin: what is mapped is new memory, whatever lay there before.
#include "constants.h"
#include "libc.h"
#include "sync.h"

#include <stdarg.h>
#include <sys/mman.h>

EW_REAL(mmap);
EW_REAL(munmap);
EW_REAL(mremap);
EW_REAL(mprotect);

static void *mapped(void *address, size_t size, const void *pc) {
    if (UNLIKELY(ew_watched) && address != MAP_FAILED)
        ew_tell_fresh(EW_MEMORY_MAPPED, address, size, pc);
    return address;
}

EW_EXPORT void *ew_takes_mmap(void *address, size_t size, int access, int flags, int fd,
                              off_t offset) {
    return mapped(REAL(mmap)(address, size, access, flags, fd, offset), size, PC);
}

EW_EXPORT void *ew_takes_mmap64(void *address, size_t size, int access, int flags, int fd,
                                off_t offset) {
    return mapped(REAL(mmap)(address, size, access, flags, fd, offset), size, PC);
}

EW_EXPORT int ew_takes_munmap(void *address, size_t size) {
    int result = REAL(munmap)(address, size);
    if (result == 0)
        mapped(address, size, PC);
    return result;
}

EW_EXPORT void *ew_takes_mremap(void *old, size_t old_size, size_t size, int flags, ...) {
    va_list more;
    va_start(more, flags);
    void *wanted = flags & MREMAP_FIXED ? va_arg(more, void *) : NULL;
    va_end(more);
    void *result = REAL(mremap)(old, old_size, size, flags, wanted);
    if (result == old && size > old_size)
        mapped((char *)old + old_size, size - old_size, PC);
    else if (result != old)
        mapped(result, size, PC);
    return result;
}

EW_EXPORT int ew_takes_mprotect(void *address, size_t size, int access) {
    int result = REAL(mprotect)(address, size, access);
    if (result == 0 && access & PROT_WRITE)
        ew_constants_writable(address, size);
    return result;
}
