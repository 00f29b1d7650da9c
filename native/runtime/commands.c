// SPDX-License-Identifier: Apache-2.0
// system, popen and pclose: libc's would wait for the command with the carrier.
#include "threads.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int start_shell(pid_t *child, const char *command, posix_spawn_file_actions_t *actions,
                       const posix_spawnattr_t *attributes) {
    char *const arguments[] = {"sh", "-c", (char *)command, NULL};
    return posix_spawn(child, "/bin/sh", actions, attributes, arguments, environ);
}

// --- system

static int status_of(pid_t child) {
    int status;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return status;
}

// POSIX: the caller ignores SIGINT and SIGQUIT and blocks SIGCHLD; the command does not.
static int run(const char *command, const struct sigaction *interrupt, const struct sigaction *quit,
               const sigset_t *mask) {
    posix_spawnattr_t attributes;
    sigset_t defaults;
    pid_t child;
    sigemptyset(&defaults);
    if (interrupt->sa_handler != SIG_IGN)
        sigaddset(&defaults, SIGINT);
    if (quit->sa_handler != SIG_IGN)
        sigaddset(&defaults, SIGQUIT);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, mask);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    int error = start_shell(&child, command, NULL, &attributes);
    posix_spawnattr_destroy(&attributes);
    return error ? 127 << 8 : status_of(child);
}

EW_EXPORT int system(const char *command) {
    static uint32_t running; // several threads at once: the first sets, the last gives back
    static struct sigaction interrupt, quit;
    if (!command)
        return system("exit 0") == 0;
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigset_t child, mask;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    if (running++ == 0) {
        sigaction(SIGINT, &ignore, &interrupt);
        sigaction(SIGQUIT, &ignore, &quit);
    }
    pthread_sigmask(SIG_BLOCK, &child, &mask);
    int status = run(command, &interrupt, &quit, &mask);
    if (--running == 0) {
        sigaction(SIGINT, &interrupt, NULL);
        sigaction(SIGQUIT, &quit, NULL);
    }
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    return status;
}

// --- popen

static struct stream {
    FILE *file;
    pid_t child;
    struct stream *next;
} *streams;

// A command does not inherit the streams of others, as POSIX has it.
static int start_command(struct stream *stream, const char *command, int theirs, int as) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    for (struct stream *other = streams; other; other = other->next)
        if (fileno(other->file) != as)
            posix_spawn_file_actions_addclose(&actions, fileno(other->file));
    posix_spawn_file_actions_adddup2(&actions, theirs, as);
    int error = start_shell(&stream->child, command, &actions, NULL);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

static int open_stream(struct stream *stream, const char *command, bool reads, bool keep) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return errno;
    int ours = ends[!reads], theirs = ends[reads];
    int error = start_command(stream, command, theirs, reads ? 1 : 0);
    close(theirs);
    if (!error && !keep)
        fcntl(ours, F_SETFD, 0);
    if (!error && !(stream->file = fdopen(ours, reads ? "r" : "w")))
        error = errno;
    if (error)
        close(ours);
    return error;
}

EW_EXPORT FILE *popen(const char *command, const char *type) {
    bool reads = strchr(type, 'r'), writes = strchr(type, 'w');
    struct stream *stream = reads == writes ? NULL : calloc(1, sizeof *stream);
    int error = reads == writes ? EINVAL : ENOMEM;
    if (stream)
        error = open_stream(stream, command, reads, strchr(type, 'e'));
    if (error) {
        free(stream);
        errno = error;
        return NULL;
    }
    stream->next = streams;
    streams = stream;
    return stream->file;
}

EW_EXPORT int pclose(FILE *file) {
    struct stream **at = &streams;
    while (*at && (*at)->file != file)
        at = &(*at)->next;
    struct stream *stream = *at;
    if (!stream) {
        errno = ECHILD;
        return -1;
    }
    *at = stream->next;
    fclose(file);
    int status = status_of(stream->child);
    free(stream);
    return status;
}
