// SPDX-License-Identifier: Apache-2.0
// Who waits for what, when no thread can go on.
#include "bare.h"
#include "mutex.h"

#include <string.h>
#include <sys/uio.h>

#define SHOWN 32 // threads; a program may have thousands

static bool is_mutex(const struct ew_thread *thread) {
    return thread->wants.op == EW_OP_ACQUIRE && thread->wants.size == sizeof(pthread_mutex_t);
}

static char *put(char *at, const char *words) {
    size_t length = strlen(words);
    memcpy(at, words, length);
    return at + length;
}

static char *put_number(char *at, const char *words, uint32_t number) {
    char digits[16];
    int count = 0;
    at = put(at, words);
    do
        digits[count++] = (char)('0' + number % 10);
    while (number /= 10);
    while (count)
        *at++ = digits[--count];
    return at;
}

static char *put_mutex(char *at, const struct ew_mutex *mutex) {
    return mutex->owner ? put(put_number(at, "a mutex that thread ", mutex->owner - 1), " holds")
                        : put(at, "a mutex");
}

static char *put_wanted(char *at, const struct ew_thread *thread) {
    if (thread->life.joins)
        return put_number(at, "the end of thread ", thread->life.joins->id);
    if (!thread->wants.op)
        return put(at, "something that nobody brings");
    if (is_mutex(thread))
        return put_mutex(at, thread->wants.object);
    return put(at, thread->wants.op == EW_OP_ACQUIRE ? "a lock" : "somebody to wake it");
}

static void tell(const struct ew_thread *thread) {
    char line[128], *at = put_number(line, "  thread ", thread->id);
    at = put_wanted(put(at, " waits for "), thread);
    *at++ = '\n';
    ew_say(&(struct iovec){line, (size_t)(at - line)}, 1);
}

_Noreturn void ew_stuck(void) {
    static char head[] = "eitherway: deadlock: no thread of the program can go on\n";
    ew_say(&(struct iovec){head, sizeof head - 1}, 1);
    uint32_t shown = 0;
    for (uint32_t id = 0; shown < SHOWN && shown < ew_thread_count(); id++) {
        const struct ew_thread *thread = ew_thread_with(id);
        if (!thread)
            continue;
        shown++;
        if (thread->state == EW_BLOCKED)
            tell(thread);
    }
    ew_end(EW_BARE_STATUS);
}
