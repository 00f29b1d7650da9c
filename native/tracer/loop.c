// SPDX-License-Identifier: Apache-2.0
// Takes the stops of all threads as they come, until nobody is left.
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "tracer.h"

enum event { MADE = 1, RUNS = 2, ENDED = 3, SIGNALLED = 4 };
enum { RESUMED = -516 }; // ERESTART_RESTARTBLOCK, which programs never see
enum { COMMAND_LINE_MAX = 1 << 16, QUICK_LOOKS = 40, DEFERRED_MAX = 1024 };
enum { DYING = 30 };    // seconds: who was killed on a busy machine; what it was at is written then
enum { COMPUTES = 12 }; // times the patience: for one that computes and makes no call
enum { LOOK_AT_ONCE = 25, LOOK_AGAIN = 4000 }; // microseconds
#define A_NAP (2e-6 * LOOK_AGAIN)
// Seconds of sleep of all: what the kernel does later for who has ended; what is sent again.
#define SETTLED 0.1
#define DELIVERED 1.0

static uint64_t ticks;
static pid_t first;
static int first_status;
static bool first_ended;
static uint64_t without_privileges; // setuid programs
static uint64_t refused_to_trace;   // calls of ptrace

uint64_t tick(void) {
    return ++ticks;
}

static void log_of(const struct thread *thread, enum event kind, uint32_t other, uint64_t value,
                   uint32_t text) {
    log_event(&(struct ew_process_event){.when = tick(),
                                         .value = value,
                                         .thread = (uint32_t)thread->id,
                                         .index = thread->index,
                                         .kind = kind,
                                         .other = other,
                                         .text = text,
                                         .process = (uint32_t)thread->process});
}

static void go_on(struct thread *thread, int signal) {
    thread_goes(thread);
    stop_go(thread->id, thread->where == IN_CALL && !thread->resumes, signal);
}

// The call is over, whether or not it has stopped there.
static void ends(struct thread *thread, int64_t result) {
    if (thread->where == IN_CALL)
        call_leave(thread, result);
    thread->where = ABOUT;
    thread->lends = thread->resumes = false;
    gate_over(thread);
    go_on(thread, 0);
}

// Woken in a call that waits until a time, by a signal that need not mean anything to it: then the
// kernel goes on with it under another number, and to the program it is one call.
static bool resumes(struct thread *thread, int64_t result) {
    thread->resumes = thread->where == IN_CALL && result == RESUMED;
    if (thread->resumes)
        go_on(thread, 0);
    return thread->resumes;
}

// Whether this is the rest of such a call. If it is not, a handler has run, and the call is over.
static bool is_resumed(struct thread *thread, const struct entry *entry) {
    if (!thread->resumes)
        return false;
    thread->resumes = false;
    if (entry->number == SYS_restart_syscall)
        return true;
    call_leave(thread, -EINTR);
    thread->where = ABOUT;
    gate_over(thread);
    return false;
}

// ---- lives

// What the two share, as the flags of clone have it. A call of another ABI is not known: then the
// kernel is asked.
static uint64_t share(struct thread *parent, struct thread *child) {
    uint64_t flags = 0;
    if (parent->where != IN_CALL) {
        child->process = thread_process(child->id);
        flags = CLONE_FS;
    } else if (parent->call.number == SYS_clone) {
        flags = parent->call.a0;
    } else if (parent->call.number == SYS_clone3) {
        memory_read(parent->id, parent->call.a0, &flags, sizeof flags);
    }
    if (flags & CLONE_NEWTIME && parent->call.number == SYS_clone3)
        clock_other_times();
    if (flags & CLONE_THREAD)
        child->process = parent->process;
    shared_inherit(parent, child, flags);
    return parent->where == IN_CALL ? flags : 0;
}

