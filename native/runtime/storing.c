// SPDX-License-Identifier: Apache-2.0
// fsync and its kin: nothing that others could see, but a thread may be cancelled there.
#include "sync.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

static int call(long number, long a, long b, long c, long d) {
    if (ew_running)
        ew_testcancel();
    return (int)ew_result(raw6(number, a, b, c, d, 0, 0));
}

EW_EXPORT int fsync(int descriptor) {
    return call(SYS_fsync, descriptor, 0, 0, 0);
}

EW_EXPORT int fdatasync(int descriptor) {
    return call(SYS_fdatasync, descriptor, 0, 0, 0);
}

EW_EXPORT int msync(void *address, size_t size, int flags) {
    return call(SYS_msync, (long)address, (long)size, flags, 0);
}

EW_EXPORT int sync_file_range(int descriptor, off64_t from, off64_t size, unsigned flags) {
    return call(SYS_sync_file_range, descriptor, from, size, flags);
}

EW_EXPORT int fallocate64(int descriptor, int mode, off64_t from, off64_t size) {
    return call(SYS_fallocate, descriptor, mode, from, size);
}

EW_ALIAS(fallocate, fallocate64);
