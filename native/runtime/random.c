// SPDX-License-Identifier: Apache-2.0
// Random numbers of the kernel come from outside, whichever way they come.
#include "input.h"
#include "libc.h"
#include "transfer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/random.h>

// The sixteen bytes that the kernel gives every program. libc has taken its canary from them
// already; a program may make its own secrets of them.
static char *bytes;

void ew_random_prepare(void) {
    bytes = (char *)getauxval(AT_RANDOM);
}

void ew_random_begin(void) {
    if (bytes)
        ew_input(EW_INPUT_START, bytes, 16, 16);
}

static long fill(void *buffer, size_t size, unsigned flags) {
    if (!ew_running)
        return raw3(SYS_getrandom, (long)buffer, (long)size, flags);
    long got = ew_input_call(SYS_getrandom, (long)buffer, (long)size, flags, 0, 0, 0);
    if (got > 0)
        ew_input(EW_INPUT_DATA, buffer, (size_t)got, size);
    return got;
}

EW_EXPORT ssize_t getrandom(void *buffer, size_t size, unsigned flags) {
    ew_testcancel();
    long got = fill(buffer, size, flags);
    if (got > 0)
        ew_touch(EW_OP_STORE, buffer, (size_t)got, PC);
    return ew_result(got);
}

static void fill_all(void *buffer, size_t size) {
    for (size_t done = 0; done < size;) {
        long got = fill((char *)buffer + done, size - done, 0);
        if (got < 0 && got != -EINTR)
            ew_cannot("the kernel has no random numbers");
        done += got > 0 ? (size_t)got : 0;
    }
}

EW_EXPORT int getentropy(void *buffer, size_t size) {
    if (size > 256)
        return (int)ew_result(-EIO);
    fill_all(buffer, size);
    ew_touch(EW_OP_STORE, buffer, size, PC);
    return 0;
}

// libc's own read the kernel's behind our back.
EW_EXPORT void arc4random_buf(void *buffer, size_t size) {
    fill_all(buffer, size);
    ew_touch(EW_OP_STORE, buffer, size, PC);
}

EW_EXPORT uint32_t arc4random(void) {
    uint32_t value;
    fill_all(&value, sizeof value);
    return value;
}

// Each number below the bound as likely: what would make the low ones likelier is drawn again.
EW_EXPORT uint32_t arc4random_uniform(uint32_t bound) {
    if (bound < 2)
        return 0;
    uint32_t value, unfair = -bound % bound;
    do
        value = arc4random();
    while (value < unfair);
    return value % bound;
}

// std::random_device of libstdc++, which may ask the processor. What it asks the kernel for is
// recorded on the way too.
EW_EXPORT unsigned _ZNSt13random_device9_M_getvalEv(void *device) {
    static struct ew_real real = {"_ZNSt13random_device9_M_getvalEv", NULL};
    unsigned value = ((unsigned (*)(void *))ew_real_of(&real))(device);
    if (ew_running)
        ew_input(EW_INPUT_DATA, &value, sizeof value, sizeof value);
    return value;
}
