// SPDX-License-Identifier: Apache-2.0
// eitherway-probe NAME: does one thing this machine may refuse, and says in one line what happened.
//
// The probe runs in a child. When it ends, or its time is over, all that came from it is killed and
// reaped, so that nothing is left behind whatever the probe did.
#include "probe.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { EXIT_USAGE = 64, LIMIT_SECONDS = 2 };

struct entry {
    const char *name;
    probe *run;
    bool as_user; // inside a fresh user namespace, the way without privileges
};

static const struct entry table[] = {
    {"ptrace", probe_ptrace, false},
    {"ptrace-syscall", probe_ptrace_syscall, false},
    {"seccomp-filter", probe_seccomp_filter, false},
    {"seccomp-trace", probe_seccomp_trace, false},
    {"proc-mem", probe_proc_mem, false},
    {"process-vm", probe_process_vm, false},
    {"pidfd", probe_pidfd, false},
    {"memfd", probe_memfd, false},
    {"user-ns", probe_user_ns, true},
    {"pid-ns", probe_pid_ns, false},
    {"user-pid-ns", probe_pid_ns, true},
    {"mount-ns", probe_mount_ns, false},
    {"user-mount-ns", probe_mount_ns, true},
    {"net-ns", probe_net_ns, false},
    {"user-net-ns", probe_net_ns, true},
    {"proc-mount", probe_proc_mount, false},
    {"user-proc-mount", probe_proc_mount, true},
    {"set-tid", probe_set_tid, false},
    {"user-set-tid", probe_set_tid, true},
    {"overlay-dir", probe_overlay_dir, false},
    {"user-overlay-dir", probe_overlay_dir, true},
    {"overlay-root", probe_overlay_root, false},
    {"user-overlay-root", probe_overlay_root, true},
    {"user-overlay-tops", probe_overlay_tops, true},
    {"aslr", probe_aslr, false},
    {"thp", probe_thp, false},
    {"fsgsbase", probe_fsgsbase, false},
    {"uffd-wp", probe_uffd_wp, false},
    {"pagemap-scan", probe_pagemap_scan, false},
    {"pagemap-pfn", probe_pagemap_pfn, false},
    {"soft-dirty", probe_soft_dirty, false},
    {"watchpoint", probe_watchpoint, false},
    {"counters", probe_counters, false},
    {"kprobe", probe_kprobe, false},
    {"bpf-map", probe_bpf_map, false},
    {"bpf-ringbuf", probe_bpf_ringbuf, false},
    {"bpf-task-storage", probe_bpf_task_storage, false},
    {"bpf-tp-btf", probe_bpf_tp_btf, false},
    {"bpf-fentry", probe_bpf_fentry, false},
    {"kvm", probe_kvm, false},
    {"module", probe_module, false},
};

static const size_t table_size = sizeof table / sizeof table[0];

static const struct entry *find(const char *name) {
    for (size_t i = 0; i < table_size; i++)
        if (strcmp(table[i].name, name) == 0)
            return &table[i];
    return NULL;
}

static const char *error_name(int error) {
    if (error == ERROR_SIGSYS)
        return "SIGSYS";
    const char *name = strerrorname_np(error);
    return name ? name : "E?";
}

static void print_answer(const struct answer *a) {
    switch (a->state) {
    case STATE_YES:
        printf("yes %s\n", a->text);
        break;
    case STATE_PARTLY:
        printf("partly %s\n", a->text);
        break;
    case STATE_NO:
        printf("no %s %s\n", a->error ? error_name(a->error) : "-", a->text);
        break;
    case STATE_UNKNOWN:
        printf("unknown %s\n", a->text);
        break;
    }
}

static struct answer run_entry(const struct entry *entry) {
    const char *failed = entry->as_user ? enter_user_namespace() : NULL;
    return failed ? no("%s", failed) : entry->run();
}

