// SPDX-License-Identifier: Apache-2.0
// fork, exec and their kin, called by any thread.
#include "bare.h"
#include "clocks.h"
#include "descriptors.h"
#include "family.h"
#include "input.h"
#include "pids.h"
#include "polling.h"
#include "threads.h"
#include "timers.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define REAL(name) real((void **)&real_##name, #name)

static void real(void **function, const char *name) {
    if (!*function)
        *function = dlsym(RTLD_NEXT, name);
    if (!*function)
        ew_cannot("libc lacks a function that starts processes");
}

// --- fork

// The child's one thread is the one that forked. Runs before the program's own atfork handlers,
// because it was registered before them.
static void in_child(void) {
    ew_trace_stop();
    ew_scheduler_forked();
    ew_clocks_forked();
    ew_outside_forked();
    ew_threads_forked();
    ew_mutexes_forked();
    ew_signals_forked();
    ew_loading_forked();
    ew_futex_forked();
    ew_once_forked();
    ew_streams_forked();
    ew_timers_forked();
    ew_family_forked();
    ew_pids_forked();
    ew_signals_release();
}

static pid_t (*real_fork)(void), (*real__Fork)(void);

static bool begin_fork(void) {
    ew_point(EW_WHY_SYNC);
    ew_descriptors_shared();
    return ew_family_forking();
}

static pid_t forked(pid_t child) {
    if (child == 0)
        return 0;
    ew_family_fork_made(child);
    return ew_pid_made(child);
}

EW_EXPORT pid_t fork(void) {
    REAL(fork);
    return begin_fork() ? forked(real_fork()) : ew_pid_made(-1);
}

EW_EXPORT pid_t __fork(void) {
    return fork();
}

// What comes in between is the child's, or the parent's, and not lost with what the child forgets.
static pid_t fork_bare(void) { // runs no handlers, so not ours either
    REAL(_Fork);
    ew_signals_hold();
    pid_t child = real__Fork();
    if (child == 0)
        in_child();
    else
        ew_signals_release();
    return child;
}

EW_EXPORT pid_t _Fork(void) {
    return begin_fork() ? forked(fork_bare()) : ew_pid_made(-1);
}

// The child's end of the pipe is the only one that can write to it.
static void until_gone(int end) {
    struct pollfd polled = {end, POLLIN, 0};
    while (ew_look_at(&polled, 1, true) == 0)
        ew_wait_outside(&polled, 1, EW_NEVER);
    while (raw3(SYS_poll, (long)&polled, 1, -1) == -EINTR)
        ; // in a replay the child has yet to come so far
}

// A child that shared our memory would run our threads. So it gets a copy, and the caller waits, as
// with vfork, until the child has gone another way: then the only writer of the pipe is gone.
EW_EXPORT pid_t vfork(void) {
    int ends[2];
    ew_report("vfork",
              "the child has a copy of the memory: the parent does not see what it stores");
    if (!begin_fork())
        return ew_pid_made(-1);
    if (raw3(SYS_pipe2, (long)ends, O_CLOEXEC, 0) < 0) {
        errno = EAGAIN;
        return forked(-1);
    }
    for (int i = 0; i < 2; i++)
        ends[i] = ew_out_of_the_way(ends[i]);
    pid_t child = fork_bare();
    if (child == 0) {
        raw1(SYS_close, ends[0]);
        return 0;
    }
    raw1(SYS_close, ends[1]);
    if (child > 0)
        until_gone(ends[0]);
    raw1(SYS_close, ends[0]);
    return forked(child);
}

EW_EXPORT pid_t __vfork(void) {
    return vfork();
}

void ew_processes_start(void) {
    pthread_atfork(ew_signals_hold, ew_signals_release, in_child);
}

// --- exec: the new program inherits the mask of the thread that calls

static int (*real_execve)(const char *, char *const[], char *const[]);
static int (*real_execvpe)(const char *, char *const[], char *const[]);
static int (*real_fexecve)(int, char *const[], char *const[]);
static int (*real_execveat)(int, const char *, char *const[], char *const[], int);

static bool before_exec(void) {
    ew_point(EW_WHY_SYNC);
    ew_mask_show();
    ew_pending_show();
    ew_family_becoming(true);
    bool paused = ew_trace_pause();
    ew_alarm_show();
    return paused;
}

static int exec_failed(bool paused) {
    ew_alarm_hide();
    ew_trace_resume(paused);
    ew_family_becoming(false);
    ew_pending_hide();
    ew_signals_release();
    return -1;
}

// What a program that is started knows of the run, beside what the caller wants it to know.
#define WITH_OPTIONS(variables)                                                                    \
    char *room[ew_family_environment_room(variables)];                                             \
    variables = ew_family_environment(variables, room)

