// SPDX-License-Identifier: Apache-2.0
// Children that stop and go on, that another thread makes, that are known by a descriptor;
// commands.
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

static void stops(void) {
    int status;
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        raise(SIGSTOP);
        _exit(5);
    }
    CHECK(waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status));
    CHECK(WSTOPSIG(status) == SIGSTOP);
    CHECK(waitpid(child, &status, WUNTRACED | WNOHANG) == 0);
    CHECK(kill(child, SIGCONT) == 0);
    CHECK(waitpid(child, &status, WCONTINUED) == child);
    if (WIFCONTINUED(status))
        CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 5);
    CHECK(waitpid(child, &status, 12345678) == -1 && errno == EINVAL);
}

// --- who waits for any child also waits for one that comes later

static int gate[2];

static void *make_another(void *unused) {
    (void)unused;
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0)
        _exit(6);
    return NULL;
}

static void comes_later(void) {
    int status;
    pthread_t thread;
    CHECK(pipe(gate) == 0);
    pid_t first = fork();
    CHECK(first >= 0);
    if (first == 0) {
        char byte;
        close(gate[1]);
        _exit(read(gate[0], &byte, 1) == 1 ? 0 : 1);
    }
    CHECK(pthread_create(&thread, NULL, make_another, NULL) == 0);
    pid_t ended = wait(&status);
    CHECK(ended > 0 && ended != first && WEXITSTATUS(status) == 6);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(write(gate[1], "x", 1) == 1);
    CHECK(wait(&status) == first && status == 0);
    close(gate[0]);
    close(gate[1]);
}

static void by_descriptor(void) {
    siginfo_t info = {0};
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0)
        pause();
    int fd = (int)syscall(SYS_pidfd_open, child, 0);
    if (fd < 0 && errno == ENOSYS)
        return;
    struct pollfd one = {fd, POLLIN, 0};
    CHECK(fd >= 0 && poll(&one, 1, 0) == 0);
    CHECK(kill(child, SIGKILL) == 0);
    CHECK(poll(&one, 1, -1) == 1 && one.revents & POLLIN);
    CHECK(waitid(P_PIDFD, (id_t)fd, &info, WEXITED) == 0);
    CHECK(info.si_pid == child && info.si_code == CLD_KILLED && info.si_status == SIGKILL);
    close(fd);
}

// --- commands, while another thread works

static volatile int stop;

static void *work(void *unused) {
    while (!stop)
        sched_yield();
    return unused;
}

static void commands(void) {
    pthread_t thread;
    char line[64];
    CHECK(pthread_create(&thread, NULL, work, NULL) == 0);
    CHECK(system(NULL) != 0);
    CHECK(WEXITSTATUS(system("exit 3")) == 3);
    FILE *from = popen("read line; echo got $line", "r");
    CHECK(from && fgets(line, sizeof line, from) && strcmp(line, "got\n") == 0);
    CHECK(fgets(line, sizeof line, from) == NULL && pclose(from) == 0);
    FILE *to = popen("read line; test \"$line\" = word", "w");
    CHECK(to && fprintf(to, "word\n") == 5 && pclose(to) == 0);
    CHECK(popen("true", "q") == NULL && errno == EINVAL);
    stop = 1;
    CHECK(pthread_join(thread, NULL) == 0);
}

// --- many at once, and none that could be watched

static void many(void) {
    pid_t children[70];
    int there[2], status;
    char byte;
    CHECK(pipe(there) == 0);
    for (int i = 0; i < 70; i++) {
        CHECK((children[i] = fork()) >= 0);
        if (children[i] == 0) {
            close(there[1]);
            _exit(i == 69 || read(there[0], &byte, 1) == 0 ? i : 100);
        }
    }
    CHECK(wait(&status) == children[69] && WEXITSTATUS(status) == 69);
    close(there[1]);
    for (int i = 0; i < 69; i++)
        CHECK(waitpid(children[i], &status, 0) == children[i] && WEXITSTATUS(status) == i);
    close(there[0]);
    CHECK(wait(NULL) == -1 && errno == ECHILD);
}

static void without_descriptors(void) {
    struct rlimit limit, none;
    int there[2], status;
    char byte;
    CHECK(pipe(there) == 0 && getrlimit(RLIMIT_NOFILE, &limit) == 0);
    for (int i = 0; i < 2; i++) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            nanosleep(&(struct timespec){0, 1000000}, NULL);
            _exit(read(there[0], &byte, 1) == 1 ? 7 : 8);
        }
        none = (struct rlimit){3, limit.rlim_max};
        CHECK(write(there[1], "x", 1) == 1 && setrlimit(RLIMIT_NOFILE, &none) == 0);
        CHECK(waitpid(i ? -1 : child, &status, 0) == child && WEXITSTATUS(status) == 7);
        CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    }
    close(there[0]);
    close(there[1]);
}

int main(void) {
    many();
    without_descriptors();
    stops();
    comes_later();
    by_descriptor();
    commands();
    return 0;
}
