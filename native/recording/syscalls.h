/* SPDX-License-Identifier: Apache-2.0 */
/* System calls without libc: inside the target, its wrappers may be interposed (by us), they set
 * the target's errno, and some are cancellation points. All return the result or -errno. */
#ifndef EITHERWAY_SYSCALLS_H
#define EITHERWAY_SYSCALLS_H

#include <asm/errno.h>
#include <asm/unistd.h>
#include <linux/fcntl.h>
#include <stddef.h>
#include <stdint.h>

static inline long ew_syscall5(long number, long a, long b, long c, long d, long e) {
#if defined(__x86_64__)
    long result;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
                     : "rcx", "r11", "memory");
    return result;
#elif defined(__aarch64__)
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = e;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4) : "memory");
    return x0;
#else
#error "no system calls for this machine yet: add them here"
#endif
}

static inline long ew_sys_write(int fd, const void *data, size_t length) {
    return ew_syscall5(__NR_write, fd, (long)data, (long)length, 0, 0);
}

static inline long ew_sys_pread(int fd, void *data, size_t length, uint64_t offset) {
    return ew_syscall5(__NR_pread64, fd, (long)data, (long)length, (long)offset, 0);
}

static inline long ew_sys_openat(int directory, const char *name, int flags, unsigned mode) {
    return ew_syscall5(__NR_openat, directory, (long)name, flags, (long)mode, 0);
}

static inline long ew_sys_fchmod(int fd, unsigned mode) {
    return ew_syscall5(__NR_fchmod, fd, (long)mode, 0, 0, 0);
}

static inline long ew_sys_fsync(int fd) {
    return ew_syscall5(__NR_fsync, fd, 0, 0, 0, 0);
}

static inline long ew_sys_close(int fd) {
    return ew_syscall5(__NR_close, fd, 0, 0, 0, 0);
}

static inline long ew_sys_rename(int directory, const char *from, const char *to) {
    return ew_syscall5(__NR_renameat2, directory, (long)from, directory, (long)to, 0);
}

static inline long ew_sys_unlink(int directory, const char *name) {
    return ew_syscall5(__NR_unlinkat, directory, (long)name, 0, 0, 0);
}

#endif
