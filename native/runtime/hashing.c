// SPDX-License-Identifier: Apache-2.0
// Hashes of thread ids, which are addresses: std::barrier chooses by them where a thread begins.
#include "libc.h"
#include "threads.h"

#include <string.h>

// std::_Hash_bytes of libstdc++. It is not told what the bytes are.
EW_EXPORT size_t _ZSt11_Hash_bytesPKvmm(const void *bytes, size_t size, size_t seed) {
    static struct ew_real real = {"_ZSt11_Hash_bytesPKvmm", NULL};
    uint64_t handle, ordinal = 0;
    if (size == sizeof handle) {
        memcpy(&handle, bytes, sizeof handle);
        ordinal = ew_donor_ordinal(handle);
    }
    return ((size_t (*)(const void *, size_t, size_t))ew_real_of(&real))(ordinal ? &ordinal : bytes,
                                                                         size, seed);
}
