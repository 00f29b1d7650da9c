// SPDX-License-Identifier: Apache-2.0
// A futex in memory that processes share is known by the file of the mapping and its place there:
// they may have it at different addresses. Memory that has no name has an inode, too.
#include <inttypes.h>
#include <linux/futex.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

#include "tracer.h"

static bool is_wake(uint64_t operation) {
    uint64_t command = operation & (uint64_t)FUTEX_CMD_MASK;
    return command == FUTEX_WAKE || command == FUTEX_WAKE_BITSET || command == FUTEX_WAKE_OP ||
           command == FUTEX_REQUEUE || command == FUTEX_CMP_REQUEUE || command == FUTEX_UNLOCK_PI;
}

// "7f12a000-7f12b000 rw-s 00000000 00:01 2049   /dev/zero (deleted)"
static bool find_shared(const struct thread *thread, struct stat *file, uint64_t *place) {
    char path[64], line[512];
    uint64_t begin, end, offset, inode, address = thread->call.a0;
    unsigned major, minor;
    char shared;
    bool found = false;
    snprintf(path, sizeof path, "/proc/%d/maps", (int)thread->id);
    FILE *maps = fopen(path, "re");
    while (maps && !found && fgets(line, sizeof line, maps)) {
        found = sscanf(line, "%" SCNx64 "-%" SCNx64 " %*3s%c %" SCNx64 " %x:%x %" SCNu64, &begin,
                       &end, &shared, &offset, &major, &minor, &inode) == 7 &&
                begin <= address && address < end;
    }
    if (maps)
        fclose(maps);
    if (!found || shared != 's')
        return false;
    *file = (struct stat){.st_dev = makedev(major, minor), .st_ino = inode, .st_mode = S_IFREG};
    *place = offset + (address - begin);
    return true;
}

void futexes_enter(struct thread *thread) {
    struct stat file;
    if (thread->call.number != SYS_futex || thread->brief)
        return;
    if (is_wake(thread->call.a1))
        thread->call.flags |= CALL_GIVES;
    if (find_shared(thread, &file, &thread->call.position))
        thread->call.object = object_of(&file);
}
