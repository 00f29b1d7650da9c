// SPDX-License-Identifier: Apache-2.0
// What others may ask about a thread or wish of it: its stack, name and processors.
//
// On one carrier processors mean nothing; what the program sets is checked as the kernel would
// check it, and told again when asked.
#include "input.h"
#include "resident.h"
#include "threads.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/prctl.h>

// --- processors

static void affinity_of(const struct ew_thread *thread, cpu_set_t *set) {
    memset(set, 0, sizeof *set);
    if (thread->life.has_affinity)
        *set = thread->life.affinity;
    else {
        raw3(SYS_sched_getaffinity, 0, sizeof *set, (long)set);
        ew_input(EW_INPUT_DATA, set, sizeof *set, sizeof *set);
    }
}

// The kernel says whether it would do, and what it would make of it; then all is as before.
static int try_affinity(const cpu_set_t *wish, size_t size, cpu_set_t *result) {
    cpu_set_t before;
    memset(&before, 0, sizeof before);
    memset(result, 0, sizeof *result);
    long error = raw3(SYS_sched_getaffinity, 0, sizeof before, (long)&before);
    if (error >= 0)
        error = raw3(SYS_sched_setaffinity, 0, (long)size, (long)wish);
    if (error < 0)
        return (int)-error;
    raw3(SYS_sched_getaffinity, 0, sizeof *result, (long)result);
    raw3(SYS_sched_setaffinity, 0, sizeof before, (long)&before);
    return 0;
}

static int set_affinity(struct ew_thread *thread, size_t size, const cpu_set_t *wish) {
    int error = try_affinity(wish, size, &thread->life.affinity);
    if (!error)
        thread->life.has_affinity = true;
    return error;
}

static int get_affinity(const struct ew_thread *thread, size_t size, cpu_set_t *result) {
    cpu_set_t set;
    affinity_of(thread, &set);
    if (size < sizeof set) // as the kernel: all possible processors must fit
        for (size_t i = size; i < sizeof set; i++)
            if (((const char *)&set)[i])
                return EINVAL;
    memset(result, 0, size);
    memcpy(result, &set, size < sizeof set ? size : sizeof set);
    return 0;
}

EW_EXPORT int pthread_setaffinity_np(pthread_t handle, size_t size, const cpu_set_t *wish) {
    struct ew_thread *thread = ew_thread_of(handle);
    return thread ? set_affinity(thread, size, wish) : ESRCH;
}

EW_EXPORT int pthread_getaffinity_np(pthread_t handle, size_t size, cpu_set_t *result) {
    struct ew_thread *thread = ew_thread_of(handle);
    return thread ? get_affinity(thread, size, result) : ESRCH;
}

EW_EXPORT int sched_setaffinity(pid_t number, size_t size, const cpu_set_t *wish) {
    struct ew_thread *thread = ew_thread_numbered(number);
    if (thread)
        return (int)ew_result(-set_affinity(thread, size, wish));
    return (int)ew_result(
        ew_input_call(SYS_sched_setaffinity, number, (long)size, (long)wish, 0, 0, 0));
}

EW_EXPORT int sched_getaffinity(pid_t number, size_t size, cpu_set_t *result) {
    struct ew_thread *thread = ew_thread_numbered(number);
    if (thread)
        return (int)ew_result(-get_affinity(thread, size, result));
    memset(result, 0, size);
    long got = ew_input_call(SYS_sched_getaffinity, number, (long)size, (long)result, 0, 0, 0);
    if (got > 0)
        ew_input(EW_INPUT_DATA, result, (size_t)got, size);
    return (int)ew_result(got < 0 ? got : 0);
}

// The first processor that it may use: an answer that does not change from run to run.
EW_EXPORT int sched_getcpu(void) {
    cpu_set_t set;
    affinity_of(ew_self, &set);
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &set))
            return i;
    return 0;
}

EW_EXPORT int pthread_getcpuclockid(pthread_t handle, clockid_t *clock) {
    const struct ew_thread *thread = ew_thread_of(handle);
    if (!thread)
        return ESRCH;
    *clock = ew_clock_of_thread(ew_thread_number(thread));
    return 0;
}

// --- names

EW_EXPORT int pthread_setname_np(pthread_t handle, const char *name) {
    struct ew_thread *thread = ew_thread_of(handle);
    size_t length = strlen(name);
    if (length >= sizeof thread->life.name)
        return ERANGE;
    if (!thread)
        return ESRCH;
    memcpy(thread->life.name, name, length + 1);
    if (UNLIKELY(ew_tracing))
        ew_trace_name(thread);
    if (thread->life.first) // what ps and top show
        raw3(SYS_prctl, PR_SET_NAME, (long)thread->life.name, 0);
    return 0;
}

