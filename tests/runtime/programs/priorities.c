// SPDX-License-Identifier: Apache-2.0
// replayed
// What is asked and told by the number of a process, its own or another's: priorities, limits,
// clocks. The numbers are others in a replay.
#include "check.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

static pid_t child;
static int ends[2]; // the child lives until they are closed

static void start_child(void) {
    char byte;
    CHECK(pipe(ends) == 0);
    if ((child = fork()) == 0) {
        close(ends[1]);
        _exit(read(ends[0], &byte, 1) != 0);
    }
    close(ends[0]);
}

static void end_child(void) {
    int status;
    close(ends[1]);
    CHECK(waitpid(child, &status, 0) == child && status == 0);
}

static void schedulers(pid_t number) {
    struct sched_param priority = {-1};
    CHECK(sched_getscheduler(number) == SCHED_OTHER);
    CHECK(sched_getparam(number, &priority) == 0 && priority.sched_priority == 0);
    CHECK(sched_setparam(number, &priority) == 0);
    CHECK(sched_setscheduler(number, SCHED_BATCH, &priority) == 0);
    CHECK(sched_getscheduler(number) == SCHED_BATCH);
    CHECK(sched_setscheduler(number, SCHED_OTHER, &priority) == 0);
    priority.sched_priority = 200;
    CHECK(sched_setscheduler(number, SCHED_FIFO, &priority) == -1 && errno == EINVAL);
    CHECK(sched_setparam(number, &priority) == -1 && errno == EINVAL);
    cpu_set_t set;
    CHECK(sched_getaffinity(number, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0);
    CHECK(sched_setaffinity(number, sizeof set, &set) == 0);
}

static void nobody(void) {
    struct sched_param priority = {0};
    clockid_t clock;
    pid_t gone = fork();
    if (gone == 0)
        _exit(0);
    CHECK(waitpid(gone, NULL, 0) == gone);
    CHECK(sched_getscheduler(gone) == -1 && errno == ESRCH);
    CHECK(sched_setscheduler(gone, SCHED_OTHER, &priority) == -1 && errno == ESRCH);
    CHECK(sched_getparam(gone, &priority) == -1 && errno == ESRCH);
    CHECK(getpriority(PRIO_PROCESS, (id_t)gone) == -1 && errno == ESRCH);
    CHECK(setpriority(PRIO_PROCESS, (id_t)gone, 0) == -1 && errno == ESRCH);
    CHECK(prlimit(gone, RLIMIT_CORE, NULL, &(struct rlimit){0}) == -1 && errno == ESRCH);
    CHECK(clock_getcpuclockid(gone, &clock) == ESRCH);
}

static void how_nice(void) {
    errno = 0;
    int before = getpriority(PRIO_PROCESS, (id_t)getpid());
    CHECK(errno == 0 && getpriority(PRIO_PROCESS, 0) == before);
    CHECK(syscall(SYS_getpriority, PRIO_PROCESS, getpid()) == 20 - before);
    CHECK(setpriority(PRIO_PROCESS, (id_t)child, before) == 0);
    CHECK(getpriority(PRIO_PROCESS, (id_t)child) == before);
    CHECK(getpriority(77, 0) == -1 && errno == EINVAL);
    int after = nice(1);
    CHECK(after == before + 1 || after == 19);
    CHECK(getpriority(PRIO_PROCESS, 0) == after);
}

static void limits(void) {
    struct rlimit own, other, same;
    CHECK(getrlimit(RLIMIT_CORE, &own) == 0);
    CHECK(prlimit(getpid(), RLIMIT_CORE, NULL, &same) == 0 && same.rlim_max == own.rlim_max);
    CHECK(prlimit(child, RLIMIT_CORE, NULL, &other) == 0 && other.rlim_max == own.rlim_max);
    struct rlimit none = {0, own.rlim_max};
    CHECK(prlimit(child, RLIMIT_CORE, &none, NULL) == 0);
    CHECK(prlimit(getpid(), RLIMIT_CORE, &none, &same) == 0 && same.rlim_cur == own.rlim_cur);
    CHECK(getrlimit(RLIMIT_CORE, &own) == 0 && own.rlim_cur == 0);
    CHECK(prlimit(0, (__rlimit_resource_t)77, NULL, &same) == -1 && errno == EINVAL);
}

static sem_t begun, go;

static void *works_and_waits(void *unused) {
    for (volatile int i = 0; i < 100000; i++)
        ;
    CHECK(sem_post(&begun) == 0);
    sem_wait(&go);
    return unused;
}

static long nanoseconds(clockid_t clock) {
    struct timespec time;
    CHECK(clock_gettime(clock, &time) == 0);
    return time.tv_sec * 1000000000 + time.tv_nsec;
}

static void clocks(void) {
    clockid_t own, others, of_thread;
    pthread_t thread;
    CHECK(clock_getcpuclockid(getpid(), &own) == 0 && clock_getcpuclockid(child, &others) == 0);
    CHECK(nanoseconds(own) > 0 && nanoseconds(others) >= 0);
    CHECK(pthread_create(&thread, NULL, works_and_waits, NULL) == 0);
    sem_wait(&begun);
    CHECK(pthread_getcpuclockid(thread, &of_thread) == 0);
    CHECK(nanoseconds(of_thread) > 0);
    CHECK(nanoseconds(CLOCK_PROCESS_CPUTIME_ID) > nanoseconds(of_thread));
    long before = nanoseconds(of_thread), own_before = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
    for (volatile int i = 0; i < 100000; i++)
        ;
    CHECK(nanoseconds(of_thread) - before < nanoseconds(CLOCK_THREAD_CPUTIME_ID) - own_before);
    CHECK(sem_post(&go) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
}

int main(void) {
    start_child();
    schedulers(0);
    schedulers(getpid());
    schedulers(child);
    nobody();
    how_nice();
    limits();
    clocks();
    end_child();
    return 0;
}
