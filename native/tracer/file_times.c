// SPDX-License-Identifier: Apache-2.0
// In a branch the time is that of the recording, and the kernel notes the machine's in the files
// that it changes. Who asks for both must not find that a file comes from the future.
#include <stddef.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>

#include "tracer.h"

enum { TIMES_MAX = 4 };

// All have seconds first, then nanoseconds, which the kernel fills up with zeros.
static_assert(sizeof(struct statx_timestamp) == sizeof(struct timespec), "both are 16 bytes");
static_assert(offsetof(struct stat, st_ctim) - offsetof(struct stat, st_atim) ==
                  2 * sizeof(struct timespec),
              "the three times of a stat lie behind each other");
static_assert(offsetof(struct statx, stx_mtime) - offsetof(struct statx, stx_atime) ==
                  3 * sizeof(struct timespec),
              "so do the four of a statx");

// Where the call tells times, and how many; 0: it tells none.
static size_t times_at(const struct thread *thread, uint64_t *address) {
    switch (thread->call.number) {
    case SYS_stat:
    case SYS_lstat:
    case SYS_fstat:
        *address = thread->call.a1 + offsetof(struct stat, st_atim);
        return 3;
    case SYS_newfstatat:
        *address = thread->call.a2 + offsetof(struct stat, st_atim);
        return 3;
    case SYS_statx:
        *address = thread->call.a4 + offsetof(struct statx, stx_atime);
        return 4;
    default:
        return 0;
    }
}

bool file_times_matter(const struct thread *thread) {
    uint64_t address;
    return clock_is_followed() && times_at(thread, &address);
}

void file_times_leave(struct thread *thread, int64_t result) {
    struct timespec times[TIMES_MAX];
    uint64_t address;
    bool changed = false;
    size_t count = times_at(thread, &address), length = count * sizeof *times;
    if (!count || result != 0 || !clock_is_followed() ||
        memory_read(thread->id, address, times, length) != (ssize_t)length)
        return;
    for (size_t i = 0; i < count; i++)
        changed |= clock_of_file(&times[i]);
    if (changed)
        memory_write(thread->id, address, times, length);
}
