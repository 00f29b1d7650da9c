// SPDX-License-Identifier: Apache-2.0
// Every thread has its own thread-local variables and errno at every moment: also behind a fork by
// a thread, again and again, where others have the memory that control blocks would like to have,
// and where the kernel refuses what a runtime may want for them.
#include "check.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum { THREADS = 6, ROUNDS = 20, GENERATIONS = 4 };

static _Thread_local long mine;
static _Thread_local char large[3000];

static void *works(void *number) {
    mine = (long)number;
    large[2999] = (char)mine;
    for (int i = 0; i < ROUNDS; i++) {
        errno = (int)mine * 100 + i;
        sched_yield();
        CHECK(errno == (int)mine * 100 + i);
        CHECK(mine == (long)number && large[2999] == (char)mine);
    }
    return &mine;
}

static void all_work(void) {
    pthread_t threads[THREADS];
    for (long i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, works, (void *)(i + 1)) == 0);
    for (int i = 0; i < THREADS; i++)
        for (int k = 0; k < i; k++)
            CHECK(!pthread_equal(threads[i], threads[k]));
    for (int i = 0; i < THREADS; i++) {
        void *where;
        CHECK(!pthread_equal(threads[i], pthread_self()));
        CHECK(pthread_join(threads[i], &where) == 0 && where != &mine);
    }
}

static void in_child(void (*work)(void)) {
    int status;
    pid_t child = fork();
    if (child == 0) {
        work();
        exit(3);
    }
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 3);
}

static int generation;

static void *forks(void *unused);

static void thread_that_forks(void) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, forks, NULL) == 0);
    all_work();
    CHECK(pthread_join(thread, NULL) == 0);
}

static void *forks(void *unused) {
    mine = 1000 + generation;
    large[0] = 'g';
    all_work();
    if (++generation < GENERATIONS)
        in_child(thread_that_forks);
    all_work();
    CHECK(mine == 999 + generation || generation == GENERATIONS);
    CHECK(large[0] == 'g');
    return unused;
}

// All below 4 GiB that is free, in parts.
static void without_low_memory(void) {
    for (unsigned long at = 1 << 20; at < 1ul << 32; at += 1 << 20)
        mmap((void *)at, 1 << 20, PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    all_work();
}

static void without_descriptor_tables(void) {
    struct sock_filter lines[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_modify_ldt, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {sizeof lines / sizeof *lines, lines};
    CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0);
    all_work();
}

int main(void) {
    in_child(without_low_memory); // before there is any other thread
    in_child(without_descriptor_tables);
    all_work();
    thread_that_forks();
    in_child(without_low_memory);
    return 0;
}