static void made(struct thread *parent, int event) {
    unsigned long id = 0;
    parent->lends = event == PTRACE_EVENT_VFORK;
    ptrace(PTRACE_GETEVENTMSG, parent->id, 0, &id);
    struct thread *child = thread_get((pid_t)id);
    child->known = child->began = true;
    uint64_t shared = share(parent, child);
    processors_inherit(parent, child);
    log_event(&(struct ew_process_event){.when = tick(),
                                         .value = shared,
                                         .thread = (uint32_t)parent->id,
                                         .index = parent->index,
                                         .kind = MADE,
                                         .other = (uint32_t)child->id,
                                         .process = (uint32_t)child->process});
    if (child->waiting) {
        child->waiting = false;
        go_on(child, 0);
    }
    if (!parent->lends) { // all that it returns is known
        ends(parent, (int64_t)id);
        return;
    }
    gate_over(parent); // a vfork is over only when the child runs a program
    go_on(parent, 0);
}

static uint32_t command_line_of(pid_t thread) {
    static char text[COMMAND_LINE_MAX];
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/cmdline", (int)thread);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = file < 0 ? -1 : read(file, text, sizeof text);
    if (file >= 0)
        close(file);
    return length > 0 ? command_line_number(text, (size_t)length) : 0;
}

// Another thread than the first one of its process may have asked for the program: it has become
// the first one.
static struct thread *became(struct thread *thread) {
    unsigned long before = 0;
    ptrace(PTRACE_GETEVENTMSG, thread->id, 0, &before);
    struct thread *asked = thread_find((pid_t)before);
    if (!asked || asked == thread)
        return thread;
    thread->where = asked->where;
    thread->apart = asked->apart;
    thread->shape = asked->shape;
    thread->turn = asked->turn;
    thread->call = asked->call;
    thread->call.thread = (uint32_t)thread->id;
    thread->call.index = thread->index;
    gate_over(asked);
    thread_gone(asked);
    return thread;
}

// By its owner, or by what is noted beside it: to whom that means nothing here, it is another's.
static bool gives_privileges(pid_t thread, const struct stat *program) {
    char path[64];
    if (program->st_mode & S_ISUID)
        return true;
    snprintf(path, sizeof path, "/proc/%d/exe", (int)thread);
    return getxattr(path, "security.capability", NULL, 0) > 0 || errno == EOVERFLOW;
}

// Who has no privilege may filter calls only after it has done without those of setuid programs.
static void count_without_privileges(const struct thread *thread, const struct stat *program) {
    char path[64], text[4096];
    if (!gives_privileges(thread->id, program))
        return;
    snprintf(path, sizeof path, "/proc/%d/status", (int)thread->id);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = file < 0 ? 0 : read(file, text, sizeof text - 1);
    if (file >= 0)
        close(file);
    text[length > 0 ? length : 0] = '\0';
    without_privileges += strstr(text, "NoNewPrivs:\t1") != NULL;
}

static void runs(struct thread *thread) {
    char path[64];
    struct stat program;
    snprintf(path, sizeof path, "/proc/%d/exe", (int)thread->id);
    thread = became(thread);
    bool there = stat(path, &program) == 0;
    uint32_t object = there ? object_of(&program) : 0;
    if (there)
        count_without_privileges(thread, &program);
    log_of(thread, RUNS, object, 0, command_line_of(thread->id));
    start_program(thread);
    timers_executed(thread->process);
    thread->began = true;
    shared_all_closed(thread);
    if (!shared_by_one(thread))
        shared_parts(thread);
    ends(thread, 0);
}

static void ended(struct thread *thread, int status) {
    call_cut_off(thread);
    log_of(thread, ENDED, 0, (uint64_t)(unsigned)status, 0);
    if (thread->id == first) {
        first_ended = true;
        first_status = status;
    }
    thread->where = ABOUT;
    gate_over(thread);
    thread_gone(thread);
}

// ---- stops

// What threads of one process do among themselves: only its time is looked at.
static bool is_own(const struct entry *entry) {
    return entry->number == SYS_futex && entry->arguments[1] & FUTEX_PRIVATE_FLAG;
}

