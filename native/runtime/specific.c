// SPDX-License-Identifier: Apache-2.0
// What a thread keeps for itself: values of pthread keys and destructors of thread_local objects.
#include "threads.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static struct key {
    bool used;
    void (*destructor)(void *);
} keys[PTHREAD_KEYS_MAX];

struct ew_tls_destructor {
    void (*function)(void *);
    void *object;
    struct ew_tls_destructor *next;
};

static struct ew_thread before_start; // for libraries that set keys before the runtime is ready

static struct ew_thread *self(void) {
    return ew_self ? ew_self : &before_start;
}

void ew_specific_start(struct ew_thread *first) {
    first->specific = before_start.specific;
    first->tls_destructors = before_start.tls_destructors;
}

EW_EXPORT int pthread_key_create(pthread_key_t *key, void (*destructor)(void *)) {
    for (pthread_key_t i = 0; i < PTHREAD_KEYS_MAX; i++)
        if (!keys[i].used) {
            keys[i] = (struct key){true, destructor};
            *key = i;
            return 0;
        }
    return EAGAIN;
}

EW_EXPORT int pthread_key_delete(pthread_key_t key) {
    if (key >= PTHREAD_KEYS_MAX || !keys[key].used)
        return EINVAL;
    keys[key] = (struct key){false, NULL};
    for (uint32_t i = 0; i < ew_thread_count(); i++)
        if (ew_thread_at(i)->specific)
            ew_thread_at(i)->specific[key] = NULL;
    return 0;
}

EW_EXPORT void *pthread_getspecific(pthread_key_t key) {
    return key < PTHREAD_KEYS_MAX && self()->specific ? self()->specific[key] : NULL;
}

EW_EXPORT int pthread_setspecific(pthread_key_t key, const void *value) {
    if (key >= PTHREAD_KEYS_MAX || !keys[key].used)
        return EINVAL;
    if (!self()->specific)
        self()->specific = ew_pages(PTHREAD_KEYS_MAX * sizeof(void *));
    self()->specific[key] = (void *)value;
    return 0;
}

EW_EXPORT int __cxa_thread_atexit_impl(void (*function)(void *), void *object, void *dso) {
    (void)dso; // a library with living thread_local objects is not unloaded: we never unload
    struct ew_tls_destructor *entry = malloc(sizeof *entry);
    if (!entry)
        return -1;
    *entry = (struct ew_tls_destructor){function, object, self()->tls_destructors};
    self()->tls_destructors = entry;
    return 0;
}

static void run_tls_destructors(struct ew_thread *thread) {
    while (thread->tls_destructors) {
        struct ew_tls_destructor *entry = thread->tls_destructors;
        thread->tls_destructors = entry->next;
        entry->function(entry->object);
        free(entry);
    }
}

static bool run_key_destructors(struct ew_thread *thread) {
    bool ran = false;
    for (pthread_key_t i = 0; thread->specific && i < PTHREAD_KEYS_MAX; i++) {
        void *value = thread->specific[i];
        thread->specific[i] = NULL;
        if (value && keys[i].used && keys[i].destructor) {
            keys[i].destructor(value);
            ran = true;
        }
    }
    return ran;
}

void ew_run_thread_destructors(void) {
    run_tls_destructors(ew_self);
    for (int i = 0; i < PTHREAD_DESTRUCTOR_ITERATIONS && run_key_destructors(ew_self); i++)
        ;
    if (ew_self->specific)
        raw3(SYS_munmap, (long)ew_self->specific, PTHREAD_KEYS_MAX * sizeof(void *), 0);
    ew_self->specific = NULL;
}
