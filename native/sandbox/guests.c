// SPDX-License-Identifier: Apache-2.0
// Commands that come through doors, as init sees them.
//
// Such a command is a child of init and not of its door: were it a child of a process outside, and
// that killed, the machine's own init would have to reap it, and until it does, nothing of the
// sandbox could go. So init tells the door how its command ended, and the door's end of the socket
// tells init when to end the command.
#include "sandbox.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

struct guest {
    pid_t command;
    int door;
};

static struct guest *guests;
static struct pollfd *waits; // signals, registry, then the guests in their order
static size_t count;

enum { FIXED = 2 };

static bool make_room(void) {
    struct guest *more = reallocarray(guests, count + 1, sizeof *more);
    if (more)
        guests = more;
    struct pollfd *places = reallocarray(waits, count + 1 + FIXED, sizeof *places);
    if (places)
        waits = places;
    return more && places;
}

static void admit(int registry) {
    struct message message;
    struct descriptors fds;
    struct pollfd ready = {.fd = registry, .events = POLLIN};
    while (poll(&ready, 1, 0) > 0 && channel_receive(registry, &message, &fds) == 0) {
        if (message.type == MESSAGE_ENTER && fds.count == 1 && make_room())
            guests[count++] = (struct guest){.command = message.value, .door = fds.list[0]};
        else
            for (int i = 0; i < fds.count; i++)
                close(fds.list[i]); // its door sees that, and says so
    }
}

static void dismiss(size_t index) {
    close(guests[index].door);
    guests[index] = guests[--count];
}

static void tell(pid_t ended, int status) {
    struct message message = {.type = MESSAGE_STATUS, .value = status};
    for (size_t i = 0; i < count; i++)
        if (guests[i].command == ended) {
            channel_send(guests[i].door, &message, NULL);
            dismiss(i);
            return;
        }
}

static void reap(int registry) {
    siginfo_t ended = {0};
    while (waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid) {
        int status;
        admit(registry); // it has told its name before it could end
        if (waitpid(ended.si_pid, &status, 0) == ended.si_pid)
            tell(ended.si_pid, status);
        ended.si_pid = 0;
    }
}

static void listen_to_doors(size_t polled) {
    for (size_t i = polled; i-- > 0;) { // backwards: the last takes the place of one that goes
        struct message message;
        if (!waits[FIXED + i].revents)
            continue;
        if (channel_receive(guests[i].door, &message, NULL) == 0) {
            if (message.type == MESSAGE_SIGNAL)
                kill(guests[i].command, message.value);
            continue;
        }
        kill(guests[i].command, SIGKILL);
        dismiss(i);
    }
}

noreturn void host_guests(const struct box *box, int registry, int signals) {
    if (!make_room())
        broken(box, "memory for the first process");
    for (;;) {
        waits[0] = (struct pollfd){.fd = signals, .events = POLLIN};
        waits[1] = (struct pollfd){.fd = registry, .events = POLLIN};
        for (size_t i = 0; i < count; i++)
            waits[FIXED + i] = (struct pollfd){.fd = guests[i].door, .events = POLLIN};
        size_t polled = count;
        if (poll(waits, FIXED + polled, -1) < 0)
            continue;
        listen_to_doors(polled);
        signal_forward(signals, -1);
        admit(registry);
        reap(registry);
    }
}
