// SPDX-License-Identifier: Apache-2.0
#include "guide.h"
#include "hashes.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

// Where nothing else of a program ever is: see family.c.
#define PLACE 0x10000000000ul

static struct ew_guide_head *head; // NULL: there is none
static uint64_t *given, *found, *pairs;
static struct ew_guide_thread *expected, *seen;
static uint32_t *prefix, *noted;
bool ew_guide_leading;
static uint32_t taken, decided;

enum { CUT_OFF = 1, REFUSED, BEYOND, TOO_LONG };

static uint64_t size_of(const struct ew_guide_head *of) {
    return sizeof *of + 2ul * of->places_room * sizeof *given +
           2ul * of->threads_room * sizeof *seen + of->pairs_room * sizeof *pairs +
           ((uint64_t)of->prefix_room + of->noted_room) * sizeof *noted;
}

static void lay_out(void) {
    given = (uint64_t *)(head + 1);
    found = given + head->places_room;
    expected = (struct ew_guide_thread *)(found + head->places_room);
    seen = expected + head->threads_room;
    pairs = (uint64_t *)(seen + head->threads_room);
    prefix = (uint32_t *)(pairs + head->pairs_room);
    noted = prefix + head->prefix_room;
}

void ew_guide_hold(int descriptor) {
    struct ew_guide_head there;
    if (raw6(SYS_pread64, descriptor, (long)&there, sizeof there, 0, 0, 0) != sizeof there)
        ew_cannot("the guide of the run is not there");
    if (size_of(&there) > EW_GUIDE_ROOM)
        ew_cannot("the guide of the run is too large");
    long address = raw6(SYS_mmap, PLACE, (long)size_of(&there), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_NORESERVE | MAP_FIXED, descriptor, 0);
    if (address != (long)PLACE)
        ew_cannot("the guide of the run cannot be mapped");
    raw3(SYS_madvise, address, (long)size_of(&there), MADV_DONTDUMP);
    head = (struct ew_guide_head *)address;
    lay_out();
}

static void open_at(const char *path) {
    long descriptor = raw3(SYS_open, (long)path, O_RDWR | O_CLOEXEC, 0);
    if (descriptor < 0)
        ew_cannot("the guide of the run cannot be reached: is /proc there?");
    ew_guide_hold((int)descriptor);
    raw1(SYS_close, descriptor);
}

void ew_guide_begin(const char *path, bool leads) {
    if (!head && path)
        open_at(path);
    ew_guide_leading = head && leads;
    taken = decided = 0;
    if (!ew_guide_leading)
        return;
    head->noted = head->end = 0;
    head->asked = head->uncovered = 0;
    head->looks = head->tired = head->rests = 0;
    head->pair_end = EW_PAIR_NOT_REACHED;
    ew_guide_thread(ew_self, ew_self);
}

void ew_guide_forked(void) {
    ew_guide_leading = false;
}

// --- places

const uint64_t *ew_guide_places(uint32_t *count) {
    *count = head ? head->places : 0;
    return given;
}

// The runs of a survey share the memory, and find the same.
void ew_guide_found(uint64_t place) {
    if (!head)
        return;
    uint32_t count = head->found < head->places_room ? head->found : head->places_room;
    for (uint32_t i = 0; i < count; i++)
        if (found[i] == place)
            return;
    uint32_t number = __atomic_fetch_add(&head->found, 1, __ATOMIC_RELAXED);
    if (number < head->places_room)
        found[number] = place;
}

void ew_guide_uncovered(void) {
    if (ew_guide_leading)
        head->uncovered++;
}

void ew_guide_tired(void) {
    if (ew_guide_leading)
        head->tired++;
}

void ew_guide_looked(void) {
    if (ew_guide_leading)
        head->looks++;
}

void ew_guide_rested(void) {
    if (ew_guide_leading)
        head->rests++;
}

// --- pairs

bool ew_guide_wants_pairs(void) {
    return ew_guide_leading && head->pairs_room;
}

#define LOOKS 16 // at slots, before a pair is given up for want of room

void ew_guide_pair(uint64_t sites, unsigned order) {
    uint64_t key = sites & ~3ul ? sites & ~3ul : 4;
    for (uint32_t i = 0; ew_guide_leading && i < LOOKS; i++) {
        uint64_t *slot = &pairs[(sites + i * 4) >> 2 & (head->pairs_room - 1)];
        if (*slot && (*slot & ~3ul) != key)
            continue;
        head->pairs += (*slot & order) == 0;
        *slot |= key | order;
        return;
    }
}

// --- threads

void ew_guide_thread(const struct ew_thread *thread, const struct ew_thread *creator) {
    if (!ew_guide_leading)
        return;
    head->seen = thread->id + 1;
    if (thread->id < head->threads_room)
        seen[thread->id] = (struct ew_guide_thread){
            .creator = creator->id, .out_hash = EW_HASH_OF_NOTHING, .err_hash = EW_HASH_OF_NOTHING};
}

void ew_guide_wrote(uint32_t thread, unsigned output, const void *bytes, size_t size) {
    if (!ew_guide_leading || thread >= head->threads_room)
        return;
    struct ew_guide_thread *row = &seen[thread];
    uint64_t *hash = output == 1 ? &row->out_hash : &row->err_hash;
    *hash = ew_hash_bytes(*hash, bytes, size);
    *(output == 1 ? &row->out_size : &row->err_size) += size;
}

void ew_guide_count(const struct ew_thread *thread, enum ew_why why, bool contested) {
    head->asked += contested;
    if (thread->id >= head->threads_room)
        return;
    struct ew_guide_thread *row = &seen[thread->id];
    row->sync += why == EW_WHY_SYNC;
    row->atomic += why == EW_WHY_ATOMIC;
    row->place += why == EW_WHY_PLACE;
}

const struct ew_guide_thread *ew_guide_expected(uint32_t *count) {
    *count = ew_guide_leading ? head->expected : 0;
    return expected;
}

// --- choices

bool ew_guide_choice(uint32_t *choice) {
    if (!ew_guide_leading || taken >= head->prefix)
        return false;
    *choice = prefix[taken++];
    return true;
}

const uint32_t *ew_guide_choices(uint32_t *count) {
    *count = ew_guide_leading ? head->prefix : 0;
    return prefix;
}

static _Noreturn void end(uint32_t how, const char *words) {
    if (ew_guide_leading)
        head->end = how;
    ew_cannot_follow(words);
}

void ew_guide_note(const struct ew_guide_decision *decision, const uint32_t *threads) {
    if (!ew_guide_leading || !head->limit)
        return;
    uint32_t words = sizeof *decision / sizeof *noted + (threads ? decision->count : 0);
    if (++decided > head->limit || words > head->noted_room - head->noted)
        end(CUT_OFF, "the run has more decisions than the search goes");
    memcpy(&noted[head->noted], decision, sizeof *decision);
    if (threads)
        memcpy(&noted[head->noted + sizeof *decision / sizeof *noted], threads,
               decision->count * sizeof *threads);
    head->noted += words;
}

void ew_guide_pair_is(enum ew_pair_end how) {
    if (ew_guide_leading)
        head->pair_end = how;
}

_Noreturn void ew_guide_refuse(void) {
    end(REFUSED, "a choice that was given cannot be taken: the program does not repeat");
}

_Noreturn void ew_guide_beyond(void) {
    end(BEYOND, "the branch asks for what the recording does not have");
}

_Noreturn void ew_guide_too_long(void) {
    end(TOO_LONG, "the branch goes on for much longer than the run that it is of");
}
