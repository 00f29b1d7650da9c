// SPDX-License-Identifier: Apache-2.0
// Reads memory that the program may have given back, or never had.
//
// One instruction does it, and a fault at that instruction goes on behind it. Cheaper than any
// system call that would read for us, and works where those are refused.
#include "hashes.h"
#include "signals.h"
#include "trace.h"

#include <errno.h>
#include <ucontext.h>

extern const char ew_peek_at[] __attribute__((visibility("hidden")));
extern const char ew_peek_after[] __attribute__((visibility("hidden")));

__attribute__((noinline, noclone)) bool ew_peek(void *to, const void *from, size_t size) {
    __asm__ volatile("ew_peek_at: rep movsb\n"
                     "ew_peek_after:"
                     : "+D"(to), "+S"(from), "+c"(size)
                     :
                     : "memory");
    return size == 0;
}

bool ew_peek_failed(void *context) {
    greg_t *at = &((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
    if (*at != (greg_t)(uintptr_t)ew_peek_at)
        return false;
    *at = (greg_t)(uintptr_t)ew_peek_after;
    return true;
}

// The kernel looks at the set before it sees that there is nothing that it could do with it.
static bool is_word_readable(uintptr_t address) {
    return raw6(SYS_rt_sigprocmask, -1, (long)address, 0, sizeof(uint64_t), 0, 0) != -EFAULT;
}

bool ew_is_readable(const void *address, size_t size) {
    uintptr_t first = (uintptr_t)address & ~7ul, last = ((uintptr_t)address + size - 1) & ~7ul;
    for (uintptr_t at = first; size && at < last; at = (at & ~4095ul) + 4096)
        if (!is_word_readable(at))
            return false;
    return !size || is_word_readable(last);
}

static uint64_t hash(const uint8_t *address, size_t size) {
    uint8_t part[256];
    uint64_t result = EW_HASH_OF_NOTHING;
    for (size_t taken; size; address += taken, size -= taken) {
        taken = size < sizeof part ? size : sizeof part;
        if (!ew_peek(part, address, taken))
            return 0;
        result = ew_hash_bytes(result, part, taken);
    }
    return result;
}

uint64_t ew_peek_value(const void *address, size_t size) {
    uint64_t value = 0;
    if (size > sizeof value)
        return hash(address, size);
    return ew_peek(&value, address, size) ? value : 0;
}
