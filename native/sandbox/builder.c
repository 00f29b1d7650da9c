// SPDX-License-Identifier: Apache-2.0
// The builder: enters one namespace after the other and leaves pid 1 of the last behind.
//
// A refusal ends it; the keeper then starts another that does without. So there is never a half of
// anything in force.
//
// With the privilege to mount, the tree is made before the user namespace, so that / is overlaid in
// one piece and all of it is locked: root inside can neither take it apart nor reach a disk, for it
// is root of the user namespace alone. Without, the tree is made inside, where the kernel refuses
// an overlay of anything that has mounts below it.
#include "sandbox.h"

#include <errno.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static void make_private(struct box *box) {
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
        refuse(box, FILES, "making mounts private");
    box->namespaces |= CLONE_NEWNS;
}

static void make_tree(struct box *box) {
    const char *failed = tree_build(box);
    if (failed)
        refuse(box, FILES, failed);
}

static void new_user(struct box *box) {
    struct message message = {.type = MESSAGE_MAP};
    if (unshare(CLONE_NEWUSER) < 0)
        refuse(box, PRIVILEGES, "unshare(CLONE_NEWUSER)");
    box->namespaces |= CLONE_NEWUSER;
    if (channel_send(box->channel, &message, NULL) < 0 ||
        channel_receive(box->channel, &message, NULL) < 0)
        _exit(1); // the keeper is gone
    errno = message.value;
    if (errno)
        refuse(box, PRIVILEGES, message.text);
    box->user_ids = message.text[0] != '\0';
}

static void new_network(struct box *box) {
    struct ifreq loopback = {.ifr_name = "lo", .ifr_flags = IFF_UP};
    if (unshare(CLONE_NEWNET) < 0)
        refuse(box, NETWORK, "unshare(CLONE_NEWNET)");
    box->namespaces |= CLONE_NEWNET;
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &loopback) < 0)
        refuse(box, NETWORK, "bringing loopback up");
    close(fd);
}

static void new_processes(struct box *box) {
    if (unshare(CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS) < 0)
        refuse(box, PROCESSES, "unshare(CLONE_NEWPID)");
    box->namespaces |= CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS;
}

static void make_files(struct box *box) {
    bool privileged = unshare(CLONE_NEWNS) == 0;
    if (privileged) {
        make_private(box);
        make_tree(box);
    }
    if (box->wanted[PRIVILEGES])
        new_user(box);
    if (privileged && !box->wanted[PRIVILEGES])
        return;
    if (unshare(CLONE_NEWNS) < 0) // owned by the user namespace; what is in it already is locked
        refuse(box, FILES, "unshare(CLONE_NEWNS)");
    make_private(box);
    if (!privileged)
        make_tree(box);
}

noreturn void build(struct box *box) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (box->wanted[FILES])
        make_files(box);
    else if (box->wanted[PRIVILEGES])
        new_user(box);
    if (box->wanted[NETWORK])
        new_network(box);
    if (box->wanted[PROCESSES])
        new_processes(box);
    // A child of the keeper, not of this process: its wait and its death are the keeper's affair.
    long init = syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0);
    if (init < 0)
        refuse(box, PROCESSES, "clone of the first process");
    if (init == 0)
        be_init(box);
    struct message message = {.type = MESSAGE_INIT, .value = (int)init};
    _exit(channel_send(box->channel, &message, NULL) < 0);
}