EW_EXPORT int pthread_getname_np(pthread_t handle, char *name, size_t size) {
    struct ew_thread *thread = ew_thread_of(handle);
    if (!thread)
        return ESRCH;
    if (strlen(thread->life.name) >= size)
        return ERANGE;
    strcpy(name, thread->life.name);
    return 0;
}

static void rename_self(const char *name) {
    char cut[sizeof ew_self->life.name] = "";
    strncpy(cut, name, sizeof cut - 1);
    pthread_setname_np(ew_self->fs, cut);
}

EW_EXPORT int prctl(int option, ...) {
    va_list list;
    va_start(list, option);
    long a = va_arg(list, long), b = va_arg(list, long), c = va_arg(list, long),
         d = va_arg(list, long);
    va_end(list);
    if (option == PR_SET_NAME && ew_running) {
        rename_self((const char *)a);
        return 0;
    }
    if (option == PR_GET_NAME && ew_running) {
        memcpy((char *)a, ew_self->life.name, sizeof ew_self->life.name);
        return 0;
    }
    if (option == PR_SET_SECCOMP)
        ew_resident_tell();
    long result = raw6(SYS_prctl, option, a, b, c, d, 0);
    return (int)ew_result(result);
}

// --- attribute objects

// Of the first thread the kernel's stack, which glibc finds in the list of mappings.
static int stack_of_first(const struct ew_thread *thread, pthread_attr_t *attributes) {
    static int (*real)(pthread_t, pthread_attr_t *);
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "pthread_getattr_np");
    if (!real)
        return ENOSYS;
    ew_running = false; // that list is of this run, and not of the one that was recorded
    int error = real((pthread_t)thread->fs, attributes);
    ew_running = true;
    return error;
}

EW_EXPORT int pthread_getattr_np(pthread_t handle, pthread_attr_t *attributes) {
    struct ew_thread *thread = ew_thread_of(handle);
    if (!thread)
        return ESRCH;
    int error =
        thread->life.first ? stack_of_first(thread, attributes) : pthread_attr_init(attributes);
    if (error)
        return error;
    if (!thread->life.first)
        pthread_attr_setstack(attributes, thread->stack, thread->stack_size);
    pthread_attr_setguardsize(attributes, thread->life.guard);
    pthread_attr_setdetachstate(attributes, thread->detached ? PTHREAD_CREATE_DETACHED
                                                             : PTHREAD_CREATE_JOINABLE);
    struct sched_param priority = {.sched_priority = thread->life.priority};
    pthread_attr_setschedpolicy(attributes, thread->life.policy);
    pthread_attr_setschedparam(attributes, &priority);
    cpu_set_t set;
    affinity_of(thread, &set);
    return pthread_attr_setaffinity_np(attributes, sizeof set, &set);
}

static int take_priority(struct ew_thread *thread, const pthread_attr_t *attributes) {
    int inherit = PTHREAD_INHERIT_SCHED, policy = 0;
    struct sched_param wish = {0};
    pthread_attr_getinheritsched(attributes, &inherit);
    if (inherit != PTHREAD_EXPLICIT_SCHED)
        return 0;
    pthread_attr_getschedpolicy(attributes, &policy);
    pthread_attr_getschedparam(attributes, &wish);
    return ew_priority_set(thread, policy, wish.sched_priority);
}

static int take_affinity(struct ew_thread *thread, const pthread_attr_t *attributes) {
    cpu_set_t wish;
    if (pthread_attr_getaffinity_np(attributes, sizeof wish, &wish) != 0 ||
        CPU_COUNT(&wish) == CPU_SETSIZE)
        return 0; // not set
    return set_affinity(thread, sizeof wish, &wish);
}

int ew_attributes_take(struct ew_thread *thread, const pthread_attr_t *attributes) {
    const struct ew_life *creator = &ew_self->life;
    struct ew_life *life = &thread->life;
    memcpy(life->name, creator->name, sizeof life->name);
    life->mask = creator->mask;
    life->policy = creator->policy;
    life->priority = creator->priority;
    life->has_affinity = creator->has_affinity;
    life->affinity = creator->affinity;
    if (!attributes)
        return 0;
    int detach = PTHREAD_CREATE_JOINABLE;
    pthread_attr_getdetachstate(attributes, &detach);
    thread->detached = detach == PTHREAD_CREATE_DETACHED;
    sigset_t mask;
    if (pthread_attr_getsigmask_np(attributes, &mask) == 0)
        memcpy(&life->mask, &mask, sizeof life->mask);
    int error = take_priority(thread, attributes);
    return error ? error : take_affinity(thread, attributes);
}

void ew_attributes_start(struct ew_thread *first) {
    raw3(SYS_prctl, PR_GET_NAME, (long)first->life.name, 0);
}
