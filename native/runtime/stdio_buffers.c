// SPDX-License-Identifier: Apache-2.0
// Functions of stdio that read or write memory of the program's. Told when they are done: how much
// it was is known then, and others may run while they wait.
#include "libc.h"
#include "stream.h"
#include "sync.h"

#include <string.h>

EW_EXPORT size_t fread(void *to, size_t size, size_t count, FILE *stream) {
    size_t got = ew_enter_fread(to, size, count, stream);
    ew_touch(EW_OP_STORE, to, got * size, PC);
    return got;
}

EW_EXPORT size_t __fread_chk(void *to, size_t room, size_t size, size_t count, FILE *stream) {
    size_t got = ew_enter___fread_chk(to, room, size, count, stream);
    ew_touch(EW_OP_STORE, to, got * size, PC);
    return got;
}

EW_EXPORT size_t fwrite(const void *data, size_t size, size_t count, FILE *stream) {
    size_t put = ew_enter_fwrite(data, size, count, stream);
    ew_touch(EW_OP_LOAD, data, put * size, PC);
    return put;
}

static char *got_line(char *line, const void *pc) {
    if (line && UNLIKELY(ew_watched))
        ew_touch(EW_OP_STORE, line, strlen(line) + 1, pc);
    return line;
}

EW_EXPORT char *fgets(char *to, int size, FILE *stream) {
    return got_line(ew_enter_fgets(to, size, stream), PC);
}

EW_EXPORT char *__fgets_chk(char *to, size_t room, int size, FILE *stream) {
    return got_line(ew_enter___fgets_chk(to, room, size, stream), PC);
}

static ssize_t got_text(char **line, size_t *room, ssize_t length, const void *pc) {
    if (length < 0 || !UNLIKELY(ew_watched))
        return length;
    ew_touch(EW_OP_STORE, line, sizeof *line, pc);
    ew_touch(EW_OP_STORE, room, sizeof *room, pc);
    ew_touch(EW_OP_STORE, *line, (size_t)length + 1, pc);
    return length;
}

EW_EXPORT ssize_t getline(char **line, size_t *room, FILE *stream) {
    return got_text(line, room, ew_enter_getline(line, room, stream), PC);
}

EW_EXPORT ssize_t getdelim(char **line, size_t *room, int end, FILE *stream) {
    return got_text(line, room, ew_enter_getdelim(line, room, end, stream), PC);
}

EW_EXPORT ssize_t __getdelim(char **line, size_t *room, int end, FILE *stream) {
    return got_text(line, room, ew_enter___getdelim(line, room, end, stream), PC);
}

static int put_text(const char *text, int result, const void *pc) {
    if (result >= 0 && UNLIKELY(ew_watched))
        ew_touch(EW_OP_LOAD, text, strlen(text) + 1, pc);
    return result;
}

EW_EXPORT int fputs(const char *text, FILE *stream) {
    return put_text(text, ew_enter_fputs(text, stream), PC);
}

EW_EXPORT int puts(const char *text) {
    return put_text(text, ew_enter_puts(text), PC);
}

// --- for who says that nobody else uses the stream: of the memory that says nothing

#undef fread_unlocked // glibc has macros too, which do a few characters one by one
#undef fwrite_unlocked

extern char *__fgets_unlocked_chk(char *, size_t, int, FILE *);
extern size_t __fread_unlocked_chk(void *, size_t, size_t, size_t, FILE *);
EW_REAL(fread_unlocked);
EW_REAL(__fread_unlocked_chk);
EW_REAL(fwrite_unlocked);
EW_REAL(fgets_unlocked);
EW_REAL(__fgets_unlocked_chk);
EW_REAL(fputs_unlocked);

EW_EXPORT size_t fread_unlocked(void *to, size_t size, size_t count, FILE *stream) {
    size_t got = REAL(fread_unlocked)(to, size, count, stream);
    ew_touch(EW_OP_STORE, to, got * size, PC);
    return got;
}

EW_EXPORT size_t __fread_unlocked_chk(void *to, size_t room, size_t size, size_t count,
                                      FILE *stream) {
    size_t got = REAL(__fread_unlocked_chk)(to, room, size, count, stream);
    ew_touch(EW_OP_STORE, to, got * size, PC);
    return got;
}

EW_EXPORT size_t fwrite_unlocked(const void *data, size_t size, size_t count, FILE *stream) {
    size_t put = REAL(fwrite_unlocked)(data, size, count, stream);
    ew_touch(EW_OP_LOAD, data, put * size, PC);
    return put;
}

EW_EXPORT char *fgets_unlocked(char *to, int size, FILE *stream) {
    return got_line(REAL(fgets_unlocked)(to, size, stream), PC);
}

EW_EXPORT char *__fgets_unlocked_chk(char *to, size_t room, int size, FILE *stream) {
    return got_line(REAL(__fgets_unlocked_chk)(to, room, size, stream), PC);
}

EW_EXPORT int fputs_unlocked(const char *text, FILE *stream) {
    return put_text(text, REAL(fputs_unlocked)(text, stream), PC);
}
