// SPDX-License-Identifier: Apache-2.0
// /proc/self/fdinfo/N: lines of one descriptor, among them
//
//     lock:\t1: POSIX  ADVISORY  WRITE 42 00:33:23 1073741824 1073742335
//
// a number, whose lock it is, READ or WRITE, the process, the file, and the first and the last byte
// or EOF.
#include "held_locks.h"
#include "runtime.h"

#include <fcntl.h>
#include <string.h>
#include <sys/file.h>

#define LOCKS 256
EW_LARGE static struct {
    int descriptor;
    struct flock lock;
} locks[LOCKS];
static uint32_t lock_count;

void ew_held_locks_forget(void) {
    lock_count = 0;
}

// --- reading

static bool is_blank(char letter) {
    return letter == ' ' || letter == '\t';
}

static const char *word(const char *line, int number) {
    while (number--) {
        while (*line && *line != '\n' && !is_blank(*line))
            line++;
        while (is_blank(*line))
            line++;
    }
    return line;
}

enum { WHOSE = 2, KIND = 4, FIRST = 7, LAST };

static bool begins(const char *text, const char *with) {
    return strncmp(text, with, strlen(with)) == 0;
}

static long number_in(const char *digits) {
    long value = 0;
    for (; *digits >= '0' && *digits <= '9'; digits++)
        value = value * 10 + (*digits - '0');
    return value;
}

static struct flock lock_in(const char *line) {
    const char *last = word(line, LAST);
    long first = number_in(word(line, FIRST));
    return (struct flock){
        .l_type = begins(word(line, KIND), "WRITE") ? F_WRLCK : F_RDLCK,
        .l_whence = SEEK_SET,
        .l_start = first,
        .l_len = begins(last, "EOF") ? 0 : number_in(last) - first + 1,
    };
}

static bool give_up(int descriptor, const char *line) {
    if (!begins(word(line, WHOSE), "POSIX") || lock_count == LOCKS)
        return false;
    struct flock lock = lock_in(line), none = lock;
    none.l_type = F_UNLCK;
    locks[lock_count].descriptor = descriptor;
    locks[lock_count++].lock = lock;
    return raw3(SYS_fcntl, descriptor, F_SETLK, (long)&none) == 0;
}

void ew_descriptor_path(char *path, const char *folder, int descriptor) {
    char digits[12];
    int count = 0;
    strcpy(path, folder);
    path += strlen(path);
    do
        digits[count++] = (char)('0' + descriptor % 10);
    while (descriptor /= 10);
    while (count)
        *path++ = digits[--count];
    *path = 0;
}

bool ew_held_locks_give_up(int descriptor) {
    EW_LARGE static char text[1 << 15];
    char path[40];
    ew_descriptor_path(path, "/proc/self/fdinfo/", descriptor);
    long info = raw3(SYS_open, (long)path, O_RDONLY | O_CLOEXEC, 0), got = info, size = 0;
    while (info >= 0 && size < (long)sizeof text - 1 &&
           (got = raw3(SYS_read, info, (long)text + size, (long)sizeof text - 1 - size)) > 0)
        size += got;
    raw1(SYS_close, info);
    if (got)
        return false; // not to be had, or too long
    text[size] = 0;
    for (const char *line = text; line; line = strchr(line, '\n'), line += line != NULL)
        if (begins(line, "lock:") && !give_up(descriptor, line))
            return false;
    return true;
}

// --- in a copy

void ew_held_locks_take(void) {
    for (uint32_t i = 0; i < lock_count; i++)
        if (raw3(SYS_fcntl, locks[i].descriptor, F_SETLK, (long)&locks[i].lock) < 0)
            ew_cannot("a lock on a file that a copy needs is not free");
}

void ew_held_locks_free(int descriptor) {
    struct flock none = {.l_type = F_UNLCK, .l_whence = SEEK_SET};
    raw3(SYS_flock, descriptor, LOCK_UN, 0);
    raw3(SYS_fcntl, descriptor, F_OFD_SETLK, (long)&none);
}
