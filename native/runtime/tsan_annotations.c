// SPDX-License-Identifier: Apache-2.0
// What a program says about its own order: __tsan_acquire, __tsan_release and the older Annotate*.
#include "tsan_annotations.h"
#include "places.h"

// --- order

// Kept until somebody asks, and asking does not wait: so no wake-up of this sort is ever lost.
void ew_annotate_release(const void *address, const void *pc) {
    if (UNLIKELY(ew_watched))
        ew_tell_order(EW_OP_WAKE, EW_FLAG_CUMULATIVE, address, 1, pc);
}

void ew_annotate_acquire(const void *address, const void *pc) {
    if (!LIKELY(ew_watched))
        return;
    ew_forget_wake(); // it follows all so far, and no single one
    ew_tell_order(EW_OP_WAIT, EW_FLAG_TRY, address, 1, pc);
}

EW_EXPORT void __tsan_acquire(void *address) {
    ew_annotate_acquire(address, PC);
}

EW_EXPORT void __tsan_release(void *address) {
    ew_annotate_release(address, PC);
}

// --- accesses that are not to be told

void ew_ignore_begin(void) {
    struct ew_ignored *ignored = &ew_self->life.ignored;
    ew_places_filter();
    ignored->reads++;
    ignored->writes++;
    ignored->sync++;
}

static void begin(uint16_t *count) {
    ew_places_filter();
    ++*count;
}

static void down(uint16_t *count) {
    *count -= *count != 0;
}

void ew_ignore_end(void) {
    struct ew_ignored *ignored = &ew_self->life.ignored;
    down(&ignored->reads);
    down(&ignored->writes);
    down(&ignored->sync);
}

EW_EXPORT void __tsan_ignore_thread_begin(void) {
    ew_places_filter();
    ew_self->life.ignored.reads++;
    ew_self->life.ignored.writes++;
}

EW_EXPORT void __tsan_ignore_thread_end(void) {
    down(&ew_self->life.ignored.reads);
    down(&ew_self->life.ignored.writes);
}

// --- memory on which the program expects races: accesses are told as if they were atomic

#define RANGES 4096
static struct range {
    uintptr_t from, to;
} ranges[RANGES] EW_LARGE;
static uint32_t range_count;

static void expect_races(const volatile void *address, size_t size) {
    if (range_count == RANGES) {
        ew_report("AnnotateBenignRace", "more than 4096 ranges: races on the others are told");
        return;
    }
    ew_places_filter();
    ranges[range_count++] = (struct range){(uintptr_t)address, (uintptr_t)address + size};
}

bool ew_expects_races(const void *address, size_t size) {
    for (uint32_t i = 0; i < range_count; i++)
        if ((uintptr_t)address < ranges[i].to && (uintptr_t)address + size > ranges[i].from)
            return true;
    return false;
}

// --- the older names; the first two arguments are the place in the program's source

#define WHERE const char *file, int line
#define NOTHING_TO_DO                                                                              \
    do {                                                                                           \
        (void)file;                                                                                \
        (void)line;                                                                                \
    } while (0)

#define ANNOTATE(name, does, ...)                                                                  \
    EW_EXPORT void Annotate##name(WHERE, ##__VA_ARGS__) {                                          \
        NOTHING_TO_DO;                                                                             \
        does;                                                                                      \
    }

ANNOTATE(HappensBefore, ew_annotate_release(address, PC), const void *address)
ANNOTATE(HappensAfter, ew_annotate_acquire(address, PC), const void *address)
ANNOTATE(CondVarSignal, ew_annotate_release(condition, PC), const void *condition)
ANNOTATE(CondVarSignalAll, ew_annotate_release(condition, PC), const void *condition)
ANNOTATE(PCQPut, ew_annotate_release(queue, PC), const void *queue)
ANNOTATE(PCQGet, ew_annotate_acquire(queue, PC), const void *queue)

EW_EXPORT void AnnotateCondVarWait(WHERE, const void *condition, const void *lock) {
    NOTHING_TO_DO;
    (void)lock;
    ew_annotate_acquire(condition, PC);
}

