// SPDX-License-Identifier: Apache-2.0
// One message is some bytes, and descriptors beside them.
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "recorder.h"

enum { DESCRIPTORS_MAX = 3 };

union room {
    struct cmsghdr head;
    char bytes[CMSG_SPACE(DESCRIPTORS_MAX * sizeof(int))];
};

bool message_send(int socket, char word, const int *descriptors, size_t count) {
    struct iovec part = {&word, 1};
    union room room = {0};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (count) {
        message.msg_control = room.bytes;
        message.msg_controllen = CMSG_SPACE(count * sizeof(int));
        struct cmsghdr *head = CMSG_FIRSTHDR(&message);
        head->cmsg_level = SOL_SOCKET;
        head->cmsg_type = SCM_RIGHTS;
        head->cmsg_len = CMSG_LEN(count * sizeof(int));
        memcpy(CMSG_DATA(head), descriptors, count * sizeof(int));
    }
    return sendmsg(socket, &message, MSG_NOSIGNAL) == 1;
}

ssize_t message_receive(int socket, char *text, size_t size, int *descriptors, size_t count) {
    struct iovec part = {text, size};
    union room room = {0};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = room.bytes,
                             .msg_controllen = CMSG_SPACE(count * sizeof(int))};
    for (size_t i = 0; i < count; i++)
        descriptors[i] = -1;
    ssize_t length = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    const struct cmsghdr *head = length > 0 ? CMSG_FIRSTHDR(&message) : NULL;
    if (head && head->cmsg_type == SCM_RIGHTS && head->cmsg_len == CMSG_LEN(count * sizeof(int)))
        memcpy(descriptors, CMSG_DATA(head), count * sizeof(int));
    return length;
}
