// SPDX-License-Identifier: Apache-2.0
// Everybody who comes from a process, and the end of those that come from this one.
//
// Who forks as fast as others are ended would never be: for each that goes, another comes. So all
// are stopped first. Who is stopped makes no more, and keeps its place under the limit of
// processes.
#include "descendants.h"
#include "family_memory.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>

#define ROOM (1u << 16)
#define NUMBERS (1u << 22) // Linux's own limit
#define PASSES 100         // each finds those that came during the one before

EW_LARGE static int32_t found[ROOM];
EW_LARGE static uint8_t known[NUMBERS / 8];
static uint32_t count;
static void (*met)(pid_t); // what is done with each

static void meet(long process) {
    uint8_t bit = (uint8_t)(1u << process % 8);
    if (process >= NUMBERS || known[process / 8] & bit || count == ROOM)
        return;
    known[process / 8] |= bit;
    found[count++] = (int32_t)process;
    met((pid_t)process);
}

// The kernel's list, "123 456 ".
static void meet_those_in(const char *path) {
    char text[4096];
    long fd = raw3(SYS_open, (long)path, O_RDONLY | O_CLOEXEC, 0), length, process = 0;
    while (fd >= 0 && (length = raw3(SYS_read, fd, (long)text, sizeof text)) > 0)
        for (long i = 0; i < length; i++) {
            if (text[i] >= '0' && text[i] <= '9') {
                process = process * 10 + (text[i] - '0');
            } else if (process) {
                meet(process);
                process = 0;
            }
        }
    raw1(SYS_close, fd);
}

// Of its first thread: the others' become ours when it goes.
static void write_path(char path[64], int32_t process) {
    char *at = ew_write_number(path, "/proc/", (uint64_t)process);
    at = ew_write_number(at, "/task/", (uint64_t)process);
    memcpy(at, "/children", sizeof "/children");
}

static void meet_children_of(int32_t process) {
    char path[64];
    write_path(path, process);
    meet_those_in(path);
}

static void meet_all(const char *first, void (*each)(pid_t)) {
    uint32_t before;
    met = each;
    count = 0;
    for (int pass = 0; pass < PASSES; pass++) {
        before = count;
        meet_those_in(first);
        for (uint32_t i = 0; i < count; i++)
            meet_children_of(found[i]);
        if (count == before)
            break;
    }
    for (uint32_t i = 0; i < count; i++)
        known[found[i] / 8] = 0;
}

void ew_descendants_of(pid_t process, void (*each)(pid_t)) {
    char path[64];
    write_path(path, process);
    meet_all(path, each);
}

static void stop(pid_t process) {
    raw3(SYS_kill, process, SIGSTOP, 0);
}

void ew_descendants_end(void) {
    meet_all("/proc/thread-self/children", stop);
    for (uint32_t i = 0; i < count; i++)
        raw3(SYS_kill, found[i], SIGKILL, 0);
}
