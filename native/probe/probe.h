// SPDX-License-Identifier: Apache-2.0
// What every probe shares: its answer, and children that cannot outlive it.
#ifndef EITHERWAY_PROBE_H
#define EITHERWAY_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { ERROR_SIGSYS = -1 }; // in place of an errno: the call was answered with a signal

enum state { STATE_UNKNOWN, STATE_YES, STATE_PARTLY, STATE_NO };

// One line of output is made from it: `yes TEXT`, `no EPERM TEXT`, `unknown TEXT`.
struct answer {
    enum state state;
    int error; // errno of the refusal; 0 when it "worked" and did the wrong thing
    char text[200];
};

typedef struct answer probe(void);

#define PRINTF(text, first) __attribute__((format(printf, text, first)))

struct answer yes(const char *format, ...) PRINTF(1, 2);
struct answer partly(const char *format, ...) PRINTF(1, 2);
// `no` takes errno as it stands; `wrong` is for a call that succeeds without its effect.
struct answer no(const char *format, ...) PRINTF(1, 2);
struct answer wrong(const char *format, ...) PRINTF(1, 2);
struct answer unknown(const char *format, ...) PRINTF(1, 2);

// Forks a child that is killed when this process ends; 0 in the child, like fork().
pid_t fork_bound(void);
// Runs `inner` in a bound child and returns its answer, or what killed it.
struct answer ask_child(probe *inner);
struct answer died(int wait_status);
// Ends a child for certain and reaps it.
void end_child(pid_t child);

// Enters a new user namespace in which the caller is root; NULL, or the step that failed.
const char *enter_user_namespace(void);
bool in_user_namespace(void);

int write_file(const char *path, const char *text);
// Reads at most size - 1 bytes and ends them with 0; the length, or -1 and errno.
ssize_t read_file(const char *path, char *text, size_t size);

// trace.c
probe probe_ptrace, probe_ptrace_syscall, probe_seccomp_filter, probe_seccomp_trace;
probe probe_proc_mem, probe_process_vm, probe_pidfd, probe_memfd;
// space.c
probe probe_user_ns, probe_pid_ns, probe_mount_ns, probe_net_ns, probe_proc_mount, probe_set_tid;
// overlay.c
probe probe_overlay_dir, probe_overlay_root, probe_overlay_tops;
// New mount namespace, empty tmpfs, current directory in it; NULL, or the step that failed.
const char *private_scratch(void);
// memory.c
probe probe_aslr, probe_thp, probe_fsgsbase;
int print_addresses(void);
// dirty.c
probe probe_uffd_wp, probe_pagemap_scan, probe_pagemap_pfn, probe_soft_dirty;
// perf.c
probe probe_watchpoint, probe_counters, probe_kprobe;
// bpf.c
probe probe_bpf_map, probe_bpf_ringbuf, probe_bpf_task_storage, probe_bpf_tp_btf, probe_bpf_fentry;
// guest.c
probe probe_kvm, probe_module;

#endif
