// SPDX-License-Identifier: Apache-2.0
// pthread_once and call_once: the first caller runs the function, the others wait for its end.
//
// When the function does not return (an exception, or its thread is cancelled), it has not been
// run: the next caller runs it, behind what was done so far, as C++ has it of exceptions. So this
// file is compiled with unwind tables and -fexceptions.
#include "sync.h"
#include "threads.h"

#include <threads.h>

// In a pthread_once_t; PTHREAD_ONCE_INIT is 0. Higher bits say in which process it is running: one
// that another thread had begun when the process was forked is not running in the child.
enum { NOT_YET, RUNNING, DONE, LEFT, PROCESS = 4 };
static int running = RUNNING;

_Static_assert(PTHREAD_ONCE_INIT == NOT_YET, "glibc's initialiser must mean the same");
_Static_assert(sizeof(once_flag) == sizeof(pthread_once_t), "C11's is another name for it");

struct run {
    pthread_once_t *once;
    int becomes;
    const void *pc;
};

static void finish(struct run *run) {
    if (UNLIKELY(ew_watched))
        ew_tell(EW_OP_WAKE, EW_FLAG_CUMULATIVE, run->once, sizeof *run->once, run->pc);
    *run->once = run->becomes;
    ew_wake_all(run->once);
}

void ew_once_forked(void) {
    running += PROCESS;
}

static void run_it(pthread_once_t *once, void (*function)(void), const void *pc) {
    __attribute__((cleanup(finish))) struct run run = {once, LEFT, pc};
    *once = running;
    function();
    run.becomes = DONE;
}

static int do_once(pthread_once_t *once, void (*function)(void), const void *pc) {
    ew_point(EW_WHY_SYNC);
    while (*once == running)
        ew_wait_wanting(EW_OP_WAIT, 0, once, sizeof *once, pc);
    if (UNLIKELY(ew_watched) && (*once == DONE || *once == LEFT))
        ew_tell(EW_OP_WAIT, 0, once, sizeof *once, pc);
    if (*once != DONE)
        run_it(once, function, pc);
    return 0;
}

EW_EXPORT int pthread_once(pthread_once_t *once, void (*function)(void)) {
    return do_once(once, function, PC);
}

EW_EXPORT void call_once(once_flag *once, void (*function)(void)) {
    do_once((pthread_once_t *)once, function, PC);
}

EW_ALIAS(__pthread_once, pthread_once);