// Calls that are not in the table stop only where what is known here ends with them.
static void notice(struct thread *thread, const struct entry *entry) {
    uint64_t number = entry->number;
    if (is_own(entry)) {
        thread->dozed = true; // only those that have a deadline stop
        if (gate_is_ordered())
            clock_shift(thread, entry->arguments);
        return;
    }
    if (number == SYS_sched_getaffinity || number == SYS_sched_setaffinity) {
        processors_asked(number == SYS_sched_setaffinity);
        return;
    }
    hangs_notice(number, entry->arguments[0]);
    timers_notice(thread, entry);
    if (number == SYS_alarm || number == SYS_setitimer || number == SYS_timer_settime ||
        number == SYS_restart_syscall)
        return; // matters to who makes it alone
    unknown_count(number);
    refused_to_trace += number == SYS_ptrace; // who is traced cannot be traced by another
    if (number == SYS_unshare || number == SYS_setns || number == SYS_chroot ||
        number == SYS_pivot_root || number == SYS_io_uring_setup)
        shared_parts(thread);
    if (number == SYS_unshare || number == SYS_setns)
        clock_other_times();
}

static void call_begins(struct thread *thread) {
    struct entry entry = {0};
    if (!thread->began) {
        go_on(thread, 0);
        return;
    }
    bool known = stop_entry(thread->id, &entry) == 0;
    if (known && is_resumed(thread, &entry)) {
        go_on(thread, 0);
        return;
    }
    if (!known || !call_shape_of(entry.number) || is_own(&entry)) {
        notice(thread, &entry);
        thread_goes(thread);
        stop_go(thread->id, thread->shifted != 0, 0); // its end must be seen then
        return;
    }
    call_enter(thread, &entry);
    gate_arrive(thread);
}

static void call_ends(struct thread *thread) {
    int64_t result = 0;
    clock_put_back(thread);
    if (signals_try_again(thread)) {
        go_on(thread, 0);
        return;
    }
    if (thread->where == IN_CALL && stop_result(thread->id, &result) < 0)
        thread->where = ABOUT; // it is gone
    if (resumes(thread, result))
        return;
    if (thread->where == IN_CALL && ports_try_again(thread, result)) {
        go_on(thread, 0);
        return;
    }
    if (thread->where == IN_CALL)
        signals_make_again(thread, &result);
    ends(thread, result);
}

static void comes_to_be(struct thread *thread, int signal) {
    if (signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU) {
        thread->suspended = true;
        ptrace(PTRACE_LISTEN, thread->id, 0, 0);
        return;
    }
    thread->suspended = false;
    if (thread->known)
        go_on(thread, 0);
    else
        thread->waiting = true;
}

static void gets_signal(struct thread *thread, int signal) {
    siginfo_t info = {0};
    ptrace(PTRACE_GETSIGINFO, thread->id, 0, &info);
    if (!timers_let_come(thread, &info)) {
        go_on(thread, 0);
        return;
    }
    log_of(thread, SIGNALLED, (uint32_t)signal, (uint64_t)(unsigned)info.si_pid, 0);
    go_on(thread, signal);
}

static void take_now(pid_t id, int status) {
    struct thread *thread = thread_get(id);
    thread->stops++;
    if (WIFEXITED(status) || WIFSIGNALED(status)) {
        ended(thread, status);
        return;
    }
    int signal = WSTOPSIG(status), event = status >> 16;
    if (event == PTRACE_EVENT_SECCOMP)
        call_begins(thread);
    else if (signal == (SIGTRAP | 0x80))
        call_ends(thread);
    else if (event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_VFORK ||
             event == PTRACE_EVENT_CLONE)
        made(thread, event);
    else if (event == PTRACE_EVENT_EXEC)
        runs(thread);
    else if (event == PTRACE_EVENT_STOP)
        comes_to_be(thread, signal);
    else
        gets_signal(thread, signal);
}

// ---- ends that come first

// Who ends lets go of its pipes before it tells its parent. Which of the two is noticed first would
// be chance: so what others do meanwhile is looked at when the end is over.
static pid_t expected;
static struct {
    pid_t id;
    int status;
} deferred[DEFERRED_MAX];
static size_t deferred_count;

