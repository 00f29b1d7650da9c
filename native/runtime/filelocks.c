// SPDX-License-Identifier: Apache-2.0
// flock, lockf and fcntl's locks: other threads run until one is free.
//
// Whoever holds it may be another process, so that whether one was got is part of the recording. A
// replay takes what was got really too, lest the state of the files be another; and a run that has
// left its recording asks the lock itself, which another thread may have there.
#include "filelocks.h"
#include "asks.h"
#include "channels.h"
#include "input.h"
#include "sync.h"
#include "transfer.h"

#include <errno.h>
#include <sys/file.h>
#include <unistd.h>

// Through which descriptors a lock was taken: closing one gives it back.
#define DESCRIPTORS (1u << 16)
static uint64_t locked[DESCRIPTORS / 64];

static uint64_t *word_of(int fd) {
    return &locked[(unsigned)fd % DESCRIPTORS / 64];
}

static void is_locked(int fd) {
    *word_of(fd) |= 1ull << (unsigned)fd % 64;
}

static void is_unlocked(int fd) {
    *word_of(fd) &= ~(1ull << (unsigned)fd % 64);
}

void ew_file_locks_closing(int fd, const void *pc) {
    if (fd < 0 || !(*word_of(fd) >> (unsigned)fd % 64 & 1))
        return;
    is_unlocked(fd);
    ew_common_put(EW_FILE_LOCKS, pc);
}

static long attempt(long number, int fd, long operation, long argument) {
    struct ew_file_told told = {.ask = ew_ask(number, fd, operation, NULL), .is_file = true};
    if (ew_files_are_asked())
        told.result = raw3(number, fd, operation, argument);
    long error = ew_input_of_file(&told);
    if (!ew_files_are_asked() && error == 0)
        raw3(number, fd, operation, argument);
    return error;
}

static bool is_taken(long error) {
    return error == -EAGAIN || error == -EACCES;
}

// `operation` does not wait; the caller says whether we do.
static long attempt_until(long number, int fd, long operation, long argument, bool waits) {
    long error;
    if (waits)
        ew_testcancel();
    ew_point(EW_WHY_SYNC);
    ew_self->life.interrupted = EW_UNDISTURBED;
    while (is_taken(error = attempt(number, fd, operation, argument)) && waits) {
        ew_wait_elsewhere(EW_NEVER);
        ew_testcancel();
        if (ew_interrupted(false))
            return -EINTR;
    }
    return error;
}

static long take(long number, int fd, long operation, long argument, bool waits, const void *pc) {
    long error = attempt_until(number, fd, operation, argument, waits);
    if (error == 0) {
        is_locked(fd);
        ew_common_took(EW_FILE_LOCKS, pc);
    }
    return error;
}

static long give(long number, int fd, long operation, long argument, const void *pc) {
    ew_common_put(EW_FILE_LOCKS, pc);
    if (number == SYS_flock) // of the others it may be a part
        is_unlocked(fd);
    return attempt_until(number, fd, operation, argument, false);
}

long ew_file_lock(int fd, int command, struct flock *lock, const void *pc) {
    bool waits = command == F_SETLKW || command == F_OFD_SETLKW;
    int without = command == F_SETLKW ? F_SETLK : command == F_OFD_SETLKW ? F_OFD_SETLK : command;
    if (!ew_running)
        return raw3(SYS_fcntl, fd, command, (long)lock);
    bool gives = ew_is_readable(lock, sizeof *lock) && lock->l_type == F_UNLCK;
    return gives ? give(SYS_fcntl, fd, without, (long)lock, pc)
                 : take(SYS_fcntl, fd, without, (long)lock, waits, pc);
}

EW_EXPORT int flock(int fd, int operation) {
    if (!ew_running)
        return (int)ew_result(raw3(SYS_flock, fd, operation, 0));
    if (operation & LOCK_UN)
        return (int)ew_result(give(SYS_flock, fd, operation | LOCK_NB, 0, PC));
    return (int)ew_result(take(SYS_flock, fd, operation | LOCK_NB, 0, !(operation & LOCK_NB), PC));
}

static int test_lock(int fd, struct flock *lock) {
    lock->l_type = F_RDLCK;
    if (fcntl(fd, F_GETLK, lock) < 0)
        return -1;
    return lock->l_type == F_UNLCK || lock->l_pid == getpid() ? 0 : (int)ew_result(-EACCES);
}

EW_EXPORT int lockf64(int fd, int command, off64_t length) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_CUR, .l_len = length};
    switch (command) {
    case F_TEST:
        return test_lock(fd, &lock);
    case F_ULOCK:
        lock.l_type = F_UNLCK;
        return fcntl(fd, F_SETLK, &lock);
    case F_LOCK:
        return fcntl(fd, F_SETLKW, &lock);
    case F_TLOCK:
        return fcntl(fd, F_SETLK, &lock);
    default:
        return (int)ew_result(-EINVAL);
    }
}

EW_EXPORT int lockf(int fd, int command, off_t length) {
    return lockf64(fd, command, length);
}
