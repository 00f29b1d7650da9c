// SPDX-License-Identifier: Apache-2.0
// Children that are not ours and that need something of us: input, or to go on.
// replayed
#include "check.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>

static int status_of(pid_t child) {
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    return status;
}

static pid_t start(const char *command, int in, int out) {
    pid_t child = fork();
    CHECK(child >= 0);
    if (child)
        return child;
    CHECK(dup2(in, 0) == 0 && dup2(out, 1) == 1);
    for (int i = 3; i < 20; i++)
        close(i);
    execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    _exit(127);
}

static void line_by_line(void) {
    int to[2], from[2];
    char line[32] = "";
    CHECK(pipe(to) == 0 && pipe(from) == 0);
    pid_t child = start("read a; echo got $a; read b; exit $b", to[0], from[1]);
    CHECK(write(to[1], "one\n", 4) == 4);
    CHECK(read(from[0], line, sizeof line - 1) == 8 && strcmp(line, "got one\n") == 0);
    CHECK(write(to[1], "4\n", 2) == 2);
    CHECK(WEXITSTATUS(status_of(child)) == 4);
    for (int i = 0; i < 2; i++)
        close(to[i]), close(from[i]);
}

static void *reads(void *end) {
    char data[4096];
    size_t total = 0;
    for (ssize_t got; (got = read(*(int *)end, data, sizeof data)) > 0;)
        total += (size_t)got;
    return (void *)total;
}

// More than fits into both pipes.
static void all_at_once(void) {
    static char data[200000];
    int to[2], from[2];
    void *total;
    pthread_t reader;
    memset(data, 'x', sizeof data);
    CHECK(pipe(to) == 0 && pipe(from) == 0);
    pid_t child = start("exec cat", to[0], from[1]);
    close(to[0]), close(from[1]);
    CHECK(pthread_create(&reader, NULL, reads, &from[0]) == 0);
    CHECK(write(to[1], data, sizeof data) == sizeof data);
    close(to[1]);
    CHECK(pthread_join(reader, &total) == 0 && (size_t)total == sizeof data);
    CHECK(status_of(child) == 0);
    close(from[0]);
}

static void through_a_stream(void) {
    FILE *stream = popen("read a b; exit $b", "w");
    CHECK(stream && fprintf(stream, "1 7\n") == 4);
    CHECK(WEXITSTATUS(pclose(stream)) == 7);
}

static void stops(void) {
    int status;
    pid_t child = fork();
    if (child == 0) {
        raise(SIGSTOP);
        kill(getpid(), SIGTSTP); // an orphaned group may be spared this one
        _exit(5);
    }
    CHECK(waitpid(child, &status, WUNTRACED) == child && WSTOPSIG(status) == SIGSTOP);
    CHECK(kill(child, SIGCONT) == 0);
    while (waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status))
        CHECK(kill(child, SIGCONT) == 0);
    CHECK(WEXITSTATUS(status) == 5);
}

static void ended_by_descriptor(void) {
    pid_t child = start("exec sleep 100", 0, 1);
    int process = pidfd_open(child, 0);
    CHECK(process >= 0);
    CHECK(pidfd_send_signal(process, 0, NULL, 0) == 0);
    CHECK(pidfd_send_signal(process, SIGTERM, NULL, 0) == 0);
    CHECK(WTERMSIG(status_of(child)) == SIGTERM);
    CHECK(pidfd_send_signal(process, 0, NULL, 0) == -1);
    close(process);
}

int main(void) {
    line_by_line();
    all_at_once();
    through_a_stream();
    stops();
    ended_by_descriptor();
    return 0;
}
