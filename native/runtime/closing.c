// SPDX-License-Identifier: Apache-2.0
// Copies of descriptors, and their end.
//
// Who waits for a descriptor that another thread closes goes on waiting for what it led to, as the
// kernel has it.
#include "channels.h"
#include "filelocks.h"
#include "input.h"
#include "transfer.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <unistd.h>

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

static void begin(int descriptor, const void *pc) {
    ew_point(EW_WHY_SYNC);
    if (ew_talks && ew_is_outside(descriptor))
        ew_input_heard(SYS_close, descriptor);
    ew_channel_put(descriptor, pc);
    ew_file_locks_closing(descriptor, pc);
    ew_closing((unsigned)descriptor, (unsigned)descriptor);
}

static void closed(unsigned first, unsigned last) {
    ew_numbers_closed(first, last);
    if (ew_running)
        ew_look_within(); // the other end of a pipe, say
}

EW_EXPORT int close(int descriptor) {
    if (ew_running) {
        ew_testcancel();
        begin(descriptor, PC);
    }
    long error = raw1(SYS_close, descriptor);
    closed((unsigned)descriptor, (unsigned)descriptor);
    return (int)ew_result(error);
}

EW_EXPORT int close_range(unsigned first, unsigned last, int flags) {
    if (first > last || flags & ~(CLOSE_RANGE_UNSHARE | CLOSE_RANGE_CLOEXEC))
        return (int)ew_result(-EINVAL);
    bool closes = !(flags & CLOSE_RANGE_CLOEXEC);
    ew_point(EW_WHY_SYNC);
    if (ew_running && closes)
        ew_input_heard(SYS_close, (int)first);
    if (closes)
        ew_closing(first, last);
    long error = raw3(SYS_close_range, first, last, flags);
    if (closes && error == 0)
        closed(first, last);
    return (int)ew_result(error);
}

EW_EXPORT void closefrom(int first) {
    close_range(first < 0 ? 0 : (unsigned)first, ~0u, 0);
}

// --- copies

static int copied(int from, long to) {
    if (to >= 0)
        ew_number_copied(from, (int)to);
    return (int)ew_result(to);
}

EW_EXPORT int dup(int descriptor) {
    return copied(descriptor, raw1(SYS_dup, descriptor));
}

static int copy_onto(int from, int to, long result) {
    int copy = copied(from, result);
    if (ew_running && from != to)
        ew_look_within();
    return copy;
}

EW_EXPORT int dup2(int from, int to) {
    if (ew_running && from != to)
        begin(to, PC);
    return copy_onto(from, to, raw3(SYS_dup2, from, to, 0));
}

EW_EXPORT int dup3(int from, int to, int flags) {
    if (ew_running)
        begin(to, PC);
    return copy_onto(from, to, raw3(SYS_dup3, from, to, flags));
}

int ew_copy(int descriptor, int command, long lowest) {
    return copied(descriptor, raw3(SYS_fcntl, descriptor, command, lowest));
}
