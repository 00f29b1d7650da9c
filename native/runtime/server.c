// SPDX-License-Identifier: Apache-2.0
// The fork server: a program that is loaded and linked, and forks once for each run that is asked.
//
// It stands before the first constructor, so a run sees everything from its beginning. The fork is
// the bare system call: libc does not know of it, and its threads' control blocks stay as they are.
#include "server.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/uio.h>

#define DESCRIPTORS_MAX 7

static int control;
static uint32_t sent;

static void send_message(uint16_t type, const void *payload, uint32_t length) {
    struct ew_control_header header = {.magic = EW_CONTROL_MAGIC,
                                       .version = EW_CONTROL_VERSION,
                                       .type = type,
                                       .sequence = sent++,
                                       .length = length};
    struct iovec parts[] = {{&header, sizeof header}, {(void *)payload, length}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = payload ? 2 : 1};
    // Small, on a socket that nobody else writes to: it goes out whole.
    if (raw3(SYS_sendmsg, control, (long)&message, MSG_NOSIGNAL) != (long)(sizeof header + length))
        raw1(SYS_exit_group, 0); // nobody is there any more
}

struct request {
    int descriptors[DESCRIPTORS_MAX];
    uint32_t descriptor_count;
    char options[8192];
};

static void receive(void *buffer, size_t size, struct request *request) {
    union {
        struct cmsghdr aligned;
        char bytes[CMSG_SPACE(DESCRIPTORS_MAX * sizeof(int))];
    } ancillary;
    for (size_t have = 0; have < size;) {
        struct iovec part = {(char *)buffer + have, size - have};
        struct msghdr message = {.msg_iov = &part,
                                 .msg_iovlen = 1,
                                 .msg_control = ancillary.bytes,
                                 .msg_controllen = sizeof ancillary.bytes};
        long got = raw3(SYS_recvmsg, control, (long)&message, MSG_CMSG_CLOEXEC);
        if (got == -EINTR)
            continue;
        if (got <= 0)
            raw1(SYS_exit_group, 0);
        have += (size_t)got;
        struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
        if (rights && rights->cmsg_type == SCM_RIGHTS) {
            size_t bytes = rights->cmsg_len - CMSG_LEN(0);
            memcpy(request->descriptors, CMSG_DATA(rights), bytes);
            request->descriptor_count = (uint32_t)(bytes / sizeof(int));
        }
    }
}

// Waits for a run; anything else on this socket is a bug of the other end.
static void await(struct request *request) {
    struct ew_control_header header;
    struct ew_control_run run;
    request->descriptor_count = 0;
    receive(&header, sizeof header, request);
    if (header.magic != EW_CONTROL_MAGIC || header.version != EW_CONTROL_VERSION)
        ew_bug("the control socket speaks another language");
    if (header.type == EW_MESSAGE_STOP)
        raw1(SYS_exit_group, 0);
    if (header.type != EW_MESSAGE_RUN || header.length < sizeof run ||
        header.length - sizeof run >= sizeof request->options)
        ew_bug("the control socket asks for something that is not known");
    receive(&run, sizeof run, request);
    receive(request->options, header.length - sizeof run, request);
    request->options[header.length - sizeof run] = 0;
    if (request->descriptor_count < 5 || request->descriptor_count != run.descriptors)
        ew_bug("a run came without its descriptors");
}

static void close_all(const struct request *request) {
    for (uint32_t i = 0; i < request->descriptor_count; i++)
        raw1(SYS_close, request->descriptors[i]);
}

static void become(const struct request *request, struct ew_options *options) {
    raw1(SYS_close, control);
    raw6(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0, 0);
    raw3(SYS_setpgid, 0, 0, 0);
    for (int i = 0; i < 3; i++) {
        raw3(SYS_dup3, request->descriptors[i], i, 0);
        raw1(SYS_close, request->descriptors[i]);
    }
    ew_options_read(request->options, options);
    options->record = request->descriptors[3];
    options->inputs = request->descriptors[4];
    bool replays = request->descriptor_count == DESCRIPTORS_MAX;
    options->replay = replays ? request->descriptors[5] : -1;
    options->given = replays ? request->descriptors[6] : -1;
}

static void tell_end(uint32_t pid) {
    struct rusage usage;
    uint32_t status = 0;
    while (raw6(SYS_wait4, pid, (long)&status, 0, (long)&usage, 0, 0) == -EINTR)
        ;
    raw3(SYS_kill, -(long)pid, SIGKILL, 0); // whatever it left behind
    struct ew_control_ended ended = {
        .pid = pid,
        .status = status,
        .user = (uint64_t)(usage.ru_utime.tv_sec * 1000000 + usage.ru_utime.tv_usec),
        .system = (uint64_t)(usage.ru_stime.tv_sec * 1000000 + usage.ru_stime.tv_usec),
        .memory = (uint64_t)usage.ru_maxrss};
    send_message(EW_MESSAGE_ENDED, &ended, sizeof ended);
}

void ew_serve(int socket, struct ew_options *options) {
    static struct request request;
    control = socket;
    struct ew_control_hello hello = {.pid = (uint32_t)raw1(SYS_getpid, 0), .world = 1};
    send_message(EW_MESSAGE_HELLO, &hello, sizeof hello);
    for (;;) {
        await(&request);
        long pid = raw6(SYS_clone, SIGCHLD, 0, 0, 0, 0, 0);
        if (pid == 0) {
            become(&request, options);
            return;
        }
        if (pid < 0)
            ew_cannot("the fork server cannot fork");
        close_all(&request);
        struct ew_control_started started = {.pid = (uint32_t)pid};
        send_message(EW_MESSAGE_STARTED, &started, sizeof started);
        tell_end((uint32_t)pid);
    }
}
