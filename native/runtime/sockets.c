// SPDX-License-Identifier: Apache-2.0
// What a socket tells and is told: of one that leads outside, a replay knows it from the recording,
// and binds no port.
#include "channels.h"
#include "descriptors.h"
#include "input.h"
#include "own_addresses.h"

#include <errno.h>
#include <sys/socket.h>

static long ask(int fd, long number, long b, long c, long d, long e) {
    if (ew_running && ew_is_outside(fd))
        return ew_input_call(number, fd, b, c, d, e, 0);
    return raw6(number, fd, b, c, d, e, 0);
}

// The kernel says in `length` how long it would have been; the buffer has at most what it had room.
static void answered(int fd, void *buffer, socklen_t *length, socklen_t room) {
    if (!ew_running || !ew_is_outside(fd))
        return;
    ew_input(EW_INPUT_DATA, length, sizeof *length, sizeof *length);
    ew_input(EW_INPUT_DATA, buffer, *length < room ? *length : room, room);
}

static int name_of(int fd, long number, struct sockaddr *address, socklen_t *length) {
    socklen_t room = *length;
    long error = ask(fd, number, (long)address, (long)length, 0, 0);
    if (error == 0)
        answered(fd, address, length, room);
    if (error == 0 && number == SYS_getsockname)
        ew_address_bound(address, *length);
    return (int)ew_result(error);
}

EW_EXPORT int getsockname(int fd, struct sockaddr *address, socklen_t *length) {
    return name_of(fd, SYS_getsockname, address, length);
}

EW_EXPORT int getpeername(int fd, struct sockaddr *address, socklen_t *length) {
    return name_of(fd, SYS_getpeername, address, length);
}

EW_EXPORT int getsockopt(int fd, int level, int option, void *value, socklen_t *length) {
    socklen_t room = length ? *length : 0;
    long error = ask(fd, SYS_getsockopt, level, option, (long)value, (long)length);
    if (error == 0)
        answered(fd, value, length, room);
    return (int)ew_result(error);
}

// How long to wait is asked of the socket when it is waited for, in a replay too.
EW_EXPORT int setsockopt(int fd, int level, int option, const void *value, socklen_t length) {
    if (ew_replaying && level == SOL_SOCKET && (option == SO_RCVTIMEO || option == SO_SNDTIMEO))
        raw6(SYS_setsockopt, fd, level, option, (long)value, length, 0);
    return (int)ew_result(ask(fd, SYS_setsockopt, level, option, (long)value, length));
}

EW_EXPORT int bind(int fd, const struct sockaddr *address, socklen_t length) {
    long error = ask(fd, SYS_bind, (long)address, length, 0, 0);
    if (error == 0)
        ew_address_bound(address, length);
    return (int)ew_result(error);
}

EW_EXPORT int listen(int fd, int backlog) {
    return (int)ew_result(ask(fd, SYS_listen, backlog, 0, 0, 0));
}

EW_EXPORT int shutdown(int fd, int how) {
    ew_point(EW_WHY_SYNC);
    ew_channel_put(fd, PC); // the end of what comes
    long error = ask(fd, SYS_shutdown, how, 0, 0, 0);
    ew_look_within();
    return (int)ew_result(error);
}
