// SPDX-License-Identifier: Apache-2.0
// System calls without libc: inside the target, errno belongs to the target.
#ifndef EITHERWAY_RAW_H
#define EITHERWAY_RAW_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

#if !defined(__x86_64__)
#error "the runtime knows x86-64 only"
#endif

// Data of ours that several files use. Hidden also where it is only declared: reached directly, and
// not through the table that code of shared libraries needs.
#define EW_DATA extern __attribute__((visibility("hidden")))

// Returns what the kernel returns: a value, or -errno.
static inline long raw6(long number, long a, long b, long c, long d, long e, long f) {
    long result;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

static inline long raw3(long number, long a, long b, long c) {
    return raw6(number, a, b, c, 0, 0, 0);
}

static inline long raw1(long number, long a) {
    return raw6(number, a, 0, 0, 0, 0, 0);
}

// What functions of the C library return for it: the value, or -1 and errno.
static inline long ew_result(long value) {
    if (value >= 0 || value < -4095)
        return value;
    errno = (int)-value;
    return -1;
}

// The only way out of a state that must not be: says why on stderr and ends the process with 70.
_Noreturn void ew_bug(const char *what);
// This machine or program asks for something that is not supported: ends with 69.
_Noreturn void ew_cannot(const char *what);
// The same, of a run that is led otherwise than by itself: whoever leads it is told why elsewhere.
_Noreturn void ew_cannot_follow(const char *what);
_Noreturn void ew_bad_options(const char *what); // by whoever started the program
_Noreturn void ew_end(int status);
// Something is not, or not wholly, under control: says so once for each function, and goes on.
void ew_report(const char *function, const char *what);

// Private zeroed pages that cost nothing until touched. Never returns NULL. They lie apart, so that
// the program's own addresses do not depend on whether it is traced or races are looked for.
void *ew_pages(size_t bytes);
void *ew_shared_pages(size_t bytes);                      // the same, with those that are forked
void *ew_more_pages(void *old, size_t had, size_t bytes); // instead of those, with what is in them

#endif
