// SPDX-License-Identifier: Apache-2.0
// The shadow and the clocks without a program around them: threads that are made up touch a few
// bytes in every way there is, and whether an access races is also worked out from all that
// happened to each byte. The two must say the same.
//
// usage: shadow_alone FIRST-SEED LAST-SEED
#include "clocks.h"
#include "family.h"
#include "pairs.h"
#include "past.h"
#include "places.h"
#include "races.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

// --- what the runtime would be

// The access under way races, or is of memory that was given back. The compiler takes its hooks for
// functions that change nothing of ours.
static volatile bool told;

void ew_race(const struct ew_access *access, uint32_t entry, unsigned past_op) {
    (void)access, (void)entry, (void)past_op;
    told = true;
}

void ew_used_after_free(const struct ew_access *access) {
    (void)access;
    told = true;
}

void *ew_pages(size_t bytes) {
    void *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED)
        abort();
    return pages;
}

void *ew_more_pages(void *old, size_t had, size_t bytes) {
    void *more = ew_pages(bytes);
    if (had) {
        memcpy(more, old, had);
        munmap(old, had);
    }
    return more;
}

_Noreturn void ew_cannot(const char *what) {
    fprintf(stderr, "%s\n", what);
    exit(2);
}

// Nobody races at a place that is known to be shared here: every access is looked at once.
uint64_t ew_places_bits[64];
bool ew_places_any, ew_places_filtered;
bool ew_is_contested(const struct ew_access *access) {
    (void)access;
    return false;
}
void ew_contest(const struct ew_access *access, bool raced) {
    (void)access, (void)raced;
}
bool ew_pairs_wanted;
void ew_pair_note(const void *object, const void *pc, bool writes) {
    (void)object, (void)pc, (void)writes;
}
void ew_point_at(enum ew_why why, unsigned op, const volatile void *object, size_t size) {
    (void)why, (void)op, (void)object, (void)size;
}
void ew_detect_access(unsigned op, const void *address, size_t size, const void *pc) {
    (void)op, (void)address, (void)size, (void)pc;
}
void ew_tell_access(unsigned op, const void *address, size_t size, const void *pc) {
    (void)op, (void)address, (void)size, (void)pc;
}
int64_t ew_accesses_granted;
struct ew_span ew_trace_span(void) {
    return (struct ew_span){0, 0};
}
int64_t ew_trace_silent_accesses(void) {
    return INT64_MAX;
}
int64_t ew_trace_held_at_end(void) {
    return 0;
}
void ew_family_forgot(void) {}
bool ew_detecting = true, ew_watched = true;
struct ew_thread *ew_self;

// --- threads

#define ALIVE 9
#define THREADS 64 // that one run has one after the other
#define LOCKS 3

static struct ew_thread threads[THREADS], *alive[ALIVE];
static uint32_t alive_count, thread_count;

uint32_t ew_thread_count(void) {
    return alive_count;
}

struct ew_thread *ew_thread_at(uint32_t index) {
    return alive[index];
}

// --- the same by counting: what each knows of each, and what each did last to each byte

static uint32_t knows[THREADS][THREADS], released[LOCKS][THREADS], shared[LOCKS][THREADS];
#define BYTES 240
static uint32_t bytes = BYTES; // that this run touches; most touch few, and so meet at more of them
#define FEW 48
enum { PLAIN_READ, PLAIN_WRITE, ATOMIC_READ, ATOMIC_WRITE, KINDS };
static uint32_t did[BYTES][THREADS][KINDS];
static bool given_back[BYTES];
static _Alignas(16) char memory[BYTES + 64];

static uint32_t me(void) {
    return ew_self->id;
}

static void join(uint32_t *to, const uint32_t *from) {
    for (uint32_t i = 0; i < THREADS; i++)
        to[i] = from[i] > to[i] ? from[i] : to[i];
}

static bool races(uint32_t byte, bool writes, bool atomic) {
    bool any = given_back[byte];
    for (uint32_t thread = 0; thread < THREADS; thread++)
        for (int kind = 0; kind < KINDS; kind++) {
            bool other_writes = kind == PLAIN_WRITE || kind == ATOMIC_WRITE;
            bool other_is_atomic = kind >= ATOMIC_READ;
            any |= (writes || other_writes) && !(atomic && other_is_atomic) &&
                   did[byte][thread][kind] > knows[me()][thread];
        }
    return any;
}

static void forget(uint32_t from, uint32_t to) {
    memset(did[from], 0, (to - from) * sizeof *did);
    memset(&given_back[from], 0, to - from);
}

