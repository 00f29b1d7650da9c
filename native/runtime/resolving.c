// SPDX-License-Identifier: Apache-2.0
// getaddrinfo and getnameinfo: libc asks the network with the carrier, so a copy of the process
// asks instead, and other threads run until it has the answer. That comes from outside.
#include "heap.h"
#include "input.h"
#include "polling.h"
#include "stream.h"
#include "threads.h"
#include "trace.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define ROOM (1 << 20) // bytes of an answer

struct answer {
    int result, error; // of the call, and errno
    size_t size;       // of what follows, as each call lays it out
    char data[];
};

// Asks, in the copy: fills in the answer.
typedef void question(struct answer *answer, void *argument);

// --- the copy

static _Noreturn void in_copy(question *ask, void *argument, int to) {
    struct answer *answer = ew_pages(ROOM);
    ew_running = false; // it is libc's alone
    ew_trace_stop();
    ew_input_record(NULL, NULL);
    ask(answer, argument);
    answer->error = errno;
    size_t size = sizeof *answer + answer->size;
    for (size_t done = 0; done < size;) {
        long written = raw3(SYS_write, to, (long)answer + (long)done, (long)(size - done));
        if (written < 0)
            break;
        done += (size_t)written;
    }
    raw1(SYS_exit_group, 0);
    __builtin_unreachable();
}

// Its end is no child's end to the program: it sends no signal, and wait does not see it.
static long start(question *ask, void *argument, int *from) {
    int ends[2];
    if (raw3(SYS_pipe2, (long)ends, O_CLOEXEC, 0) < 0)
        return -EMFILE;
    ew_signals_hold();
    long copy = raw6(SYS_clone, 0, 0, 0, 0, 0, 0);
    if (copy == 0)
        in_copy(ask, argument, ends[1]);
    ew_signals_release();
    raw1(SYS_close, ends[1]);
    *from = ew_out_of_the_way(ends[0]);
    return copy;
}

// --- here

static long read_some(int from, char *into, size_t room) {
    struct pollfd one = {from, POLLIN, 0};
    while (ew_look_at(&one, 1, true) == 0)
        ew_wait_outside(&one, 1, EW_NEVER);
    long got = ew_input_call(SYS_read, from, (long)into, (long)room, 0, 0, 0);
    if (got > 0)
        ew_input(EW_INPUT_DATA, into, (size_t)got, room);
    return got;
}

// Cancelled only when it is over: the copy has to be taken away.
static struct answer *answered(question *ask, void *argument) {
    struct answer *answer = ew_pages(ROOM);
    int from = -1, state;
    ew_point(EW_WHY_SYNC);
    long copy = ew_replaying ? 0 : start(ask, argument, &from);
    long got = copy;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    for (size_t have = 0;
         got >= 0 && (got = read_some(from, (char *)answer + have, ROOM - have)) > 0;)
        have += (size_t)got;
    pthread_setcancelstate(state, NULL);
    if (copy > 0)
        raw6(SYS_wait4, copy, 0, __WALL, 0, 0, 0);
    if (from >= 0)
        raw1(SYS_close, from);
    if (got < 0)
        *answer = (struct answer){EAI_SYSTEM, (int)-got, 0};
    return answer;
}

static int finish(struct answer *answer) {
    int result = answer->result;
    if (result == EAI_SYSTEM)
        errno = answer->error;
    raw3(SYS_munmap, (long)answer, ROOM, 0);
    ew_testcancel();
    return result;
}

// --- getaddrinfo

typedef int addresses(const char *, const char *, const struct addrinfo *, struct addrinfo **);
static addresses *libc_addresses;

struct addresses_of {
    const char *node, *service;
    const struct addrinfo *hints;
};

struct entry { // its address and name follow
    struct addrinfo info;
    size_t name_size;
};

static void put(struct answer *answer, const void *data, size_t size) {
    if (!size || answer->size + size > ROOM - sizeof *answer)
        return;
    memcpy(answer->data + answer->size, data, size);
    answer->size += size;
}

