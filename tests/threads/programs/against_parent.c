// SPDX-License-Identifier: Apache-2.0
// In one order of two accesses it does what its first word says, to its parent or to everybody, and
// says what came of it. With a second word it has done many steps before.
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int ready;
static const char *what;

// Past libc, so that nobody sees it.
static long unseen(long number, long first, long second) {
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(first), "S"(second)
                     : "rcx", "r11", "memory");
    return result;
}

static long kill_unseen(int number) {
    return unseen(SYS_kill, unseen(SYS_getppid, 0, 0), number);
}

static long by_descriptor(void) {
    int parent = pidfd_open(getppid(), 0);
    long result = pidfd_send_signal(parent, SIGKILL, NULL, 0);
    close(parent);
    return result;
}

// Others than its parent are reached: a child that has left the group.
static long all_with_a_child(void) {
    int ends[2], status = 0;
    char byte;
    if (pipe(ends))
        return 1;
    pid_t child = fork();
    if (child == 0) {
        setsid();
        (void)!write(ends[1], "", 1);
        for (;;)
            pause();
    }
    if (read(ends[0], &byte, 1) != 1 || kill(-1, SIGKILL))
        return 2;
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL ? 0 : 3;
}

// Its parent hears of every signal then, also of one that says nothing to it.
static long ask_to_be_traced(void) {
    long result = ptrace(PTRACE_TRACEME, 0, 0, 0);
    return result ? result : unseen(SYS_kill, unseen(SYS_getpid, 0, 0), SIGWINCH);
}

static long act(void) {
    struct {
        const char *name;
        long (*function)(void);
    } more[] = {{"pidfd", by_descriptor}, {"all_with_a_child", all_with_a_child}};
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        if (strcmp(what, more[i].name) == 0)
            return more[i].function();
#define CASE(name, call)                                                                           \
    if (strcmp(what, name) == 0)                                                                   \
        return call;
    CASE("kill_unseen", kill_unseen(SIGKILL))
    CASE("term_unseen", kill_unseen(SIGTERM))
    CASE("stop_unseen", kill_unseen(SIGSTOP))
    CASE("all_unseen", unseen(SYS_kill, -1, SIGKILL))
    pid_t parent = getppid();
    CASE("kill", kill(parent, SIGKILL))
    CASE("term", kill(parent, SIGTERM))
    CASE("stop", kill(parent, SIGSTOP))
    CASE("ask", kill(parent, 0))
    CASE("no_signal", kill(parent, 99))
    CASE("all", kill(-1, SIGKILL))
    CASE("sigqueue", sigqueue(parent, SIGKILL, (union sigval){0}))
    CASE("tgkill", tgkill(parent, parent, SIGKILL))
    CASE("syscall", syscall(SYS_tgkill, parent, parent, SIGKILL))
    CASE("seize", ptrace(PTRACE_SEIZE, parent, 0, PTRACE_O_EXITKILL))
    CASE("ask_to_be_traced", ask_to_be_traced())
    CASE("attach", syscall(SYS_ptrace, PTRACE_ATTACH, parent, 0, 0))
    return 0;
}

static void *make(void *unused) {
    ready = 1;
    return unused;
}

static void *use(void *unused) {
    if (!ready) {
        errno = 0;
        long result = act();
        printf("%ld %d\n", result, errno);
        fflush(stdout);
    }
    return unused;
}

int main(int count, char **arguments) {
    if (count < 2)
        return 64;
    what = arguments[1];
    static volatile int steps;
    for (int i = 0; count > 2 && i < 60000; i++)
        steps++;
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, make, NULL);
    pthread_create(&threads[1], NULL, use, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
