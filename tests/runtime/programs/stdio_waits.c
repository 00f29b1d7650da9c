// SPDX-License-Identifier: Apache-2.0
// replayed
// Wherever inside a function of stdio it waits: others go on, and one of them ends the wait.
#include "check.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#define LONG 200000

static FILE *in, *out;
static char *text;

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

static void end(pthread_t thread) {
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(fclose(in) == 0);
}

// --- a number at a time to somebody who wants four

static void *send_numbers(void *unused) {
    (void)unused;
    const char *pieces[] = {"1", "2 ", "  3", "4 word 5", "6\n"};
    for (int i = 0; i < 5; i++) {
        CHECK(fputs(pieces[i], out) >= 0 && fflush(out) == 0);
        sched_yield();
    }
    CHECK(fclose(out) == 0);
    return NULL;
}

static void scans(void) {
    int a, b, c;
    char word[16];
    open_pipe();
    pthread_t thread = start(send_numbers);
    CHECK(fscanf(in, "%d %d %15s %d", &a, &b, word, &c) == 4);
    CHECK(a == 12 && b == 34 && strcmp(word, "word") == 0 && c == 56);
    CHECK(fscanf(in, "%d", &a) == EOF);
    end(thread);
}

// --- lines and blocks longer than any buffer

static void *send_line(void *unused) {
    (void)unused;
    CHECK(fprintf(out, "%s\n%s\n", text, text) == 2 * LONG + 2);
    CHECK(fclose(out) == 0); // what is left in the buffer may not fit either
    return NULL;
}

static void long_lines(void) {
    char *line = NULL;
    size_t room = 0;
    open_pipe();
    pthread_t thread = start(send_line);
    CHECK(getline(&line, &room, in) == LONG + 1 && memcmp(line, text, LONG) == 0);
    char *all = malloc(LONG + 2);
    CHECK(fgets(all, LONG + 2, in) == all && memcmp(all, text, LONG) == 0);
    CHECK(fgetc(in) == EOF && feof(in));
    end(thread);
    free(all);
    free(line);
}

static void *put_characters(void *unused) {
    (void)unused;
    for (int i = 0; i < LONG; i++)
        CHECK(putc_unlocked(text[i], out) == text[i]);
    CHECK(fclose(out) == 0);
    return NULL;
}

static void characters(void) {
    open_pipe();
    pthread_t thread = start(put_characters);
    for (int i = 0; i < LONG; i++)
        CHECK(getc_unlocked(in) == text[i]);
    CHECK(getc(in) == EOF);
    end(thread);
}

static void *send_wide(void *unused) {
    (void)unused;
    CHECK(fwprintf(out, L"%s %d\n", text, 77) == LONG + 4);
    CHECK(fclose(out) == 0);
    return NULL;
}

static void wide(void) {
    wchar_t *line = malloc((LONG + 8) * sizeof *line);
    open_pipe();
    pthread_t thread = start(send_wide);
    CHECK(fgetws(line, LONG + 8, in) == line);
    CHECK(wcslen(line) == LONG + 4 && line[0] == L'a' && wcscmp(line + LONG, L" 77\n") == 0);
    end(thread);
    free(line);
}

// --- a stream that one thread waits in, and others want

static void *read_a_line(void *result) {
    char line[16];
    CHECK(fgets(line, sizeof line, in) == line);
    *(int *)result = atoi(line);
    return NULL;
}

static void one_after_the_other(void) {
    pthread_t readers[3];
    int got[3] = {0, 0, 0};
    open_pipe();
    for (int i = 0; i < 3; i++)
        CHECK(pthread_create(&readers[i], NULL, read_a_line, &got[i]) == 0);
    for (int i = 1; i <= 3; i++) {
        CHECK(fprintf(out, "%d", i) == 1 && fflush(out) == 0);
        sched_yield();
        CHECK(fprintf(out, "\n") == 1 && fflush(out) == 0);
    }
    for (int i = 0; i < 3; i++)
        CHECK(pthread_join(readers[i], NULL) == 0);
    CHECK(got[0] + got[1] + got[2] == 6 && got[0] * got[1] * got[2] == 6);
    CHECK(fclose(out) == 0 && fclose(in) == 0);
}

// --- cancelled in the middle: the stream is free again

static void *read_for_ever(void *unused) {
    char line[16];
    fgets(line, sizeof line, in);
    return unused;
}

static void cancelled(void) {
    void *result;
    char line[16];
    open_pipe();
    pthread_t thread = start(read_for_ever);
    sched_yield();
    CHECK(pthread_cancel(thread) == 0 && pthread_join(thread, &result) == 0);
    CHECK(result == PTHREAD_CANCELED);
    CHECK(fputs("here\n", out) >= 0 && fclose(out) == 0);
    CHECK(fgets(line, sizeof line, in) == line && strcmp(line, "here\n") == 0);
    CHECK(fclose(in) == 0);
}

static void errors(void) {
    char byte;
    open_pipe();
    CHECK(fwrite("x", 1, 1, in) == 0 && errno == EBADF && ferror(in));
    CHECK(fread(&byte, 1, 1, out) == 0 && errno == EBADF && ferror(out));
    clearerr(in);
    CHECK(!ferror(in));
    close(fileno(in));
    CHECK(fgetc(in) == EOF && errno == EBADF && ferror(in));
    CHECK(fclose(in) == EOF && errno == EBADF);
    CHECK(fclose(out) == 0);
}

int main(void) {
    text = malloc(LONG + 1);
    for (int i = 0; i < LONG; i++)
        text[i] = (char)('a' + i % 26);
    text[LONG] = 0;
    scans();
    long_lines();
    characters();
    wide();
    one_after_the_other();
    cancelled();
    errors();
    printf("done\n");
    return 0;
}
