// SPDX-License-Identifier: Apache-2.0
// A few pipes at a time; when there are more, the oldest is forgotten.
#include "debts.h"

#include <errno.h>
#include <sys/uio.h>

#define DEBTS 32
static struct debt {
    int descriptor;
    ino_t inode; // the number may lead elsewhere by now
    long owed;   // bytes
} debts[DEBTS];
static uint32_t count;

static void drop(uint32_t index) {
    debts[index] = debts[--count];
}

static bool is_there(const struct debt *debt) {
    struct stat status;
    return raw3(SYS_fstat, debt->descriptor, (long)&status, 0) == 0 &&
           status.st_ino == debt->inode && S_ISFIFO(status.st_mode);
}

// What is there now; false when no more will come.
static bool take(struct debt *debt) {
    char nothing[4096];
    while (debt->owed > 0 && is_there(debt)) {
        struct iovec part = {nothing, sizeof nothing};
        if (debt->owed < (long)part.iov_len)
            part.iov_len = (size_t)debt->owed;
        long got = raw6(SYS_preadv2, debt->descriptor, (long)&part, 1, -1, -1, RWF_NOWAIT);
        if (got == -EAGAIN || got == -EINTR)
            return true;
        if (got <= 0)
            return false;
        debt->owed -= got;
    }
    return false;
}

static void take_all(void) {
    for (uint32_t i = count; i-- > 0;)
        if (!take(&debts[i]))
            drop(i);
}

static struct debt *debt_of(int descriptor, ino_t inode) {
    for (uint32_t i = 0; i < count; i++)
        if (debts[i].inode == inode)
            return &debts[i];
    if (count == DEBTS)
        drop(0);
    debts[count] = (struct debt){descriptor, inode, 0};
    return &debts[count++];
}

void ew_debt(int descriptor, const struct stat *status, long bytes) {
    if (!S_ISFIFO(status->st_mode))
        return;
    struct debt *debt = debt_of(descriptor, status->st_ino);
    debt->descriptor = descriptor;
    debt->owed += bytes;
    take_all();
}

bool ew_debts_until(int descriptor, short events, int milliseconds) {
    struct pollfd polled[DEBTS + 1] = {{descriptor, events, 0}};
    for (int waited = 0; waited <= milliseconds; waited++) {
        take_all();
        for (uint32_t i = 0; i < count; i++)
            polled[i + 1] = (struct pollfd){debts[i].descriptor, POLLIN, 0};
        raw3(SYS_poll, (long)polled, count + 1, 1);
        if (polled[0].revents)
            return true;
    }
    return false;
}