// --- what can happen

static uint64_t state;

static uint32_t below(uint32_t count) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % count;
}

static void run_as(struct ew_thread *thread) {
    ew_self = thread;
    ew_clocks_switched();
}

static void start_thread(void) {
    struct ew_thread *thread = &threads[thread_count];
    *thread = (struct ew_thread){.id = thread_count++};
    ew_clocks_life(EW_OP_START, thread);
    alive[alive_count++] = thread;
    join(knows[thread->id], knows[me()]);
    knows[thread->id][thread->id] = 1;
    knows[me()][me()]++;
}

static void join_thread(void) {
    uint32_t index = below(alive_count);
    struct ew_thread *thread = alive[index];
    if (thread == ew_self)
        return;
    ew_clocks_life(EW_OP_JOIN, thread);
    ew_clocks_forget(thread);
    alive[index] = alive[--alive_count];
    join(knows[me()], knows[thread->id]);
}

static void take_or_give(void) {
    static char locks[LOCKS];
    uint32_t lock = below(LOCKS);
    bool among_readers = below(4) == 0;
    unsigned flags = among_readers ? EW_FLAG_SHARED : 0;
    if (below(2)) {
        ew_clocks_event(EW_OP_ACQUIRE, flags, &locks[lock]);
        join(knows[me()], released[lock]);
        if (!among_readers)
            join(knows[me()], shared[lock]);
        return;
    }
    ew_clocks_event(EW_OP_RELEASE, flags, &locks[lock]);
    if (among_readers) {
        join(shared[lock], knows[me()]);
    } else {
        memcpy(released[lock], knows[me()], sizeof *released);
        memset(shared[lock], 0, sizeof *shared);
    }
    knows[me()][me()]++;
}

static void new_block(uint32_t from, uint32_t size, bool mine) {
    ew_shadow_fresh((uintptr_t)&memory[from], size, mine);
    forget(from, from + size);
    for (uint32_t i = from; mine && i < from + size; i++)
        did[i][me()][PLAIN_WRITE] = knows[me()][me()];
}

// Of any size, as the compiler tells them and as functions of libc do; of a structure that is
// packed, the compiler tells them wrongly.
#define HOOKS(size)                                                                                \
    void __tsan_read##size(void *), __tsan_write##size(void *),                                    \
        __tsan_unaligned_read##size(void *), __tsan_unaligned_write##size(void *);
HOOKS(1)
HOOKS(2)
HOOKS(4)
HOOKS(8)
HOOKS(16)
void __tsan_read_range(void *, long), __tsan_write_range(void *, long);

typedef void hook(void *);
static hook *const reads[] = {__tsan_read1, __tsan_read2, __tsan_read4, __tsan_read8,
                              __tsan_read16};
static hook *const writes_of[] = {__tsan_write1, __tsan_write2, __tsan_write4, __tsan_write8,
                                  __tsan_write16};
static hook *const unaligned_reads[] = {__tsan_unaligned_read1, __tsan_unaligned_read2,
                                        __tsan_unaligned_read4, __tsan_unaligned_read8,
                                        __tsan_unaligned_read16};
static hook *const unaligned_writes[] = {__tsan_unaligned_write1, __tsan_unaligned_write2,
                                         __tsan_unaligned_write4, __tsan_unaligned_write8,
                                         __tsan_unaligned_write16};

struct touch {
    uint32_t at, size, power;
    bool writes, atomic, ranges, frees;
};

static struct touch some_touch(void) {
    struct touch touch = {.power = below(5), .writes = below(3) == 0};
    touch.size = 1u << touch.power;
    touch.atomic = touch.power < 4 && below(8) == 0;
    touch.ranges = !touch.atomic && below(6) == 0;
    touch.frees = !touch.atomic && below(40) == 0;
    if (touch.ranges || touch.frees)
        touch.size = 1 + below(bytes == BYTES && below(2) ? BYTES : 24);
    touch.at = below(bytes - touch.size + 1);
    if (touch.atomic || (!touch.ranges && below(4)))
        touch.at &= ~(touch.size - 1);
    if (touch.frees) { // blocks are aligned
        touch.at &= ~7u;
        touch.size = (touch.size + 7) & ~7u;
        touch.size = touch.at + touch.size > bytes ? bytes - touch.at : touch.size;
        touch.writes = true;
    }
    return touch;
}

