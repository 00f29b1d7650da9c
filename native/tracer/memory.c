// SPDX-License-Identifier: Apache-2.0
#include <string.h>
#include <sys/uio.h>

#include "tracer.h"

enum { PAGE = 4096 };

ssize_t memory_read(pid_t thread, uint64_t address, void *to, size_t length) {
    struct iovec here = {to, length}, there = {(void *)(uintptr_t)address, length};
    return process_vm_readv(thread, &here, 1, &there, 1, 0);
}

ssize_t memory_write(pid_t thread, uint64_t address, const void *from, size_t length) {
    struct iovec here = {(void *)(uintptr_t)from, length};
    struct iovec there = {(void *)(uintptr_t)address, length};
    return process_vm_writev(thread, &here, 1, &there, 1, 0);
}

ssize_t memory_text(pid_t thread, uint64_t address, char *to, size_t size) {
    size_t done = 0;
    while (done < size) { // page by page: what comes behind the text may not be there
        size_t part = PAGE - (address + done) % PAGE;
        if (part > size - done)
            part = size - done;
        ssize_t got = memory_read(thread, address + done, to + done, part);
        if (got <= 0)
            return -1;
        const char *end = memchr(to + done, '\0', (size_t)got);
        if (end)
            return end - to;
        done += (size_t)got;
    }
    return -1;
}
