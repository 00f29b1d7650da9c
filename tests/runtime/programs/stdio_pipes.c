// SPDX-License-Identifier: Apache-2.0
// Streams over a pipe whose other end is another thread's: reading and writing block one thread.
#include "check.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

static FILE *in, *out;

static void open_pipe(void) {
    int ends[2];
    CHECK(pipe(ends) == 0);
    CHECK((in = fdopen(ends[0], "r")) != NULL);
    CHECK((out = fdopen(ends[1], "w")) != NULL);
}

static pthread_t start(void *(*function)(void *)) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, function, NULL) == 0);
    return thread;
}

static void send(const char *text) {
    CHECK(fputs(text, out) >= 0 && fflush(out) == 0);
    sched_yield();
}

// --- reading, in pieces that end anywhere

static void *send_pieces(void *unused) {
    (void)unused;
    const char *pieces[] = {"fir", "st\nsec", "ond\n",  "12 34 \n", "a;b",
                            "b;",  "0123",    "456789", "xyz",      "last"};
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++)
        send(pieces[i]);
    CHECK(fclose(out) == 0);
    return NULL;
}

static void reads(void) {
    char text[64], *line = NULL;
    size_t room = 0;
    int one, two;
    open_pipe();
    pthread_t thread = start(send_pieces);
    CHECK(fgets(text, sizeof text, in) == text && strcmp(text, "first\n") == 0);
    CHECK(getline(&line, &room, in) == 7 && strcmp(line, "second\n") == 0);
    CHECK(fscanf(in, "%d %d", &one, &two) == 2 && one == 12 && two == 34);
    CHECK(fgets(text, sizeof text, in) == text && strcmp(text, " \n") == 0);
    CHECK(getdelim(&line, &room, ';', in) == 2 && strcmp(line, "a;") == 0);
    CHECK(getdelim(&line, &room, ';', in) == 3 && strcmp(line, "bb;") == 0);
    CHECK(fread(text, 5, 2, in) == 2 && memcmp(text, "0123456789", 10) == 0);
    CHECK(getc(in) == 'x');
    CHECK(ungetc('w', in) == 'w' && fgetc(in) == 'w');
    CHECK(fgets(text, 3, in) == text && strcmp(text, "yz") == 0);
    CHECK(!feof(in));
    CHECK(fread(text, 3, 20, in) == 1 && memcmp(text, "last", 4) == 0); // one whole, one byte more
    CHECK(feof(in) && !ferror(in));
    CHECK(getc(in) == EOF && fgets(text, sizeof text, in) == NULL);
    CHECK(getline(&line, &room, in) == -1);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(fclose(in) == 0);
    free(line);
}

static void *send_without_end(void *unused) {
    (void)unused;
    send("no newline");
    CHECK(fclose(out) == 0);
    return NULL;
}

static void ends_without_newline(void) {
    char text[64];
    open_pipe();
    pthread_t thread = start(send_without_end);
    CHECK(fgets(text, sizeof text, in) == text && strcmp(text, "no newline") == 0);
    CHECK(feof(in));
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(fclose(in) == 0);
}

static void *send_wide(void *unused) {
    (void)unused;
    CHECK(fwprintf(out, L"wide %d\n", 7) == 7);
    CHECK(fclose(out) == 0);
    return NULL;
}

static void wide(void) {
    wchar_t text[64];
    open_pipe();
    pthread_t thread = start(send_wide);
    CHECK(fgetws(text, 64, in) == text && wcscmp(text, L"wide 7\n") == 0);
    CHECK(fgetwc(in) == WEOF);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(fclose(in) == 0);
}

// --- writing more than the pipe holds, in one call and in many

#define MANY 300000

static void *receive(void *unused) {
    (void)unused;
    static char bytes[1000];
    long total = 0;
    for (size_t count; (count = fread(bytes, 1, sizeof bytes, in)) > 0; total += (long)count)
        for (size_t i = 0; i < count; i += 97)
            CHECK(bytes[i] == (char)((total + (long)i) % 251));
    CHECK(feof(in) && fclose(in) == 0);
    return (void *)total;
}

static void check_received(pthread_t thread) {
    void *total;
    CHECK(fclose(out) == 0);
    CHECK(pthread_join(thread, &total) == 0);
    CHECK((long)total == MANY);
}

static void writes(void) {
    static char bytes[MANY];
    for (int i = 0; i < MANY; i++)
        bytes[i] = (char)(i % 251);
    open_pipe();
    pthread_t thread = start(receive);
    CHECK(fwrite(bytes, 1, MANY, out) == MANY);
    check_received(thread);
    open_pipe();
    thread = start(receive);
    for (int i = 0; i < MANY; i += 100)
        CHECK(fwrite(bytes + i, 100, 1, out) == 1);
    check_received(thread);
}

static void refused(void) {
    char byte;
    open_pipe();
    CHECK(fread(&byte, 0, 1, in) == 0 && !feof(in) && !ferror(in));
    CHECK(fwrite("x", 1, 0, out) == 0 && !ferror(out));
    errno = 0;
    CHECK(fread(&byte, 1, 1, out) == 0 && ferror(out) && errno == EBADF);
    CHECK(fclose(in) == 0 && fclose(out) == 0);
}

int main(void) {
    reads();
    ends_without_newline();
    wide();
    writes();
    refused();
    return 0;
}
