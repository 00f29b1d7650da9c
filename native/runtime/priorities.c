// SPDX-License-Identifier: Apache-2.0
// Priorities of threads, which mean nothing on one carrier: what the program sets is checked as the
// kernel would check it, and told again when asked. Of other processes the kernel is asked, and
// nothing is changed in a replay.
#include "input.h"
#include "threads.h"

#include <errno.h>
#include <sched.h>
#include <sys/resource.h>

static bool is_policy(int policy) {
    return policy == SCHED_OTHER || policy == SCHED_BATCH || policy == SCHED_IDLE ||
           policy == SCHED_FIFO || policy == SCHED_RR;
}

static bool is_realtime(int policy) {
    return policy == SCHED_FIFO || policy == SCHED_RR;
}

static bool may_have(int priority) {
    struct {
        uint64_t soft, hard;
    } limit = {0, 0};
    raw6(SYS_prlimit64, 0, 14 /* RLIMIT_RTPRIO */, 0, (long)&limit, 0, 0);
    return raw1(SYS_geteuid, 0) == 0 || (uint64_t)priority <= limit.soft;
}

int ew_priority_set(struct ew_thread *thread, int policy, int priority) {
    if (!is_policy(policy) || priority < raw1(SYS_sched_get_priority_min, policy) ||
        priority > raw1(SYS_sched_get_priority_max, policy))
        return EINVAL;
    if (is_realtime(policy) && !may_have(priority))
        return EPERM;
    thread->life.policy = policy;
    thread->life.priority = priority;
    return 0;
}

EW_EXPORT int pthread_setschedparam(pthread_t handle, int policy, const struct sched_param *wish) {
    struct ew_thread *thread = ew_thread_of(handle);
    return thread ? ew_priority_set(thread, policy, wish->sched_priority) : ESRCH;
}

EW_EXPORT int pthread_setschedprio(pthread_t handle, int priority) {
    struct ew_thread *thread = ew_thread_of(handle);
    return thread ? ew_priority_set(thread, thread->life.policy, priority) : ESRCH;
}

EW_EXPORT int pthread_getschedparam(pthread_t handle, int *policy, struct sched_param *result) {
    struct ew_thread *thread = ew_thread_of(handle);
    if (!thread)
        return ESRCH;
    *policy = thread->life.policy;
    result->sched_priority = thread->life.priority;
    return 0;
}

// --- by the number of a thread or process

static long ask(long number, long a, long b, long c) {
    return ew_running ? ew_input_call(number, a, b, c, 0, 0, 0) : raw3(number, a, b, c);
}

EW_EXPORT int sched_getscheduler(pid_t number) {
    const struct ew_thread *thread = ew_thread_numbered(number);
    return thread ? thread->life.policy : (int)ew_result(ask(SYS_sched_getscheduler, number, 0, 0));
}

EW_EXPORT int sched_setscheduler(pid_t number, int policy, const struct sched_param *wish) {
    struct ew_thread *thread = ew_thread_numbered(number);
    int plain = policy & ~SCHED_RESET_ON_FORK;
    return (int)ew_result(thread ? -ew_priority_set(thread, plain, wish->sched_priority)
                                 : ask(SYS_sched_setscheduler, number, policy, (long)wish));
}

EW_EXPORT int sched_setparam(pid_t number, const struct sched_param *wish) {
    struct ew_thread *thread = ew_thread_numbered(number);
    return (int)ew_result(thread
                              ? -ew_priority_set(thread, thread->life.policy, wish->sched_priority)
                              : ask(SYS_sched_setparam, number, (long)wish, 0));
}

EW_EXPORT int sched_getparam(pid_t number, struct sched_param *result) {
    const struct ew_thread *thread = ew_thread_numbered(number);
    long error = thread ? 0 : ask(SYS_sched_getparam, number, (long)result, 0);
    if (thread)
        result->sched_priority = thread->life.priority;
    else if (!error && ew_running)
        ew_input(EW_INPUT_DATA, result, sizeof *result, sizeof *result);
    return (int)ew_result(error);
}

// --- how nice a process is

// The kernel's answer is 20 less the value, lest it look like an error.
EW_EXPORT int getpriority(__priority_which_t which, id_t who) {
    long got = ask(SYS_getpriority, (long)which, who, 0);
    return got < 0 ? (int)ew_result(got) : 20 - (int)got;
}

EW_EXPORT int setpriority(__priority_which_t which, id_t who, int value) {
    return (int)ew_result(ask(SYS_setpriority, (long)which, who, value));
}

EW_EXPORT int nice(int by) {
    long before = ask(SYS_getpriority, PRIO_PROCESS, 0, 0);
    long error = ask(SYS_setpriority, PRIO_PROCESS, 0, 20 - before + by);
    if (error)
        return (int)ew_result(error == -EACCES ? -EPERM : error);
    return 20 - (int)ask(SYS_getpriority, PRIO_PROCESS, 0, 0);
}