static void ask_addresses(struct answer *answer, void *argument) {
    const struct addresses_of *of = argument;
    struct addrinfo *list = NULL;
    answer->result = libc_addresses(of->node, of->service, of->hints, &list);
    for (; answer->result == 0 && list; list = list->ai_next) {
        const char *name = list->ai_canonname;
        struct entry entry = {*list, name ? strlen(name) + 1 : 0};
        entry.info.ai_addr = NULL; // addresses of memory mean nothing elsewhere
        entry.info.ai_canonname = NULL;
        entry.info.ai_next = NULL;
        put(answer, &entry, sizeof entry);
        put(answer, list->ai_addr, list->ai_addrlen);
        put(answer, name, entry.name_size);
    }
}

// As libc makes them, whose freeaddrinfo takes them: the address behind, the name apart. They are
// blocks of the program's heap, which is told of them as it is when they are given back.
static struct addrinfo *make(const char *data, const struct entry *entry, const void *pc) {
    struct addrinfo *info = ew_allocate(sizeof *info + entry->info.ai_addrlen, pc);
    if (!info)
        return NULL;
    *info = entry->info;
    info->ai_addr = memcpy(info + 1, data, info->ai_addrlen);
    if (entry->name_size && (info->ai_canonname = ew_allocate(entry->name_size, pc)))
        memcpy(info->ai_canonname, data + info->ai_addrlen, entry->name_size);
    return info;
}

static struct addrinfo *list_of(const struct answer *answer, const void *pc) {
    struct addrinfo *first = NULL, **end = &first;
    for (size_t at = 0; at + sizeof(struct entry) <= answer->size; end = &(*end)->ai_next) {
        struct entry entry;
        memcpy(&entry, answer->data + at, sizeof entry);
        at += sizeof entry;
        if (!(*end = make(answer->data + at, &entry, pc)))
            break;
        at += entry.info.ai_addrlen + entry.name_size;
    }
    return first;
}

// What stands there in numbers needs nobody else.
static bool is_numeric(const char *node, const struct addrinfo *hints) {
    unsigned char address[16];
    return !node || (hints && hints->ai_flags & AI_NUMERICHOST) ||
           inet_pton(AF_INET, node, address) == 1 || inet_pton(AF_INET6, node, address) == 1;
}

EW_EXPORT int getaddrinfo(const char *restrict node, const char *restrict service,
                          const struct addrinfo *restrict hints, struct addrinfo **restrict list) {
    struct addresses_of of = {node, service, hints};
    if (!libc_addresses)
        libc_addresses = (addresses *)ew_libc_function("getaddrinfo");
    if (!ew_running || is_numeric(node, hints))
        return libc_addresses(node, service, hints, list);
    ew_testcancel();
    struct answer *answer = answered(ask_addresses, &of);
    if (answer->result == 0 && !(*list = list_of(answer, PC)))
        answer->result = EAI_MEMORY;
    return finish(answer);
}

// --- getnameinfo

typedef int names(const struct sockaddr *, socklen_t, char *, socklen_t, char *, socklen_t, int);
static names *libc_names;

struct name_of {
    const struct sockaddr *address;
    socklen_t length;
    char *host, *service;
    socklen_t host_room, service_room;
    int flags;
};

static void ask_name(struct answer *answer, void *argument) {
    struct name_of *of = argument;
    answer->result = libc_names(of->address, of->length, of->host, of->host_room, of->service,
                                of->service_room, of->flags);
    put(answer, of->host, of->host_room);
    put(answer, of->service, of->service_room);
}

EW_EXPORT int getnameinfo(const struct sockaddr *restrict address, socklen_t length,
                          char *restrict host, socklen_t host_room, char *restrict service,
                          socklen_t service_room, int flags) {
    struct name_of of = {address, length, host, service, host_room, service_room, flags};
    if (!libc_names)
        libc_names = (names *)ew_libc_function("getnameinfo");
    of.host_room = host ? host_room : 0;
    of.service_room = service ? service_room : 0;
    if (!ew_running || flags & NI_NUMERICHOST || !of.host_room ||
        of.host_room + of.service_room > ROOM / 2)
        return libc_names(address, length, host, host_room, service, service_room, flags);
    ew_testcancel();
    struct answer *answer = answered(ask_name, &of);
    if (answer->result == 0) {
        memcpy(host, answer->data, of.host_room);
        if (of.service_room)
            memcpy(service, answer->data + of.host_room, of.service_room);
    }
    return finish(answer);
}