// Waits for SIGCHLD, which is blocked, until the deadline; false when the time is over.
static bool wait_until(pid_t child, const struct timespec *deadline, int *status) {
    sigset_t chld;
    sigemptyset(&chld);
    sigaddset(&chld, SIGCHLD);
    for (;;) {
        if (waitpid(child, status, WNOHANG) == child)
            return true;
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        long long left =
            (deadline->tv_sec - now.tv_sec) * 1000000000LL + deadline->tv_nsec - now.tv_nsec;
        if (left <= 0)
            return false;
        struct timespec rest = {.tv_sec = left / 1000000000, .tv_nsec = left % 1000000000};
        sigtimedwait(&chld, NULL, &rest);
    }
}

// The parent of a process, from /proc/PID/stat: "PID (NAME) STATE PARENT ..."; 0 when it is gone.
static pid_t parent_of(const char *pid) {
    char path[64], line[512];
    int parent = 0;
    snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
    if (read_file(path, line, sizeof line) <= 0)
        return 0;
    char *after_name = strrchr(line, ')');
    return after_name && sscanf(after_name + 1, " %*c %d", &parent) == 1 ? parent : 0;
}

static void kill_children(void) {
    DIR *processes = opendir("/proc");
    struct dirent *entry;
    if (!processes)
        return;
    while ((entry = readdir(processes)))
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' &&
            parent_of(entry->d_name) == getpid())
            kill(atoi(entry->d_name), SIGKILL);
    closedir(processes);
}

// As subreaper we get every orphan below us, also one that left the group; each generation that
// dies hands us the next.
static void end_all(pid_t group) {
    kill(-group, SIGKILL);
    do
        kill_children();
    while (waitpid(-1, NULL, __WALL) > 0 || errno == EINTR);
}

static struct answer supervise(const struct entry *entry, struct answer *shared) {
    sigset_t chld, before;
    sigemptyset(&chld);
    sigaddset(&chld, SIGCHLD);
    sigprocmask(SIG_BLOCK, &chld, &before);
    struct timespec deadline;
    clock_gettime(CLOCK_MONOTONIC, &deadline);
    deadline.tv_sec += LIMIT_SECONDS;

    pid_t child = fork_bound();
    if (child < 0)
        return no("fork");
    if (child == 0) {
        sigprocmask(SIG_SETMASK, &before, NULL);
        setpgid(0, 0);
        *shared = run_entry(entry);
        _exit(0);
    }
    int status;
    bool ended = wait_until(child, &deadline, &status);
    end_all(child);
    if (!ended)
        return unknown("no answer within %d s", LIMIT_SECONDS);
    if (status != 0)
        return died(status);
    return *shared;
}

static int run_probe(const struct entry *entry) {
    struct answer *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        struct answer failed = no("mmap");
        print_answer(&failed);
        return 0;
    }
    signal(SIGCHLD, SIG_DFL); // inherited "ignore" would take the exit status from us
    signal(SIGPIPE, SIG_DFL);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0}); // a probe that crashes leaves no core file
    struct answer a = supervise(entry, shared);
    print_answer(&a);
    munmap(shared, sizeof *shared);
    return 0;
}

static int usage(void) {
    fprintf(stderr,
            "usage: eitherway-probe NAME | --list\n"
            "Does one thing this machine may refuse and prints yes, partly, no or unknown.\n");
    return EXIT_USAGE;
}

int main(int argc, char **argv) {
    if (argc != 2)
        return usage();
    if (strcmp(argv[1], "--addresses") == 0)
        return print_addresses();
    if (strcmp(argv[1], "--list") == 0) {
        for (size_t i = 0; i < table_size; i++)
            puts(table[i].name);
        return 0;
    }
    const struct entry *entry = find(argv[1]);
    if (!entry) {
        fprintf(stderr, "eitherway-probe: no probe is named '%s'; --list names them\n", argv[1]);
        return EXIT_USAGE;
    }
    return run_probe(entry);
}