EW_EXPORT int execve(const char *path, char *const arguments[], char *const *variables) {
    REAL(execve);
    bool paused = before_exec();
    WITH_OPTIONS(variables);
    real_execve(path, arguments, variables);
    return exec_failed(paused);
}

EW_EXPORT int execvpe(const char *file, char *const arguments[], char *const *variables) {
    REAL(execvpe);
    bool paused = before_exec();
    WITH_OPTIONS(variables);
    real_execvpe(file, arguments, variables);
    return exec_failed(paused);
}

EW_EXPORT int fexecve(int descriptor, char *const arguments[], char *const *variables) {
    REAL(fexecve);
    bool paused = before_exec();
    WITH_OPTIONS(variables);
    real_fexecve(descriptor, arguments, variables);
    return exec_failed(paused);
}

EW_EXPORT int execveat(int directory, const char *path, char *const arguments[],
                       char *const *variables, int flags) {
    REAL(execveat);
    bool paused = before_exec();
    WITH_OPTIONS(variables);
    real_execveat(directory, path, arguments, variables, flags);
    return exec_failed(paused);
}

EW_EXPORT int execv(const char *path, char *const arguments[]) {
    return execve(path, arguments, environ);
}

EW_EXPORT int execvp(const char *file, char *const arguments[]) {
    return execvpe(file, arguments, environ);
}

static size_t count_arguments(va_list list) {
    size_t count = 1;
    va_list copy;
    va_copy(copy, list);
    while (va_arg(copy, char *))
        count++;
    va_end(copy);
    return count;
}

static void copy_arguments(char *arguments[], const char *first, va_list list) {
    arguments[0] = (char *)first;
    for (size_t i = 1; first && (arguments[i] = va_arg(list, char *)); i++)
        ;
}

EW_EXPORT int execl(const char *path, const char *first, ...) {
    va_list list;
    va_start(list, first);
    char *arguments[count_arguments(list) + 1];
    copy_arguments(arguments, first, list);
    va_end(list);
    return execve(path, arguments, environ);
}

EW_EXPORT int execlp(const char *file, const char *first, ...) {
    va_list list;
    va_start(list, first);
    char *arguments[count_arguments(list) + 1];
    copy_arguments(arguments, first, list);
    va_end(list);
    return execvpe(file, arguments, environ);
}

EW_EXPORT int execle(const char *path, const char *first, ...) {
    va_list list;
    va_start(list, first);
    char *arguments[count_arguments(list) + 1];
    copy_arguments(arguments, first, list);
    char **variables = va_arg(list, char **);
    va_end(list);
    return execve(path, arguments, variables);
}

// --- spawn

typedef int spawn(pid_t *, const char *, const posix_spawn_file_actions_t *,
                  const posix_spawnattr_t *, char *const[], char *const[]);
static spawn *real_posix_spawn, *real_posix_spawnp;

// The number of a child is told before its end can be.
static int spawn_by(spawn *libc, pid_t *child, const char *path,
                    const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes,
                    char *const arguments[], char *const *variables) {
    pid_t made = -1;
    ew_point(EW_WHY_SYNC);
    ew_descriptors_shared();
    ew_mask_show();
    WITH_OPTIONS(variables);
    int error = libc(&made, path, actions, attributes, arguments, variables);
    ew_signals_release();
    made = ew_pid_made(error ? -error : made);
    if (made > 0 && child)
        *child = made;
    return made > 0 ? 0 : -made;
}

EW_EXPORT int posix_spawn(pid_t *child, const char *path, const posix_spawn_file_actions_t *actions,
                          const posix_spawnattr_t *attributes, char *const arguments[],
                          char *const variables[]) {
    REAL(posix_spawn);
    return spawn_by(real_posix_spawn, child, path, actions, attributes, arguments, variables);
}

EW_EXPORT int posix_spawnp(pid_t *child, const char *file,
                           const posix_spawn_file_actions_t *actions,
                           const posix_spawnattr_t *attributes, char *const arguments[],
                           char *const variables[]) {
    REAL(posix_spawnp);
    return spawn_by(real_posix_spawnp, child, file, actions, attributes, arguments, variables);
}

// --- the end

EW_EXPORT _Noreturn void _exit(int status) {
    if (LIKELY(ew_running))
        ew_point(EW_WHY_SYNC);
    if (ew_bare_failed())
        status = EW_BARE_STATUS;
    ew_family_ended(0, (status & 0xFF) << 8);
    ew_trace_finish();
    for (;;)
        raw1(SYS_exit_group, status);
}

EW_EXPORT _Noreturn void _Exit(int status) {
    _exit(status);
}
