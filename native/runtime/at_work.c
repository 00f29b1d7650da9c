// SPDX-License-Identifier: Apache-2.0
#include "at_work.h"
#include "family_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

// What a file of /proc says, ended by a zero.
static void words_of(pid_t process, const char *file, char *into, size_t room) {
    char path[64];
    stpcpy(ew_write_number(path, "/proc/", (uint64_t)process), file);
    long fd = raw3(SYS_open, (long)path, O_RDONLY | O_CLOEXEC, 0);
    long length = fd < 0 ? 0 : raw3(SYS_read, fd, (long)into, (long)room - 1);
    raw1(SYS_close, fd);
    into[length > 0 ? length : 0] = 0;
}

// Its state is behind its name: "123 (name) S ".
char ew_state_of(pid_t process) {
    char line[128];
    words_of(process, "/stat", line, sizeof line);
    const char *name_end = strrchr(line, ')');
    return name_end ? name_end[2] : 0;
}

bool ew_has_ended(pid_t process) {
    char state = ew_state_of(process);
    return state == 'Z' || state == 'X' || raw3(SYS_kill, process, 0, 0) == -ESRCH;
}

// "123 456 ", of its first thread.
static uint32_t children_of(pid_t process, pid_t *into, uint32_t room) {
    char file[64], text[1024];
    stpcpy(ew_write_number(file, "/task/", (uint64_t)process), "/children");
    words_of(process, file, text, sizeof text);
    uint32_t count = 0;
    pid_t number = 0;
    for (const char *at = text; *at && count < room; at++) {
        if (*at != ' ') {
            number = number * 10 + (*at - '0');
            continue;
        }
        into[count++] = number;
        number = 0;
    }
    return count;
}

#define SOME 32 // children that are looked at: who has more has some at work

bool ew_at_work(pid_t process) {
    pid_t children[SOME];
    char state = ew_state_of(process);
    if (state == 'R' || state == 'D')
        return true;
    uint32_t count = children_of(process, children, SOME);
    for (uint32_t i = 0; i < count; i++)
        if (ew_at_work(children[i]))
            return true;
    return count == SOME;
}
