// SPDX-License-Identifier: Apache-2.0
#include "sandbox.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

union ancillary {
    struct cmsghdr aligned;
    char bytes[CMSG_SPACE(DESCRIPTORS_MAX * sizeof(int))];
};

int channel_send_text(int channel, const void *data, size_t length, const struct descriptors *fds) {
    union ancillary ancillary = {0};
    struct iovec part = {(void *)data, length};
    struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1};
    if (fds && fds->count) {
        size_t size = (size_t)fds->count * sizeof(int);
        header.msg_control = ancillary.bytes;
        header.msg_controllen = CMSG_SPACE(size);
        struct cmsghdr *rights = CMSG_FIRSTHDR(&header);
        rights->cmsg_level = SOL_SOCKET;
        rights->cmsg_type = SCM_RIGHTS;
        rights->cmsg_len = CMSG_LEN(size);
        memcpy(CMSG_DATA(rights), fds->list, size);
    }
    return sendmsg(channel, &header, MSG_NOSIGNAL) == (ssize_t)length ? 0 : -1;
}

int channel_send(int channel, const struct message *message, const struct descriptors *fds) {
    return channel_send_text(channel, message, sizeof *message, fds);
}

static void take_descriptors(struct msghdr *header, struct descriptors *fds) {
    struct descriptors got = {0};
    struct cmsghdr *rights = CMSG_FIRSTHDR(header);
    if (rights && rights->cmsg_type == SCM_RIGHTS) {
        size_t size = rights->cmsg_len - CMSG_LEN(0);
        memcpy(got.list, CMSG_DATA(rights), size);
        got.count = (int)(size / sizeof(int));
    }
    if (fds)
        *fds = got;
    else
        for (int i = 0; i < got.count; i++)
            close(got.list[i]);
}

int channel_receive(int channel, struct message *message, struct descriptors *fds) {
    union ancillary ancillary;
    struct iovec part = {message, sizeof *message};
    struct msghdr header = {.msg_iov = &part,
                            .msg_iovlen = 1,
                            .msg_control = ancillary.bytes,
                            .msg_controllen = sizeof ancillary.bytes};
    ssize_t got;
    do
        got = recvmsg(channel, &header, MSG_CMSG_CLOEXEC);
    while (got < 0 && errno == EINTR);
    if (got == (ssize_t)sizeof *message) {
        take_descriptors(&header, fds);
        return 0;
    }
    if (got >= 0)
        errno = EPIPE;
    return -1;
}

pid_t channel_receive_sender(int channel, struct message *message) {
    union {
        struct cmsghdr aligned;
        char bytes[CMSG_SPACE(sizeof(struct ucred))];
    } ancillary;
    struct ucred sender = {.pid = -1};
    struct iovec part = {message, sizeof *message};
    struct msghdr header = {.msg_iov = &part,
                            .msg_iovlen = 1,
                            .msg_control = ancillary.bytes,
                            .msg_controllen = sizeof ancillary.bytes};
    if (recvmsg(channel, &header, MSG_CMSG_CLOEXEC) != (ssize_t)sizeof *message)
        return -1;
    struct cmsghdr *credentials = CMSG_FIRSTHDR(&header);
    if (credentials && credentials->cmsg_type == SCM_CREDENTIALS)
        memcpy(&sender, CMSG_DATA(credentials), sizeof sender);
    return sender.pid;
}

static noreturn void give_up(const struct box *box, struct message *message, const char *what) {
    int error = errno;
    if (error)
        snprintf(message->text, sizeof message->text, "%s: %s", what, error_name(error));
    else
        snprintf(message->text, sizeof message->text, "%s", what);
    channel_send(box->channel, message, NULL);
    _exit(1);
}

noreturn void refuse(const struct box *box, enum kind kind, const char *what) {
    struct message message = {.type = MESSAGE_REFUSED, .kind = kind};
    give_up(box, &message, what);
}

noreturn void broken(const struct box *box, const char *what) {
    struct message message = {.type = MESSAGE_BROKEN};
    give_up(box, &message, what);
}
