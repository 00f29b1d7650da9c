// SPDX-License-Identifier: Apache-2.0
// The first process inside. When it ends, the kernel ends all others of its pid namespace.
#include "sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "place.h"

static void bind_to_keeper(const struct box *box) {
    struct pollfd keeper = {.fd = box->channel};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (poll(&keeper, 1, 0) > 0 && (keeper.revents & (POLLHUP | POLLERR)))
        _exit(1); // it died before the signal was asked for
}

static void mount_proc(struct box *box) {
    if (!(box->namespaces & CLONE_NEWNS)) {
        if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
            refuse(box, PROCESSES, "private mounts for a /proc of its own");
        box->namespaces |= CLONE_NEWNS;
    }
    // Refused with EPERM where the present /proc has parts masked, as containers do.
    if (mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0)
        refuse(box, PROCESSES, "mount of proc in a pid namespace");
    // POSIX queues have names of their own in the new namespace; without a place they stay unseen.
    mount("mqueue", "/dev/mqueue", "mqueue", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL);
}

// Settings of the whole machine that root may write, even as root of a user namespace.
static void protect_settings(const struct box *box) {
    static const char *const paths[] = {
        "/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/fs", "/proc/acpi"};
    if (geteuid() != 0 || !(box->namespaces & CLONE_NEWNS))
        return;
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        if (access(paths[i], F_OK) < 0)
            continue;
        if (mount(paths[i], paths[i], NULL, MS_BIND | MS_REC, NULL) < 0 ||
            make_read_only(paths[i]) < 0)
            refuse(box, FILES, "making the settings in /proc read-only");
    }
}

static void add_namespaces(const struct box *box, struct descriptors *fds) {
    // In this order they can be entered.
    static const struct {
        int flag;
        const char *path;
    } all[] = {{CLONE_NEWUSER, "/proc/self/ns/user"}, {CLONE_NEWNS, "/proc/self/ns/mnt"},
               {CLONE_NEWNET, "/proc/self/ns/net"},   {CLONE_NEWIPC, "/proc/self/ns/ipc"},
               {CLONE_NEWUTS, "/proc/self/ns/uts"},   {CLONE_NEWPID, "/proc/self/ns/pid"}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (!(box->namespaces & all[i].flag))
            continue;
        int fd = open(all[i].path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
            broken(box, all[i].path);
        fds->list[fds->count++] = fd;
    }
}

// `registry` is where commands that come through doors tell their names.
static void tell_ready(const struct box *box, int registry) {
    struct message message = {.type = MESSAGE_READY, .value = (int)box->read_only};
    struct descriptors fds = {.count = 1, .list = {registry}};
    snprintf(message.text, sizeof message.text, "%s", box->files);
    if (box->scratch >= 0)
        fds.list[fds.count++] = box->scratch;
    add_namespaces(box, &fds);
    if (channel_send(box->channel, &message, &fds) < 0)
        _exit(1);
    for (int i = 0; i < fds.count; i++)
        close(fds.list[i]);
    if (channel_receive(box->channel, &message, NULL) < 0 || message.type != MESSAGE_GO)
        _exit(1);
}

static noreturn void run_command(const struct box *box, bool pids_by_rlimit, int signals) {
    struct start start = {.command = box->options->command,
                          .directory = box->scratch >= 0 ? box->directory : NULL,
                          .limits = &box->options->limits,
                          .kept = box->scratch >= 0 ? box->kept : NULL,
                          .pids_by_rlimit = pids_by_rlimit};
    pid_t command = command_start(&start);
    if (command < 0)
        broken(box, "fork of the command");
    struct message message = {.type = MESSAGE_STATUS, .value = command_await(command, signals, -1)};
    if (!(box->namespaces & CLONE_NEWPID))
        kill_descendants();
    channel_send(box->channel, &message, NULL);
    _exit(0);
}

noreturn void be_init(struct box *box) {
    bool pids_by_rlimit;
    // What it holds leads outside: nobody inside may trace it or look into it through /proc/1.
    prctl(PR_SET_DUMPABLE, 0);
    bind_to_keeper(box);
    prctl(PR_SET_CHILD_SUBREAPER, 1); // for where it is not pid 1
    if (box->wanted[PROCESSES])
        mount_proc(box);
    limits_pids(box, &pids_by_rlimit);
    protect_settings(box);
    int registry[2], signals = signals_open();
    if (signals < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, registry) < 0)
        broken(box, "descriptors for the first process");
    tell_ready(box, registry[1]);
    if (box->options->command)
        run_command(box, pids_by_rlimit, signals);
    host_guests(box, registry[0], signals);
}
