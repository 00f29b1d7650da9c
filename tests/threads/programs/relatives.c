// SPDX-License-Identifier: Apache-2.0
// Processes of one program in the ways that are harder: which one, the first argument says.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static char *program;
static int balance, forks;

static void *deposit(void *amount) {
    for (int i = 0; i < 3; i++) {
        int seen = balance;
        balance = seen + (int)(long)amount;
    }
    return NULL;
}

static int race(void) {
    pthread_t threads[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, deposit, (void *)(i + 1));
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return balance;
}

static void tell(const char *who) {
    char line[99];
    int length = snprintf(line, sizeof line, "%s %d: %d\n", who, getpid(), race());
    if (write(1, line, (size_t)length) != length)
        abort();
}

static void become(const char *how) {
    execl(program, program, how, NULL);
    abort();
}

static void report(pid_t child) {
    int status;
    pid_t got = waitpid(child, &status, 0);
    printf("%d %d\n", got == child, status);
}

// The first process is gone before its grandchild has begun to work.
static void orphan(void) {
    if (fork() == 0) {
        setsid();
        if (fork() == 0) {
            tell("grandchild");
            become("test");
        }
        _exit(0);
    }
}

static volatile sig_atomic_t asked;
static void ask(int number) {
    asked = number;
}

static void await_death(int ready) {
    if (write(ready, "", 1) != 1)
        abort();
    for (;;)
        pause();
}

static void killed(void) {
    int numbers[] = {SIGKILL, SIGTERM, SIGUSR1}, ends[2];
    char ready;
    if (pipe(ends))
        abort();
    for (int i = 0; i < 3; i++) {
        pid_t child = fork();
        if (child == 0) {
            race();
            await_death(ends[1]);
        }
        if (read(ends[0], &ready, 1) != 1)
            abort();
        kill(child, numbers[i]);
        report(child);
    }
    pid_t child = fork();
    if (child == 0) {
        sigset_t set, none;
        sigemptyset(&none);
        sigemptyset(&set);
        sigaddset(&set, SIGUSR2);
        sigprocmask(SIG_BLOCK, &set, NULL);
        signal(SIGUSR2, ask);
        if (write(ends[1], "", 1) != 1)
            abort();
        while (!asked)
            sigsuspend(&none);
        tell("asked");
        _exit(asked);
    }
    if (read(ends[0], &ready, 1) != 1)
        abort();
    kill(child, SIGUSR2);
    report(child);
    child = fork();
    if (child == 0)
        execlp("sleep", "sleep", "1000", NULL);
    kill(child, SIGTERM);
    report(child);
}

static void closing(void) {
    for (int i = 0; i < 2; i++) {
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            if (i == 0)
                close_range(3, ~0u, 0);
            for (int fd = 3; i == 1 && fd < 1024; fd++)
                close(fd);
            tell("closed");
            become("test");
        }
        report(child);
    }
}

// More than a pipe holds, and the reader waits for the end of the writer before it closes its end.
static void talk(void) {
    static char data[1 << 16];
    int ends[2];
    size_t all = 0;
    if (pipe(ends))
        abort();
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        memset(data, race(), sizeof data);
        for (int i = 0; i < 8; i++)
            if (write(ends[1], data, sizeof data) < 0)
                abort();
        _exit(3);
    }
    close(ends[1]);
    for (ssize_t got; (got = read(ends[0], data, sizeof data)) > 0;)
        all += (size_t)got;
    printf("%zu bytes of %d\n", all, data[0]);
    report(child);
    FILE *stream = popen("./relatives count", "r");
    char line[99];
    for (all = 0; fgets(line, sizeof line, stream);)
        all++;
    printf("%zu lines, %d\n", all, pclose(stream));
}

static void before(void) {
    forks++;
}
static void *fork_here(void *how) {
    pid_t child = fork();
    if (child == 0) {
        printf("%d forks, %d\n", forks, race());
        fflush(stdout);
        become("test");
    }
    report(child);
    if (how)
        become(how);
    return NULL;
}

static void threads(void) {
    pthread_t two[2];
    pthread_atfork(before, before, before);
    for (int i = 0; i < 2; i++)
        pthread_create(&two[i], NULL, fork_here, NULL);
    race();
    for (int i = 0; i < 2; i++)
        pthread_join(two[i], NULL);
    fflush(stdout);
    pthread_create(&two[0], NULL, fork_here, "test");
    pthread_join(two[0], NULL);
    abort(); // the other became another program
}

static void clean(void) {
    char *arguments[] = {program, "environment", NULL}, *nothing[] = {NULL};
    fflush(stdout);
    if (fork() == 0) {
        execve(program, arguments, nothing);
        abort();
    }
    wait(NULL);
}

static void bomb(void) {
    int made = 0;
    for (; made < 100; made++) {
        pid_t child = fork();
        if (child == 0)
            _exit(race());
        if (child < 0)
            break;
        waitpid(child, NULL, 0);
    }
    printf("%d made, %d\n", made, made < 100 && errno == EAGAIN);
}

int main(int count, char **words) {
    const char *how = count > 1 ? words[1] : "";
    program = words[0];
    if (strcmp(how, "test") == 0)
        tell("test");
    else if (strcmp(how, "orphan") == 0)
        orphan();
    else if (strcmp(how, "killed") == 0)
        killed();
    else if (strcmp(how, "closing") == 0)
        closing();
    else if (strcmp(how, "talk") == 0)
        talk();
    else if (strcmp(how, "count") == 0)
        for (int i = 0; i < 10000; i++)
            printf("line %d of %d\n", i, race());
    else if (strcmp(how, "threads") == 0)
        threads();
    else if (strcmp(how, "clean") == 0)
        clean();
    else if (strcmp(how, "environment") == 0)
        for (char **at = environ; *at; at++)
            printf("%zu %s\n", strlen(*at), *at);
    else if (strcmp(how, "bomb") == 0)
        bomb();
    return 0;
}