void loop_expect_end(pid_t thread) {
    expected = thread;
}

static bool may_be_deferred(pid_t id, int status) {
    struct thread *ends = thread_find(expected), *thread = thread_find(id);
    bool ended = WIFEXITED(status) || WIFSIGNALED(status);
    return ends && thread && !ended && thread->process != ends->process &&
           deferred_count < DEFERRED_MAX;
}

static void take(pid_t id, int status) {
    if (may_be_deferred(id, status)) {
        deferred[deferred_count].id = id;
        deferred[deferred_count++].status = status;
        return;
    }
    take_now(id, status);
    if (thread_find(expected))
        return;
    expected = 0;
    for (size_t i = 0; i < deferred_count; i++)
        take_now(deferred[i].id, deferred[i].status);
    deferred_count = 0;
}

// ---- waiting

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

// Something has stopped, or so much time went by; how much did.
static double nap(long microseconds) {
    sigset_t child;
    struct timespec time = {microseconds / 1000000, microseconds % 1000000 * 1000};
    double began = now();
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigtimedwait(&child, NULL, &time);
    return now() - began;
}

enum rest { ALL_REST, ONE_MAY_SLEEP, ONE_RUNS };

static bool is_stopped(const struct thread *thread) {
    return (thread->where == HELD || thread->suspended) && !thread->waiting;
}

// Who was let go and will stop is known: nobody needs to be asked for that.
static void consider_movement(struct thread *thread, void *context) {
    enum rest *rest = context;
    if (thread->moves && !is_stopped(thread))
        *rest = ONE_RUNS;
}

static void consider_rest(struct thread *thread, void *context) {
    enum rest *rest = context;
    if (*rest == ONE_RUNS || is_stopped(thread))
        return;
    if (!thread->moves && !call_gives_output(thread) && thread_sleeps(thread))
        return;
    *rest = thread->where == IN_CALL && call_may_wait(thread) ? ONE_MAY_SLEEP : ONE_RUNS;
}

static void not_for_sure(struct thread *thread, void *context) {
    (void)context;
    thread->moves = false;
}

// Whether all are held, or sleep until somebody does something; if not, whether one may be about
// to.
static enum rest look_for_rest(void) {
    enum rest rest = ALL_REST;
    threads_each(consider_movement, &rest);
    threads_each(consider_rest, &rest);
    return rest;
}

enum look { STOPPED, NOBODY_LEFT, AT_REST, NOTHING };

static enum look look_once(pid_t *id, int *status) {
    *id = waitpid(-1, status, __WALL | WNOHANG);
    if (*id > 0)
        return STOPPED;
    return *id < 0 && errno == ECHILD ? NOBODY_LEFT : NOTHING;
}

// One runs, and will stop: waits for it, but not longer than until the next tick of the timer.
static enum look look_patiently(pid_t *id, int *status) {
    *id = waitpid(-1, status, __WALL);
    if (*id > 0)
        return STOPPED;
    return errno == ECHILD ? NOBODY_LEFT : NOTHING;
}

// Ordered: the next stop, or that all have come to rest.
static enum look look_ordered(pid_t *id, int *status, double until) {
    for (long looks = 1;; looks++) {
        enum rest rest = look_for_rest();
        enum look found = (rest == ONE_RUNS ? look_patiently : look_once)(id, status);
        if (found != NOTHING)
            return found;
        if (rest == ALL_REST)
            return AT_REST;
        if (now() > until)
            return NOTHING;
        if (rest == ONE_RUNS) // it may have fallen asleep where nobody thought it would
            threads_each(not_for_sure, NULL);
        else
            nap(looks < QUICK_LOOKS ? looks * LOOK_AT_ONCE : LOOK_AGAIN);
    }
}

static bool ending; // all that is left was killed

// A daemon that looks for work, sleeps and looks again has no end: it is not waited for.
#define LEFT_ASLEEP 1.0 // seconds, as the clock counts them, that who is left may sleep

