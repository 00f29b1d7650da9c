// SPDX-License-Identifier: Apache-2.0
// stdio's locks: a stream that one thread holds makes the others wait here, not in libc.
//
// libc takes a stream's lock inside printf, fgets and the like; if another green thread held it,
// libc would put the carrier to sleep for ever. So every such function first waits here until the
// stream is free. Nothing runs between that and libc's own taking of the lock.
//
// flockfile is told as a lock. The lock within one call is not: it orders the calls, but nobody
// relies on printf to order anything else, and edges from it would hide races.
#include "stream.h"
#include "sync.h"
#include "threads.h"
#include "writers.h"

#include <dlfcn.h>
#include <errno.h>

enum { IN = 8, OUT, ERR };
enum does { SMALL, LARGE };

static const struct entry {
    const char *name;
    uint8_t stream, does;
} entries[] = {
#define STDIO(name, stream, does) {#name, stream, does},
#define STDIO_BEHIND STDIO
#include "stdio_functions.h"
};
#define COUNT (sizeof entries / sizeof *entries)

static void *functions[COUNT];
static int (*libc_trylock)(FILE *);
static void (*libc_unlock)(FILE *);

void *ew_libc_function(const char *name) {
    void *function = dlsym(RTLD_NEXT, name);
    if (!function)
        ew_cannot("a function of stdio is called that this libc does not have");
    return function;
}

static void find_locks(void) {
    if (UNLIKELY(!libc_trylock)) {
        libc_unlock = (void (*)(FILE *))ew_libc_function("funlockfile");
        libc_trylock = (int (*)(FILE *))ew_libc_function("ftrylockfile");
    }
}

// Ahead of all threads: the loader's own lock may be held across a switch later. And ahead of the
// fork server's forks: looking up a hundred names takes longer than a small program runs.
void ew_stdio_start(void) {
    find_locks();
    ew_streams_take_over();
    for (size_t i = 0; i < COUNT; i++)
        if (!functions[i])
            functions[i] = dlsym(RTLD_NEXT, entries[i].name);
}

// --- who holds a stream by flockfile

static struct hold {
    FILE *stream;
    uint32_t owner, times;
    struct hold *next;
} *holds, *unused;

static struct hold *hold_of(const FILE *stream) {
    struct hold *hold = holds;
    while (hold && hold->stream != stream)
        hold = hold->next;
    return hold;
}

static struct hold *new_hold(void) {
    if (!unused) {
        const size_t count = 4096 / sizeof *unused;
        struct hold *page = ew_pages(4096);
        for (size_t i = 0; i < count; i++) {
            page[i].next = unused;
            unused = &page[i];
        }
    }
    struct hold *hold = unused;
    unused = hold->next;
    return hold;
}

static void note_taken(FILE *stream) {
    struct hold *hold = hold_of(stream);
    if (!hold) {
        hold = new_hold();
        *hold = (struct hold){stream, ew_self->id, 0, holds};
        holds = hold;
    }
    hold->times++;
}

static void note_given(FILE *stream) {
    for (struct hold **at = &holds; *at; at = &(*at)->next) {
        struct hold *hold = *at;
        if (hold->stream != stream)
            continue;
        if (--hold->times == 0) {
            *at = hold->next;
            hold->next = unused;
            unused = hold;
        }
        return;
    }
}

// libc has made all streams free in the child, whoever held them.
void ew_streams_forked(void) {
    while (holds) {
        struct hold *hold = holds;
        holds = hold->next;
        hold->next = unused;
        unused = hold;
    }
}

// --- taking and giving back

// Held without flockfile: a function of stdio is under way that has called the program back (a
// stream with functions of the program's, its malloc). Nobody says when that is over.
static void wait_for(FILE *stream) {
    if (hold_of(stream))
        ew_wait(stream, EW_NEVER);
    else
        ew_point(EW_WHY_YIELD);
}

static void take(FILE *stream) {
    find_locks();
    while (libc_trylock(stream) != 0)
        wait_for(stream);
}

static bool locks_itself(const FILE *stream) {
    return !(stream->_flags & _IO_USER_LOCK); // else the program said that it will (__fsetlocking)
}

void ew_stream_await(FILE *stream) {
    if (!locks_itself(stream))
        return;
    take(stream);
    libc_unlock(stream);
}

bool ew_stream_is_free(FILE *stream) {
    find_locks();
    bool is_free = libc_trylock(stream) == 0;
    if (is_free)
        libc_unlock(stream);
    return is_free;
}

void ew_stream_busy(FILE *stream) {
    note_taken(stream);
}

// libc gives it back before anybody else runs, or calls again.
void ew_stream_idle(FILE *stream) {
    note_given(stream);
    ew_wake_all(stream);
}

static void give(FILE *stream) {
    find_locks();
    note_given(stream);
    libc_unlock(stream);
    ew_wake_all(stream);
}

static void tell(unsigned op, unsigned flags, FILE *stream, const void *pc) {
    if (UNLIKELY(ew_watched))
        ew_tell(op, flags, stream, sizeof *stream, pc);
}

EW_EXPORT void flockfile(FILE *stream) {
    ew_point(EW_WHY_SYNC);
    ew_wants(EW_OP_ACQUIRE, 0, stream, sizeof *stream, PC);
    take(stream);
    ew_wants(0, 0, NULL, 0, NULL);
    if (LIKELY(ew_running))
        note_taken(stream);
    tell(EW_OP_ACQUIRE, 0, stream, PC);
}

EW_EXPORT int ftrylockfile(FILE *stream) {
    ew_point(EW_WHY_SYNC);
    find_locks();
    int result = libc_trylock(stream);
    if (result == 0 && LIKELY(ew_running))
        note_taken(stream);
    tell(EW_OP_ACQUIRE, EW_FLAG_TRY | (result ? EW_FLAG_FAILED : 0), stream, PC);
    return result;
}

EW_EXPORT void funlockfile(FILE *stream) {
    ew_point(EW_WHY_SYNC);
    tell(EW_OP_RELEASE, 0, stream, PC);
    give(stream);
}

EW_ALIAS(_IO_flockfile, flockfile);
EW_ALIAS(_IO_ftrylockfile, ftrylockfile);
EW_ALIAS(_IO_funlockfile, funlockfile);

// --- before each function

static FILE *stream_of(const struct entry *entry, const long *arguments) {
    switch (entry->stream) {
    case IN:
        return stdin;
    case OUT:
        return stdout;
    case ERR:
        return stderr;
    default:
        return (FILE *)arguments[entry->stream];
    }
}

// A single character is no more than an access to memory; the others are seen from outside.
static void decide(enum does does) {
    if (does == LARGE)
        ew_point(EW_WHY_SYNC);
    else if (--ew_accesses_left < 0)
        ew_access_due();
}

static void *prepare(const struct entry *entry, const long *arguments, void *function) {
    FILE *stream = stream_of(entry, arguments);
    if (!stream)
        return (void *)ew_flush_all; // fflush(NULL)
    if (ew_thread_count() > 1) {
        decide(entry->does);
        ew_stream_await(stream);
    }
    ew_writers_enter(stream);
    return function;
}

// Which function goes on with these arguments. errno stays as it is.
__attribute__((used)) void *ew_stdio_enter(const long *arguments, uint32_t number) {
    const struct entry *entry = &entries[number];
    if (UNLIKELY(!functions[number]))
        functions[number] = ew_libc_function(entry->name);
    if (UNLIKELY(!ew_running))
        return functions[number];
    int error = errno;
    void *function = prepare(entry, arguments, functions[number]);
    errno = error;
    return function;
}
