// SPDX-License-Identifier: Apache-2.0
// Namespaces: pids, mounts, network, and a pid of our choice inside them.
//
// Each is tried as the caller is, and (by the table in main.c) as root of a fresh user namespace.
#include "probe.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/sched.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHOSEN_PID = 300 };

struct answer probe_user_ns(void) {
    // The table has entered it already; what is left is to see that we are root there.
    if (geteuid() != 0)
        return wrong("the mapped user is not root");
    return yes("a user namespace with this user as its root");
}

static struct answer be_init(void) {
    return getpid() == 1 ? yes("first child has pid 1") : wrong("first child is not pid 1");
}

struct answer probe_pid_ns(void) {
    if (unshare(CLONE_NEWPID) < 0)
        return no("unshare(CLONE_NEWPID)");
    return ask_child(be_init);
}

struct answer probe_mount_ns(void) {
    const char *failed = private_scratch();
    if (failed)
        return no("%s", failed);
    if (mkdir("made", 0700) < 0)
        return no("mkdir in a private tmpfs");
    return yes("private mounts, tmpfs mounted");
}

static struct answer mount_proc(void) {
    char self[32] = "";
    const char *failed = private_scratch();
    if (failed)
        return no("%s", failed);
    if (mkdir("proc", 0700) < 0)
        return no("mkdir in a private tmpfs");
    // Refused with EPERM where the present /proc has parts masked, as containers do.
    if (mount("proc", "proc", "proc", 0, NULL) < 0)
        return no("mount of proc in a pid namespace");
    if (readlink("proc/self", self, sizeof self - 1) < 0)
        return no("readlink proc/self");
    return strcmp(self, "1") == 0 ? yes("a /proc of the new pid namespace")
                                  : wrong("the new /proc shows other pids");
}

struct answer probe_proc_mount(void) {
    if (unshare(CLONE_NEWPID) < 0)
        return no("unshare(CLONE_NEWPID)");
    return ask_child(mount_proc);
}

static struct answer clone_with_pid(void) {
    pid_t wanted = CHOSEN_PID;
    struct clone_args args = {
        .exit_signal = SIGCHLD,
        .set_tid = (uint64_t)(uintptr_t)&wanted,
        .set_tid_size = 1,
    };
    long child = syscall(SYS_clone3, &args, sizeof args);
    if (child < 0)
        return no("clone3 with set_tid in a pid namespace");
    if (child == 0)
        _exit(0);
    waitpid((pid_t)child, NULL, 0);
    if (child != CHOSEN_PID)
        return wrong("clone3 gave pid %ld instead of %d", child, CHOSEN_PID);
    return yes("a child got the pid asked for");
}

struct answer probe_set_tid(void) {
    if (unshare(CLONE_NEWPID) < 0)
        return no("unshare(CLONE_NEWPID)");
    return ask_child(clone_with_pid);
}

static struct answer connect_to_self(void) {
    struct sockaddr_in self = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof self;
    int server = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0);
    if (server < 0 || client < 0)
        return no("socket");
    if (bind(server, (struct sockaddr *)&self, sizeof self) < 0 || listen(server, 1) < 0 ||
        getsockname(server, (struct sockaddr *)&self, &size) < 0)
        return no("listen on loopback of the namespace");
    if (connect(client, (struct sockaddr *)&self, sizeof self) < 0)
        return no("connect to loopback of the namespace");
    return yes("its own loopback, nothing else");
}

struct answer probe_net_ns(void) {
    if (unshare(CLONE_NEWNET) < 0)
        return no("unshare(CLONE_NEWNET)");
    struct ifreq loopback = {.ifr_name = "lo", .ifr_flags = IFF_UP};
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    if (fd < 0)
        return no("socket");
    if (ioctl(fd, SIOCSIFFLAGS, &loopback) < 0)
        return no("bringing loopback up");
    return connect_to_self();
}