ANNOTATE(RWLockCreate, ew_annotate_lock_forgotten(lock), const void *lock)
ANNOTATE(RWLockCreateStatic, ew_annotate_lock_forgotten(lock), const void *lock)
ANNOTATE(RWLockDestroy, ew_annotate_lock_forgotten(lock), const void *lock)

EW_EXPORT void AnnotateRWLockAcquired(WHERE, const void *lock, uintptr_t writes) {
    NOTHING_TO_DO;
    ew_annotate_locked(lock, !writes, 1, PC);
}

EW_EXPORT void AnnotateRWLockReleased(WHERE, const void *lock, uintptr_t writes) {
    NOTHING_TO_DO;
    ew_annotate_unlocked(lock, !writes, false, PC);
}

ANNOTATE(IgnoreReadsBegin, begin(&ew_self->life.ignored.reads))
ANNOTATE(IgnoreReadsEnd, down(&ew_self->life.ignored.reads))
ANNOTATE(IgnoreWritesBegin, begin(&ew_self->life.ignored.writes))
ANNOTATE(IgnoreWritesEnd, down(&ew_self->life.ignored.writes))
ANNOTATE(IgnoreSyncBegin, ew_self->life.ignored.sync++)
ANNOTATE(IgnoreSyncEnd, down(&ew_self->life.ignored.sync))

EW_EXPORT void AnnotateBenignRaceSized(WHERE, const volatile void *address, uintptr_t size,
                                       const char *why) {
    NOTHING_TO_DO;
    (void)why;
    expect_races(address, size);
}

EW_EXPORT void AnnotateBenignRace(WHERE, const volatile void *address, const char *why) {
    NOTHING_TO_DO;
    (void)why;
    expect_races(address, 1);
}

EW_EXPORT void AnnotateThreadName(WHERE, const char *name) {
    NOTHING_TO_DO;
    pthread_setname_np((pthread_t)ew_self->fs, name);
}

// WebKit's spelling.
EW_EXPORT void WTFAnnotateHappensBefore(WHERE, const void *address) {
    NOTHING_TO_DO;
    ew_annotate_release(address, PC);
}

EW_EXPORT void WTFAnnotateHappensAfter(WHERE, const void *address) {
    NOTHING_TO_DO;
    ew_annotate_acquire(address, PC);
}

EW_EXPORT void WTFAnnotateBenignRaceSized(WHERE, const volatile void *address, uintptr_t size,
                                          const char *why) {
    AnnotateBenignRaceSized(file, line, address, size, why);
}

// Words for other tools: a trace has all memory and all conditions in it whatever is said here, and
// there is no state that could be flushed and no detection that could be turned off.
ANNOTATE(NewMemory, (void)address; (void)size, const void *address, uintptr_t size)
ANNOTATE(MemoryIsInitialized, (void)address; (void)size, const void *address, uintptr_t size)
ANNOTATE(MemoryIsUninitialized, (void)address; (void)size, const void *address, uintptr_t size)
ANNOTATE(PublishMemoryRange, (void)address; (void)size, const void *address, uintptr_t size)
ANNOTATE(UnpublishMemoryRange, (void)address; (void)size, const void *address, uintptr_t size)
ANNOTATE(MutexIsUsedAsCondVar, (void)lock, const void *lock)
ANNOTATE(MutexIsNotPHB, (void)lock, const void *lock)
ANNOTATE(PCQCreate, (void)queue, const void *queue)
ANNOTATE(PCQDestroy, (void)queue, const void *queue)
ANNOTATE(TraceMemory, (void)address, const void *address)
ANNOTATE(NoOp, (void)address, const void *address)
ANNOTATE(EnableRaceDetection, (void)enable, int enable)
ANNOTATE(FlushState, (void)0)
ANNOTATE(FlushExpectedRaces, (void)0)

EW_EXPORT void AnnotateExpectRace(WHERE, const volatile void *address, const char *why) {
    AnnotateBenignRace(file, line, address, why);
}

EW_EXPORT int RunningOnValgrind(void) {
    return 0;
}

EW_EXPORT double ValgrindSlowdown(void) {
    return 10.0; // as libtsan says: programs lengthen their time-outs by it
}
