// SPDX-License-Identifier: Apache-2.0
// Signals that the program sends: to its threads and itself without the kernel, to others with it.
#include "bare.h"
#include "channels.h"
#include "family.h"
#include "input.h"
#include "pids.h"
#include "races.h"
#include "schedule.h"
#include "script.h"
#include "servers.h"
#include "signals.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static siginfo_t information(int number, int code, union sigval value) {
    siginfo_t info;
    memset(&info, 0, sizeof info);
    info.si_signo = number;
    info.si_code = code;
    info.si_pid = getpid();
    info.si_uid = (uid_t)raw1(SYS_getuid, 0);
    info.si_value = value;
    return info;
}

static void attend_soon(void) {
    if (ew_self->life.attention)
        ew_attend(false);
}

static bool has_children(void) {
    siginfo_t info;
    return raw6(SYS_waitid, P_ALL, 0, (long)&info, WEXITED | WNOHANG | WNOWAIT, 0, 0) != -ECHILD;
}

static _Noreturn void end_stopped(void) {
    static char words[] = "eitherway: hang: the program stops itself, and nobody lets it go on\n";
    ew_schedule_note(EW_SWITCH_STOPPED, ew_self->id);
    ew_stopped(SIGSTOP);
    ew_say(&(struct iovec){words, sizeof words - 1}, 1);
    ew_end(EW_BARE_STATUS);
}

static bool stopped_for_ever(void) {
    const struct ew_schedule_switch *next = ew_schedule_following() ? ew_schedule_next() : NULL;
    if (!next || next->steps != ew_steps || next->kind != EW_SWITCH_STOPPED)
        return false;
    ew_schedule_taken();
    return true;
}

// In a replay the program does not stop: who let it go on was outside, or may be too early now.
// When it is another run, nobody does who did not then; but for a child, of which nobody knows.
static void stop_again(void) {
    if (ew_input_went_on())
        return;
    if (stopped_for_ever())
        end_stopped();
    if (ew_scripted && has_children())
        ew_script_over();
    if (ew_scripted)
        end_stopped();
}

static long stop(void) {
    if (ew_replaying) {
        stop_again();
        return 0;
    }
    long error = raw3(SYS_kill, raw1(SYS_getpid, 0), SIGSTOP, 0);
    ew_input_went_on();
    return error;
}

static long stop_or_kill(int number) {
    if (number == SIGSTOP)
        return stop();
    if (number == SIGKILL)
        ew_signal_is_last(number);
    return raw3(SYS_kill, raw1(SYS_getpid, 0), number, 0);
}

static int to_thread(struct ew_thread *thread, int number, int code, union sigval value) {
    if (!thread)
        return ESRCH;
    if (number != 0 && !ew_signal_is_valid(number))
        return EINVAL;
    if (number == SIGKILL || number == SIGSTOP)
        return (int)-stop_or_kill(number);
    if (number == 0 || thread->state == EW_ENDED)
        return 0;
    siginfo_t info = information(number, code, value);
    ew_signal_thread(thread, &info);
    attend_soon(); // before the call returns, if it is to this thread
    return 0;
}

void ew_signal_of_call(int number) {
    to_thread(ew_self, number, SI_USER, (union sigval){0});
}

void ew_signal_forget(int number) {
    uint64_t set = BIT(number);
    struct timespec now = {0};
    if (ew_kernel_mask & set)
        raw6(SYS_rt_sigtimedwait, (long)&set, 0, (long)&now, sizeof set, 0, 0);
}

EW_EXPORT int pthread_kill(pthread_t handle, int number) {
    ew_point(EW_WHY_SYNC);
    ew_signal_sent(number, PC);
    return to_thread(ew_thread_of(handle), number, SI_TKILL, (union sigval){0});
}

EW_EXPORT int pthread_sigqueue(pthread_t handle, int number, const union sigval value) {
    ew_point(EW_WHY_SYNC);
    ew_signal_sent(number, PC);
    return to_thread(ew_thread_of(handle), number, SI_QUEUE, value);
}

EW_EXPORT int raise(int number) {
    if (!ew_self)
        return (int)ew_result(raw3(SYS_tgkill, raw1(SYS_getpid, 0), raw1(SYS_gettid, 0), number));
    ew_point(EW_WHY_SYNC);
    return (int)ew_result(-to_thread(ew_self, number, SI_TKILL, (union sigval){0}));
}

EW_EXPORT int gsignal(int number) {
    return raise(number);
}

// In a replay the processes of the run get from their recordings what was sent to them, when it
// came; a group may have some of them in it. Others that the replay has made itself, such as a
// shell, do not, so they are sent it. Nobody else is.
static bool is_sent(pid_t told) {
    if (!ew_replaying)
        return true;
    pid_t process = ew_pid_real(told);
    if (told <= 0 || process == EW_NOBODY || ew_family_follows(told))
        return false;
    ew_family_until_became(process);
    return true;
}

static long sent(long error) {
    ew_input(EW_INPUT_RESULT, &error, sizeof error, sizeof error);
    return -error;
}

// As if it had been sent to who serves this run; others are.
static long send_past_servers(pid_t process, int number) {
    if (number < 0 || number > SIGNALS)
        return -EINVAL;
    if (process <= 0 && number)
        ew_kill_all_but_servers(process, number);
    return 0;
}

