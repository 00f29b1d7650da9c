// SPDX-License-Identifier: Apache-2.0
// A stream that one thread holds: the others' printf, puts, fwrite, fflush and fclose wait for it.
#include "check.h"

#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>

static FILE *stream;
static pthread_barrier_t ready;

static void print_by(FILE *to, const char *format, ...) {
    va_list rest;
    va_start(rest, format);
    CHECK(vfprintf(to, format, rest) > 0);
    va_end(rest);
}

// --- one call is never torn, and what is held together stays together

static void *lines(void *argument) {
    int number = (int)(long)argument;
    for (int i = 0; i < 20; i++) {
        CHECK(fprintf(stream, "%d:%d:%s:%.3f:%s\n", number, i, "abcdefghij", i / 8.0, "end") > 0);
        flockfile(stream);
        CHECK(fputs("begin", stream) >= 0);
        flockfile(stream); // again
        for (int j = 0; j < 5; j++) {
            CHECK(putc('0' + number, stream) == '0' + number);
            sched_yield();
        }
        funlockfile(stream);
        CHECK(putc_unlocked(' ', stream) == ' ');
        CHECK(fwrite("done\n", 1, 5, stream) == 5);
        funlockfile(stream);
    }
    return NULL;
}

static void check_line(const char *line) {
    int number, i;
    double eighths;
    char text[32], digits[32];
    if (sscanf(line, "%d:%d:%10[a-j]:%lf:end\n", &number, &i, text, &eighths) == 4) {
        CHECK(eighths >= i / 8.0 - 0.001 && eighths <= i / 8.0 + 0.001);
        return;
    }
    CHECK(sscanf(line, "begin%5[0-9] done\n", digits) == 1);
    CHECK(strlen(digits) == 5 && strspn(digits, (char[]){digits[0], 0}) == 5);
}

static void together(void) {
    pthread_t threads[4];
    char line[128];
    int count = 0;
    CHECK((stream = tmpfile()) != NULL);
    for (long i = 0; i < 4; i++)
        CHECK(pthread_create(&threads[i], NULL, lines, (void *)i) == 0);
    for (int i = 0; i < 4; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    rewind(stream);
    for (; fgets(line, sizeof line, stream); count++)
        check_line(line);
    CHECK(count == 160);
    CHECK(fclose(stream) == 0);
}

// --- everything waits while another holds it

static int released;

static void *hold(void *unused) {
    (void)unused;
    flockfile(stream);
    pthread_barrier_wait(&ready);
    for (int i = 0; i < 30; i++)
        sched_yield();
    __atomic_store_n(&released, 1, __ATOMIC_SEQ_CST);
    funlockfile(stream);
    return NULL;
}

static void use_formatted(void) {
    CHECK(fprintf(stream, "%s %d %g", "x", 1, 2.5) == 7);
}

static void use_va_list(void) {
    print_by(stream, "%d %g %d %g %d %g %d %g %d %g", 1, 1., 2, 2., 3, 3., 4, 4., 5, 5.);
}

static void use_characters(void) {
    CHECK(fputc('c', stream) == 'c');
}

static void use_block(void) {
    CHECK(fwrite("block", 5, 1, stream) == 1);
}

static void use_text(void) {
    CHECK(fputs("text", stream) >= 0);
}

static void use_flush(void) {
    CHECK(fflush(stream) == 0);
}

static void use_flush_all(void) {
    CHECK(fflush(NULL) == 0);
}

static void use_position(void) {
    CHECK(fseek(stream, 0, SEEK_SET) == 0);
}

static void use_state(void) {
    CHECK(!ferror(stream));
}

static void waits(void (*use)(void)) {
    pthread_t thread;
    CHECK(pthread_barrier_init(&ready, NULL, 2) == 0);
    CHECK((stream = tmpfile()) != NULL);
    released = 0;
    CHECK(pthread_create(&thread, NULL, hold, NULL) == 0);
    pthread_barrier_wait(&ready);
    CHECK(ftrylockfile(stream) != 0 || __atomic_load_n(&released, __ATOMIC_SEQ_CST));
    use();
    CHECK(__atomic_load_n(&released, __ATOMIC_SEQ_CST) == 1);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(fclose(stream) == 0);
    CHECK(pthread_barrier_destroy(&ready) == 0);
}

// --- not locked by request: then nobody waits

static void *hold_until_told(void *unused) {
    (void)unused;
    flockfile(stream);
    pthread_barrier_wait(&ready);
    pthread_barrier_wait(&ready);
    funlockfile(stream);
    return NULL;
}

static void unlocked(void) {
    pthread_t thread;
    CHECK(pthread_barrier_init(&ready, NULL, 2) == 0);
    CHECK((stream = tmpfile()) != NULL);
    CHECK(pthread_create(&thread, NULL, hold_until_told, NULL) == 0);
    pthread_barrier_wait(&ready);
    CHECK(ftrylockfile(stream) != 0);
    CHECK(fputs_unlocked("a", stream) >= 0);
    CHECK(__fsetlocking(stream, FSETLOCKING_BYCALLER) == FSETLOCKING_INTERNAL);
    CHECK(fputs("b", stream) >= 0); // does not lock now
    CHECK(__fsetlocking(stream, FSETLOCKING_INTERNAL) == FSETLOCKING_BYCALLER);
    pthread_barrier_wait(&ready);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(ftrylockfile(stream) == 0);
    CHECK(ftrylockfile(stream) == 0);
    funlockfile(stream);
    funlockfile(stream);
    CHECK(ftell(stream) == 2);
    CHECK(fclose(stream) == 0);
    CHECK(pthread_barrier_destroy(&ready) == 0);
}

// --- a stream whose write is the program's own, and gives way in the middle

static char collected[4096];
static size_t collected_size;
static int writing;

static ssize_t slow_write(void *cookie, const char *from, size_t size) {
    (void)cookie;
    CHECK(writing++ == 0); // the stream's lock keeps the others out
    sched_yield();
    memcpy(collected + collected_size, from, size);
    sched_yield();
    collected_size += size;
    writing--;
    return (ssize_t)size;
}

static void *write_some(void *argument) {
    for (int i = 0; i < 10; i++)
        CHECK(fprintf(stream, "%s\n", (char *)argument) > 0);
    return NULL;
}

static void own_stream(void) {
    pthread_t threads[3];
    char *texts[3] = {"one", "two", "three"};
    CHECK((stream = fopencookie(NULL, "w", (cookie_io_functions_t){.write = slow_write})) != NULL);
    setlinebuf(stream);
    for (int i = 0; i < 3; i++)
        CHECK(pthread_create(&threads[i], NULL, write_some, texts[i]) == 0);
    for (int i = 0; i < 3; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(fclose(stream) == 0);
    CHECK(collected_size == 10 * (4 + 4 + 6));
}

int main(void) {
    void (*const uses[])(void) = {use_formatted, use_va_list,   use_characters, use_block, use_text,
                                  use_flush,     use_flush_all, use_position,   use_state};
    together();
    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++)
        waits(uses[i]);
    unlocked();
    own_stream();
    return 0;
}
