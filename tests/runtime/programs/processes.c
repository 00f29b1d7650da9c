// SPDX-License-Identifier: Apache-2.0
// Other programs started by threads: posix_spawn, system, popen, vfork, exec; masks are inherited.
#include "check.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

extern char **environ;
static sem_t never;

static int status_of(pid_t child) {
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    return status;
}

static void block(int number) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    CHECK(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
}

// The shell ends by SIGTERM, or with 5 if it inherited that it is blocked.
static char *const kills_itself[] = {"sh", "-c", "kill -TERM $$; exit 5", NULL};

static int spawned(void) {
    pid_t child;
    CHECK(posix_spawn(&child, "/bin/sh", NULL, NULL, kills_itself, environ) == 0);
    return status_of(child);
}

static int forked(void) {
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        execv("/bin/sh", kills_itself);
        _exit(9);
    }
    return status_of(child);
}

static void *with_mask(void *unused) {
    (void)unused;
    block(SIGTERM);
    CHECK(WEXITSTATUS(spawned()) == 5);
    CHECK(WEXITSTATUS(forked()) == 5);
    return NULL;
}

static void *without_mask(void *unused) {
    (void)unused;
    CHECK(WTERMSIG(spawned()) == SIGTERM);
    CHECK(WTERMSIG(forked()) == SIGTERM);
    return NULL;
}

static void *runs_commands(void *unused) {
    (void)unused;
    CHECK(WEXITSTATUS(system("exit 3")) == 3);
    CHECK(WTERMSIG(system("kill -KILL $$")) == SIGKILL);
    CHECK(system(NULL) != 0);
    FILE *pipe = popen("echo hello", "r");
    char line[16] = "";
    CHECK(pipe && fgets(line, sizeof line, pipe) && strcmp(line, "hello\n") == 0);
    CHECK(pclose(pipe) == 0);
    pipe = popen("read word; test \"$word\" = go && exit 4", "w");
    CHECK(pipe && fputs("go\n", pipe) >= 0);
    CHECK(WEXITSTATUS(pclose(pipe)) == 4);
    CHECK(popen("true", "x") == NULL && errno == EINVAL);
    return NULL;
}

static void *vforks(void *unused) {
    (void)unused;
    pid_t child = vfork();
    if (child == 0)
        _exit(6);
    CHECK(child > 0 && WEXITSTATUS(status_of(child)) == 6);
    child = vfork();
    if (child == 0) {
        execl("/bin/sh", "sh", "-c", "exit 8", (char *)NULL);
        _exit(1);
    }
    CHECK(WEXITSTATUS(status_of(child)) == 8);
    pid_t no = -1;
    char *const arguments[] = {"none", NULL};
    CHECK(posix_spawn(&no, "/nonexistent", NULL, NULL, arguments, environ) == ENOENT);
    CHECK(posix_spawnp(&no, "true", NULL, NULL, arguments, environ) == 0);
    CHECK(status_of(no) == 0);
    CHECK(execv("/nonexistent", arguments) == -1 && errno == ENOENT);
    return NULL;
}

static void *execs(void *unused) {
    (void)unused;
    execlp("sh", "sh", "-c", "test \"$0\" = zero && exit 2", "zero", (char *)NULL);
    _exit(1);
}

static void *waits(void *unused) {
    (void)unused;
    sem_wait(&never);
    return NULL;
}

static void together(void *(*const functions[])(void *), int count) {
    pthread_t threads[8];
    for (int i = 0; i < count; i++)
        CHECK(pthread_create(&threads[i], NULL, functions[i], NULL) == 0);
    for (int i = 0; i < count; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
}

// exec by one thread is the end of all others.
static void exec_among_others(void) {
    pthread_t thread;
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        CHECK(pthread_create(&thread, NULL, waits, NULL) == 0);
        CHECK(pthread_create(&thread, NULL, execs, NULL) == 0);
        pthread_join(thread, NULL);
        _exit(1);
    }
    CHECK(WEXITSTATUS(status_of(child)) == 2);
}

int main(void) {
    void *(*const functions[])(void *) = {with_mask, without_mask, runs_commands, vforks};
    sem_init(&never, 0, 0);
    together(functions, 4);
    exec_among_others();
    return 0;
}
