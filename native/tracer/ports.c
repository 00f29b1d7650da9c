// SPDX-License-Identifier: Apache-2.0
// Who binds to port 0 is given one by the kernel, another in every run. Ordered, it is given one
// that depends on the call alone, as if it had asked for it; if that is taken, the kernel's.
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "numbering.h"
#include "tracer.h"

enum { FIRST = 40000, COUNT = 20000 };

static_assert(offsetof(struct sockaddr_in, sin_port) == offsetof(struct sockaddr_in6, sin6_port),
              "the port of either family is in one place");

static uint64_t place(const struct thread *thread) {
    return thread->call.a1 + offsetof(struct sockaddr_in, sin_port);
}

static bool asks_for_any(const struct thread *thread) {
    struct sockaddr_in address;
    if (thread->call.number != SYS_bind || thread->call.a2 < sizeof address)
        return false;
    if (memory_read(thread->id, thread->call.a1, &address, sizeof address) !=
        (ssize_t)sizeof address)
        return false;
    bool internet = address.sin_family == AF_INET || address.sin_family == AF_INET6;
    return internet && address.sin_port == 0;
}

void ports_choose(struct thread *thread) {
    uint64_t key[2] = {(uint64_t)thread->id, thread->index};
    if (thread->any_port || !asks_for_any(thread))
        return;
    uint16_t port = htons((uint16_t)(FIRST + hash_of(key, sizeof key) % COUNT));
    thread->chose_port = memory_write(thread->id, place(thread), &port, sizeof port) > 0;
}

static void put_back(struct thread *thread) {
    uint16_t none = 0;
    memory_write(thread->id, place(thread), &none, sizeof none);
    thread->chose_port = false;
}

bool ports_try_again(struct thread *thread, int64_t result) {
    bool again = thread->chose_port && (result == -EADDRINUSE || result == -EACCES);
    if (again) {
        put_back(thread);
        thread->any_port = true;
        thread->where = ABOUT;
        stop_again(thread->id, thread->call.number);
    }
    return again;
}

// What the socket has in the end, whoever chose it.
static void note_port(struct thread *thread) {
    char address[128];
    socklen_t length = sizeof address;
    int process = (int)syscall(SYS_pidfd_open, thread->process, 0);
    int copy = process < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, process, (int)thread->call.a0, 0);
    if (copy >= 0 && getsockname(copy, (struct sockaddr *)address, &length) == 0)
        thread->call.value = text_number(address, length);
    if (copy >= 0)
        close(copy);
    if (process >= 0)
        close(process);
}

void ports_leave(struct thread *thread, int64_t result) {
    if (thread->call.number != SYS_bind)
        return;
    bool any = thread->chose_port || asks_for_any(thread);
    if (thread->chose_port)
        put_back(thread);
    thread->any_port = false;
    if (any && result == 0)
        note_port(thread);
}