static long send_outside(pid_t told, int number, siginfo_t *info) {
    pid_t process = ew_pid_real(told);
    if (!is_sent(told))
        return sent(0);
    if (ew_kill_reaches_server(process))
        return sent(send_past_servers(process, number));
    return sent(info ? raw3(SYS_rt_sigqueueinfo, process, number, (long)info)
                     : raw3(SYS_kill, process, number, 0));
}

EW_EXPORT int tgkill(pid_t told, pid_t number, int signal) {
    pid_t process = ew_pid_real(told);
    ew_point(EW_WHY_SYNC);
    ew_signal_sent(signal, PC);
    if (process == raw1(SYS_getpid, 0))
        return (int)ew_result(
            -to_thread(ew_thread_numbered(number), signal, SI_TKILL, (union sigval){0}));
    pid_t thread = number == told ? process : number; // its first; others are as they were told
    bool goes = is_sent(told) && !ew_is_server(process);
    return (int)ew_result(-sent(goes ? raw3(SYS_tgkill, process, thread, signal) : 0));
}

EW_EXPORT int pidfd_send_signal(int descriptor, int number, siginfo_t *info, unsigned flags) {
    ew_point(EW_WHY_SYNC);
    ew_signal_sent(number, PC);
    pid_t process = ew_pid_behind(descriptor);
    if (!is_sent(ew_pid_told(process)) || ew_is_server(process))
        return (int)ew_result(-sent(0));
    return (int)ew_result(
        -sent(raw6(SYS_pidfd_send_signal, descriptor, number, (long)info, flags, 0, 0)));
}

// What every thread blocks waits in the kernel, where a signalfd or an exec'd program finds it.
static bool is_for_kernel(pid_t process, int number) {
    return process != raw1(SYS_getpid, 0) || !ew_signal_is_valid(number) || number == SIGKILL ||
           number == SIGSTOP || ew_kernel_mask & BIT(number);
}

static void to_process(int number, int code, union sigval value) {
    siginfo_t info = information(number, code, value);
    ew_signal_process(&info);
}

static bool is_own_group(pid_t process) {
    return process == 0 || (process < -1 && -(long)process == raw1(SYS_getpgrp, 0));
}

// Nobody could tell afterwards how it ended. In a replay the others of the group are not sent it.
static void end_with_group(void) {
    ew_signal_is_last(SIGKILL);
    if (ew_replaying)
        stop_or_kill(SIGKILL);
}

EW_EXPORT int kill(pid_t told, int number) {
    pid_t process = ew_pid_real(told);
    long error = 0;
    ew_point(EW_WHY_SYNC);
    ew_signal_sent(number, PC);
    if (number == SIGKILL && is_own_group(process))
        end_with_group();
    if (is_for_kernel(process, number))
        error = process == raw1(SYS_getpid, 0) ? -stop_or_kill(number)
                                               : send_outside(told, number, NULL);
    else
        to_process(number, SI_USER, (union sigval){0});
    if (told <= 0)
        ew_look_for_signals(); // this process may be one of the group
    attend_soon();
    return (int)ew_result(-error);
}

EW_EXPORT int killpg(pid_t group, int number) {
    return group < 0 ? (int)ew_result(-EINVAL) : kill(-group, number);
}

EW_EXPORT int sigqueue(pid_t told, int number, const union sigval value) {
    pid_t process = ew_pid_real(told);
    long error = 0;
    ew_point(EW_WHY_SYNC);
    ew_signal_sent(number, PC);
    siginfo_t info = information(number, SI_QUEUE, value);
    if (number == SIGKILL && process == raw1(SYS_getpid, 0))
        ew_signal_is_last(number);
    if (is_for_kernel(process, number))
        error = process != raw1(SYS_getpid, 0) ? send_outside(told, number, &info)
                : number == SIGSTOP ? -stop()
                                    : -raw3(SYS_rt_sigqueueinfo, process, number, (long)&info);
    else
        ew_signal_process(&info);
    attend_soon();
    return (int)ew_result(-error);
}

// --- what ends the one that is traced, too

static long (*real_ptrace)(int, pid_t, void *, void *);

// Who serves this run is not to be had, as where a child may not trace its parent (Yama).
static long begin_to_trace(int request, pid_t told, long address, long data) {
    pid_t process = ew_pid_real(told);
    long error =
        ew_is_server(process) ? -EPERM : raw6(SYS_ptrace, request, process, address, data, 0, 0);
    return -sent(error);
}

EW_EXPORT long ptrace(enum __ptrace_request request, ...) {
    va_list list;
    va_start(list, request);
    pid_t process = va_arg(list, pid_t);
    void *address = va_arg(list, void *), *data = va_arg(list, void *);
    va_end(list);
    ew_report("ptrace", "what it does to other processes is not recorded");
    if (ew_self && (request == PTRACE_ATTACH || request == PTRACE_SEIZE))
        return ew_result(begin_to_trace(request, process, (long)address, (long)data));
    if (!real_ptrace)
        *(void **)&real_ptrace = dlsym(RTLD_NEXT, "ptrace");
    return real_ptrace((int)request, process, address, data);
}

// A handler may jump away, but not come back.
EW_EXPORT _Noreturn void abort(void) {
    if (ew_self) {
        ew_mask_set(ew_self->life.mask & ~BIT(SIGABRT));
        raise(SIGABRT);
        ew_action_set(SIGABRT, &(struct ew_action){DEFAULT, 0, 0});
        raise(SIGABRT);
    }
    raw3(SYS_tgkill, raw1(SYS_getpid, 0), raw1(SYS_gettid, 0), SIGABRT);
    for (;;)
        __asm__ volatile("hlt");
}
