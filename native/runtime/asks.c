// SPDX-License-Identifier: Apache-2.0
#include "asks.h"
#include "hashes.h"

#include <string.h>
#include <sys/socket.h>

// Calls on a descriptor that only look, or take what has come.
#define TAKING                                                                                     \
    case SYS_read:                                                                                 \
    case SYS_readv:                                                                                \
    case SYS_pread64:                                                                              \
    case SYS_preadv:                                                                               \
    case SYS_preadv2:                                                                              \
    case SYS_recvfrom:                                                                             \
    case SYS_recvmsg:                                                                              \
    case SYS_epoll_wait:                                                                           \
    case SYS_accept4:                                                                              \
    case SYS_mq_timedreceive:                                                                      \
    case SYS_getsockopt:                                                                           \
    case SYS_getsockname:                                                                          \
    case SYS_getpeername:                                                                          \
    case SYS_fstat

// Calls with a path behind a folder.
#define AT_PATH                                                                                    \
    case SYS_newfstatat:                                                                           \
    case SYS_statx:                                                                                \
    case SYS_readlinkat:                                                                           \
    case SYS_faccessat:                                                                            \
    case SYS_statfs

static bool is_heard(long number) {
    switch (number) {
    TAKING:
    AT_PATH:
    case SYS_msgrcv:
    case SYS_fstatfs:
    case SYS_flock:
    case SYS_fcntl:
    case SYS_semop:
    case SYS_semctl:
    case SYS_poll:
    case SYS_getrandom:
    case SYS_clock_gettime:
    case SYS_clock_getres:
    case SYS_getppid:
    case SYS_getpgid:
    case SYS_getsid:
    case SYS_getrusage:
    case SYS_sysinfo:
    case SYS_sched_getaffinity:
    case SYS_getpriority:
        return false;
    default:
        return true;
    }
}

static uint64_t about_path(long folder, const char *path) {
    uint64_t hash = ew_hash_word(EW_HASH_OF_NOTHING, (uint64_t)folder);
    return path && ew_is_readable(path, 1) ? ew_hash_bytes(hash, path, strlen(path)) : hash;
}

// Which number a descriptor has depends on who opened one first. A device is the same by any.
static uint64_t about_descriptor(long descriptor, const struct stat *known) {
    struct stat status = {0};
    if (!known)
        raw3(SYS_fstat, descriptor, (long)&status, 0);
    known = known ? known : &status;
    return S_ISCHR(known->st_mode) ? ew_splitmix(known->st_rdev) : (uint64_t)descriptor;
}

static uint64_t about_polled(const struct pollfd *polled, long count) {
    uint64_t hash = EW_HASH_OF_NOTHING;
    for (long i = 0; i < count; i++)
        hash = ew_hash_word(hash, about_descriptor(polled[i].fd, NULL) << 16 |
                                      (uint16_t)polled[i].events);
    return hash;
}

// Arguments that are the same when the same is asked again; numbers of processes are not.
static uint64_t about(long number, long a, long b, const struct stat *known) {
    switch (number) {
    case SYS_poll:
        return about_polled((const struct pollfd *)a, b);
    AT_PATH:
        return about_path(a, (const char *)b);
    case SYS_msgrcv:
    case SYS_msgsnd:
    case SYS_semop:
    case SYS_semctl:
        return (uint64_t)a;
    TAKING:
    case SYS_fstatfs:
    case SYS_close:
    case SYS_write:
    case SYS_sendmsg:
    case SYS_writev:
    case SYS_pwrite64:
    case SYS_pwritev:
    case SYS_pwritev2:
    case SYS_connect:
    case SYS_bind:
    case SYS_listen:
    case SYS_shutdown:
    case SYS_setsockopt:
    case SYS_fcntl:
    case SYS_flock:
    case SYS_ioctl:
        return about_descriptor(a, known);
    default:
        return 0;
    }
}

// That there is room to send is no answer to anything.
static bool only_sends(const struct pollfd *polled, long count) {
    for (long i = 0; i < count; i++)
        if (polled[i].events & ~POLLOUT)
            return false;
    return true;
}

static bool takes(long number, long a, long b) {
    switch (number) {
    TAKING:
        return number != SYS_fstat;
    case SYS_msgrcv:
        return true;
    case SYS_poll:
        return !only_sends((const struct pollfd *)a, b);
    default:
        return false;
    }
}

static bool looks(long number) {
    return number == SYS_poll || number == SYS_epoll_wait;
}

uint32_t ew_ask(long number, long a, long b, const struct stat *known) {
    uint64_t hash = ew_splitmix(ew_hash_word(about(number, a, b, known), (uint64_t)number));
    uint32_t flags = (is_heard(number) ? EW_ASK_HEARD : 0) |
                     (takes(number, a, b) ? EW_ASK_TAKES : 0) | (looks(number) ? EW_ASK_LOOKS : 0);
    return flags | (uint32_t)(hash % (EW_ASK_FILE - 1) + 1);
}

static long total_of(const struct iovec *parts, size_t count) {
    long total = 0;
    for (size_t i = 0; i < count; i++)
        total += (long)parts[i].iov_len;
    return total;
}

long ew_ask_sends(long number, long b, long c) {
    const struct msghdr *message = (const struct msghdr *)b;
    switch (number) {
    case SYS_sendmsg:
        return total_of(message->msg_iov, message->msg_iovlen);
    case SYS_writev:
        return total_of((const struct iovec *)b, (size_t)c);
    default:
        return -1;
    }
}