static bool is_left_asleep(void) {
    static double before = -1;
    if (!first_ended)
        return false;
    if (before < 0)
        before = clock_rested();
    return clock_rested() - before > LEFT_ASLEEP;
}

// As they come: the next stop, or that none came for a while.
static enum look look_as_they_come(pid_t *id, int *status, double until) {
    for (;;) {
        enum look found = look_patiently(id, status);
        if (found != NOTHING)
            return found;
        if (gate_is_busy())
            gate_pass_sleeper();
        else if (first_ended && !ending && look_for_rest() == ALL_REST)
            return AT_REST;
        if (now() > until)
            return NOTHING;
    }
}

static volatile sig_atomic_t ticked;

static void tick_of_timer(int number) {
    (void)number;
    ticked = 1; // and interrupts a wait
}

static void start_timer(void) {
    struct sigaction action = {.sa_handler = tick_of_timer};
    struct itimerval every = {{0, LOOK_AGAIN}, {0, LOOK_AGAIN}};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &every, NULL);
}

static void end_thread(struct thread *thread, void *context) {
    size_t *count = context;
    (*count)++;
    kill(thread->id, SIGKILL);
}

static void end_all(const char *why) {
    size_t left = 0;
    ending = true;
    threads_each(end_thread, &left);
    end_note(why, "true");
    end_note_number("left", left);
}

// All sleep, or one computes and computes: what becomes of that nobody can know.
static const char *why_it_ends(enum look found) {
    if (found == NOTHING)
        return "endless";
    return first_ended ? "left_behind" : "hangs";
}

// How long all must have slept until they are taken to hang; it is asked once in each such sleep.
static double enough(double still, double patience, enum wakes *wakes) {
    static bool asked;
    asked = asked && still > 0;
    if (still < SETTLED || patience >= FOR_EVER)
        return patience;
    if (!asked)
        *wakes = hangs_wait_for();
    asked = true;
    double needed = *wakes == BY_NOBODY ? SETTLED : *wakes == BY_PACKETS ? DELIVERED : patience;
    return needed < patience ? needed : patience;
}

int loop_run(pid_t command, const struct run_limits *limits) {
    double patience = limits->patience, end = now() + limits->seconds;
    first = command;
    thread_get(command)->known = true;
    start_timer();
    double until = now() + patience, most = now() + COMPUTES * patience;
    double rested = 0, still = 0; // seconds in which all slept: in all, and without a stop
    enum wakes wakes = BY_OTHERS;
    for (;;) {
        pid_t id;
        int status;
        bool ordered = gate_is_ordered() && !ending;
        if (ticked) {
            ticked = 0;
            processors_tick();
        }
        bool late = now() > end || rested + clock_rested() > limits->rest;
        bool left = is_left_asleep();
        if (!ending && (gate_passed() > limits->calls || late || left)) {
            end_all(left ? "left_behind" : late ? "late" : "endless");
            ordered = false;
            until = end = now() + DYING;
        }
        enum look found =
            (ordered ? look_ordered : look_as_they_come)(&id, &status, until < end ? until : end);
        if (found == NOBODY_LEFT)
            break;
        if (found != AT_REST)
            still = 0;
        if (found == STOPPED) {
            double heard = now();
            until = heard + (ending ? DYING : patience);
            most = heard + COMPUTES * patience;
            take(id, status);
        } else if (found == AT_REST && ordered && gate_next()) {
            until = now() + patience;
            still = 0;
        } else if (found == AT_REST && !first_ended && still < enough(still, patience, &wakes)) {
            double napped = nap(LOOK_AGAIN); // all sleep: time or the outside may wake one
            rested += napped;
            still += napped < A_NAP ? napped : A_NAP; // on a busy machine we wake late, as they do
        } else if (found == NOTHING && !ending && now() < most) {
            until = now() + patience; // it computes
        } else if (!ending) {
            end_all(why_it_ends(found));
            until = end = now() + DYING;
        } else {
            break;
        }
    }
    end_note_number("without_privileges", without_privileges);
    end_note_number("refused_to_trace", refused_to_trace);
    return first_status;
}
