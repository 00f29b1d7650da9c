// SPDX-License-Identifier: Apache-2.0
// fork, exec and their kin, called by any thread.
#include "descriptors.h"
#include "input.h"
#include "pids.h"
#include "schedule.h"
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
    ew_schedule_forked();
    ew_input_forked();
    ew_pids_forked();
    ew_trace_stop();
    ew_scheduler_forked();
    ew_outside_forked();
    ew_threads_forked();
    ew_signals_forked();
    ew_loading_forked();
    ew_futex_forked();
    ew_once_forked();
    ew_streams_forked();
    ew_timers_forked();
    ew_signals_release();
}

static pid_t (*real_fork)(void), (*real__Fork)(void);

// What comes in between is the child's, or the parent's, and not lost with what the child forgets.
static pid_t fork_bare(void) {
    REAL(_Fork);
    ew_signals_hold();
    pid_t child = real__Fork();
    if (child == 0)
        in_child();
    else
        ew_signals_release();
    return child;
}

EW_EXPORT pid_t fork(void) {
    REAL(fork);
    ew_point(EW_WHY_SYNC);
    ew_descriptors_shared();
    pid_t child = real_fork();
    return child == 0 ? 0 : ew_pid_made(child);
}

EW_EXPORT pid_t __fork(void) {
    return fork();
}

EW_EXPORT pid_t _Fork(void) { // runs no handlers, so not ours either
    ew_point(EW_WHY_SYNC);
    ew_descriptors_shared();
    pid_t child = fork_bare();
    return child == 0 ? 0 : ew_pid_made(child);
}

// A child that shared our memory would run our threads. So it gets a copy, and the caller waits, as
// with vfork, until the child has gone another way: then the only writer of the pipe is gone.
EW_EXPORT pid_t vfork(void) {
    int ends[2];
    ew_point(EW_WHY_SYNC);
    ew_descriptors_shared();
    if (raw3(SYS_pipe2, (long)ends, O_CLOEXEC, 0) < 0) {
        errno = EAGAIN;
        return -1;
    }
    pid_t child = fork_bare();
    if (child == 0) {
        raw1(SYS_close, ends[0]);
        return 0;
    }
    raw1(SYS_close, ends[1]);
    struct pollfd end = {ends[0], POLLIN, 0};
    while (child > 0 && raw3(SYS_poll, (long)&end, 1, 0) == 0)
        ew_wait_outside(&end, 1, EW_NEVER);
    raw1(SYS_close, ends[0]);
    return ew_pid_made(child);
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

#define EXEC(name, ...)                                                                            \
    do {                                                                                           \
        REAL(name);                                                                                \
        ew_point(EW_WHY_SYNC);                                                                     \
        ew_mask_show();                                                                            \
        bool paused = ew_trace_pause();                                                            \
        ew_alarm_show();                                                                           \
        real_##name(__VA_ARGS__);                                                                  \
        ew_alarm_hide();                                                                           \
        ew_trace_resume(paused);                                                                   \
        ew_signals_release();                                                                      \
        return -1;                                                                                 \
    } while (0)

EW_EXPORT int execve(const char *path, char *const arguments[], char *const variables[]) {
    EXEC(execve, path, arguments, variables);
}

EW_EXPORT int execvpe(const char *file, char *const arguments[], char *const variables[]) {
    EXEC(execvpe, file, arguments, variables);
}

EW_EXPORT int fexecve(int descriptor, char *const arguments[], char *const variables[]) {
    EXEC(fexecve, descriptor, arguments, variables);
}

EW_EXPORT int execveat(int directory, const char *path, char *const arguments[],
                       char *const variables[], int flags) {
    EXEC(execveat, directory, path, arguments, variables, flags);
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

EW_EXPORT int posix_spawn(pid_t *child, const char *path, const posix_spawn_file_actions_t *actions,
                          const posix_spawnattr_t *attributes, char *const arguments[],
                          char *const variables[]) {
    REAL(posix_spawn);
    ew_point(EW_WHY_SYNC);
    ew_descriptors_shared();
    ew_mask_show();
    int error = real_posix_spawn(child, path, actions, attributes, arguments, variables);
    ew_signals_release();
    return error;
}

EW_EXPORT int posix_spawnp(pid_t *child, const char *file,
                           const posix_spawn_file_actions_t *actions,
                           const posix_spawnattr_t *attributes, char *const arguments[],
                           char *const variables[]) {
    REAL(posix_spawnp);
    ew_point(EW_WHY_SYNC);
    ew_descriptors_shared();
    ew_mask_show();
    int error = real_posix_spawnp(child, file, actions, attributes, arguments, variables);
    ew_signals_release();
    return error;
}