static void tell(const struct touch *touch) {
    void *at = &memory[touch->at];
    bool unaligned = touch->at & (touch->size - 1) && below(2);
    if (touch->atomic || touch->frees) {
        struct ew_access access = {(uintptr_t)at, touch->size, 1, EW_OP_LOAD, touch->atomic};
        if (touch->writes)
            access.op = touch->frees ? EW_OP_FREE : below(2) ? EW_OP_STORE : EW_OP_UPDATE;
        (touch->frees ? ew_shadow_free : ew_shadow_access)(&access);
    } else if (touch->ranges) {
        (touch->writes ? __tsan_write_range : __tsan_read_range)(at, touch->size);
    } else if (unaligned) {
        (touch->writes ? unaligned_writes : unaligned_reads)[touch->power](at);
    } else {
        (touch->writes ? writes_of : reads)[touch->power](at);
    }
}

static const char *const words[] = {"not told", "told"};

// What raced is another object from then on: a cell does not keep what was told.
static bool agree(uint64_t seed, uint32_t step) {
    struct touch touch = some_touch();
    uint32_t end = touch.at + touch.size;
    bool expected = false;
    for (uint32_t i = touch.at; i < end; i++)
        expected |= races(i, touch.writes, touch.atomic);
    told = false;
    tell(&touch);
    if (told != expected)
        fprintf(stderr, "seed %lu, step %u: bytes %u to %u, %s%s%s: a race is %s\n", seed, step,
                touch.at, end - 1, touch.atomic ? "atomic " : "", touch.ranges ? "range " : "",
                touch.frees    ? "free"
                : touch.writes ? "write"
                               : "read",
                words[told]);
    if (told) {
        uint32_t from = touch.at & ~3u, to = (end + 3) & ~3u;
        new_block(from, to - from, false);
        return told == expected;
    }
    int kind = 2 * touch.atomic + touch.writes;
    for (uint32_t i = touch.at; i < end; i++) {
        did[i][me()][kind] = knows[me()][me()];
        given_back[i] = touch.frees;
    }
    return told == expected;
}

static bool run(uint64_t seed) {
    uint32_t members = 2 + below(ALIVE - 1);
    bytes = below(3) ? FEW : BYTES;
    for (uint32_t step = 0; step < 3000; step++) {
        uint32_t what = below(16);
        if (what < 3) {
            run_as(alive[below(alive_count)]);
        } else if (what < 5) {
            take_or_give();
        } else if (what == 5 && alive_count < members && thread_count < THREADS) {
            start_thread();
        } else if (what == 6 && below(8) == 0) {
            join_thread();
        } else if (what == 7 && below(8) == 0) {
            uint32_t from = below(bytes / 8) * 8;
            new_block(from, 8 * (1 + below((bytes - from) / 8)), below(2));
        } else if (!agree(seed, step)) {
            return false;
        }
    }
    return true;
}

// What races is told at each place, and a thread may come to another one later on: it is told
// again, whoever else has read the same by then.
static bool is_told_again(void) {
    void *variable = memory;
    static char lock, other;
    start_thread();
    start_thread();
    __tsan_write4(variable);
    ew_clocks_event(EW_OP_RELEASE, 0, &lock);
    run_as(alive[1]);
    told = false;
    __tsan_read4(variable);
    bool first = told;
    run_as(alive[2]); // which knows of the write, and not of the read
    ew_clocks_event(EW_OP_ACQUIRE, 0, &lock);
    told = false;
    __tsan_read4(variable);
    bool ordered = !told;
    run_as(alive[1]);
    ew_clocks_event(EW_OP_RELEASE, 0, &other);
    told = false;
    __tsan_read4(variable);
    if (!first || !ordered || !told)
        fprintf(stderr, "a race is %s, then %s\n", words[first], words[told]);
    return first && ordered && told;
}

// In a process of its own: each begins with nothing. Without a seed, what is told again.
static bool run_apart(uint64_t seed) {
    int status = 1;
    pid_t child = fork();
    if (child == 0) {
        state = seed * 0x9E3779B97F4A7C15u;
        ew_shadow_start();
        alive[alive_count++] = ew_self = &threads[thread_count++];
        knows[0][0] = 1;
        ew_clocks_start();
        exit((seed ? run(seed) : is_told_again()) ? 0 : 1);
    }
    return waitpid(child, &status, 0) == child && status == 0;
}

int main(int count, char **arguments) {
    if (count != 3)
        return 2;
    ew_accesses_left = INT64_MAX;
    uint64_t last = strtoul(arguments[2], NULL, 10);
    if (!run_apart(0))
        return 1;
    for (uint64_t seed = strtoul(arguments[1], NULL, 10); seed <= last; seed++)
        if (!run_apart(seed))
            return 1;
    return 0;
}
