// SPDX-License-Identifier: Apache-2.0
// Temporary files: the letters that libc draws for their names are input, so that a replay has the
// same names again. What bears one by then is what the recorded run has left there.
#include "input.h"
#include "libc.h"
#include "sync.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LETTERS 6

// Whether a name was drawn, which ends with its letters but for a suffix. Else errno says why.
static bool note(long error, char *name, size_t suffix, const void *pc) {
    ew_input(EW_INPUT_RESULT, &error, sizeof error, sizeof error);
    if (error) {
        errno = (int)error;
        return false;
    }
    char *letters = name + strlen(name) - suffix - LETTERS;
    ew_input(EW_INPUT_DATA, letters, LETTERS, LETTERS);
    ew_touch(EW_OP_STORE, letters, LETTERS, pc);
    return true;
}

// --- files and directories

EW_REAL(mkostemps64);
EW_REAL(mkdtemp);

static int make_again(const char *name, int flags) {
    int all = O_RDWR | O_CREAT | O_TRUNC | O_LARGEFILE | flags;
    return (int)ew_result(raw3(SYS_open, (long)name, all, 0600));
}

static int make_file(char *name, int suffix, int flags, const void *pc) {
    if (!ew_running)
        return REAL(mkostemps64)(name, suffix, flags);
    int made = ew_replaying ? -1 : REAL(mkostemps64)(name, suffix, flags);
    if (!note(made < 0 ? errno : 0, name, (size_t)suffix, pc))
        return -1;
    return ew_replaying ? make_again(name, flags) : made;
}

EW_EXPORT int mkostemps64(char *name, int suffix, int flags) {
    return make_file(name, suffix, flags, PC);
}

EW_EXPORT int mkostemp64(char *name, int flags) {
    return make_file(name, 0, flags, PC);
}

EW_EXPORT int mkstemps64(char *name, int suffix) {
    return make_file(name, suffix, 0, PC);
}

EW_EXPORT int mkstemp64(char *name) {
    return make_file(name, 0, 0, PC);
}

EW_ALIAS(mkostemps, mkostemps64);
EW_ALIAS(mkostemp, mkostemp64);
EW_ALIAS(mkstemps, mkstemps64);
EW_ALIAS(mkstemp, mkstemp64);

static char *make_directory_again(char *name) {
    long error = raw3(SYS_mkdir, (long)name, 0700, 0);
    if (error == 0 || error == -EEXIST)
        return name;
    errno = (int)-error;
    return NULL;
}

EW_EXPORT char *mkdtemp(char *name) {
    if (!ew_running)
        return REAL(mkdtemp)(name);
    bool made = ew_replaying || REAL(mkdtemp)(name);
    if (!note(made ? 0 : errno, name, 0, PC))
        return NULL;
    return ew_replaying ? make_directory_again(name) : name;
}

// --- names alone

EW_REAL(mktemp);
EW_REAL(tempnam);
EW_REAL(tmpnam);
EW_REAL(tmpnam_r);

EW_EXPORT char *mktemp(char *name) {
    if (!ew_running)
        return REAL(mktemp)(name);
    bool drawn = ew_replaying || *REAL(mktemp)(name);
    if (!note(drawn ? 0 : errno, name, 0, PC))
        *name = 0;
    return name;
}

static char *drawn(char *name, const void *pc) {
    return ew_running && !note(name ? 0 : errno, name, 0, pc) ? NULL : name;
}

EW_EXPORT char *tempnam(const char *folder, const char *start) {
    return drawn(REAL(tempnam)(folder, start), PC);
}

EW_EXPORT char *tmpnam(char *name) {
    return drawn(REAL(tmpnam)(name), PC);
}

EW_EXPORT char *tmpnam_r(char *name) {
    return drawn(REAL(tmpnam_r)(name), PC);
}
