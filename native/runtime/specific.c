// SPDX-License-Identifier: Apache-2.0
// What a thread keeps for itself: values of pthread keys and destructors of thread_local objects.
//
// The latter are libc's: its list is in TLS, hence already the green thread's own, and a call of
// exit by any thread runs it. Only the end of a thread has to be told to it.
#include "threads.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>

static struct key {
    bool used;
    void (*destructor)(void *);
} keys[PTHREAD_KEYS_MAX] EW_LARGE;

static void (*call_tls_destructors)(void);
static struct ew_thread before_start; // for libraries that set keys before the runtime is ready

static struct ew_thread *self(void) {
    return ew_self ? ew_self : &before_start;
}

void ew_specific_start(struct ew_thread *first) {
    first->specific = before_start.specific;
    call_tls_destructors = (void (*)(void))dlsym(RTLD_NEXT, "__call_tls_dtors");
    if (!call_tls_destructors)
        ew_cannot("libc has no __call_tls_dtors: thread_local objects would not be destroyed");
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

EW_EXPORT int __pthread_key_create(pthread_key_t *key, void (*destructor)(void *)) {
    return pthread_key_create(key, destructor);
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
    call_tls_destructors();
    for (int i = 0; i < PTHREAD_DESTRUCTOR_ITERATIONS && run_key_destructors(ew_self); i++)
        ;
    if (ew_self->specific)
        raw3(SYS_munmap, (long)ew_self->specific, PTHREAD_KEYS_MAX * sizeof(void *), 0);
    ew_self->specific = NULL;
}
