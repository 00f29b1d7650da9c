// SPDX-License-Identifier: Apache-2.0
// How a process becomes a member, and those that it makes. What is taken by several processes at
// once is taken by atomic operations.
#include "family_memory.h"
#include "guide.h"
#include "hashes.h"
#include "input.h"
#include "resident.h"
#include "schedule.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path_of_noted[EW_FAMILY_PATH], path_of_given[EW_FAMILY_PATH];
static struct ew_options *told; // to this process, to be handed on
static bool begun;
static uint32_t created; // processes and programs so far
static uint64_t identity;
static const char *program;
static size_t program_size;

// --- who this is

static uint64_t mix(uint64_t hash, uint64_t word) {
    return ew_splitmix(hash ^ (word + EW_SPLITMIX));
}

static uint64_t hash_of(const char *text, size_t size) {
    uint64_t hash = ew_hash_bytes(EW_HASH_OF_NOTHING, text, size);
    return hash ? hash : 1;
}

// The file, then the arguments, each with its end.
static void describe(int count, char **arguments) {
    size_t size = 4096;
    for (int i = 0; i < count; i++)
        size += strlen(arguments[i]) + 1;
    char *text = ew_pages(size), *at = text;
    long length = raw3(SYS_readlink, (long)"/proc/self/exe", (long)text, 4095);
    at += (length > 0 ? length : 0) + 1;
    const char *words = at;
    for (int i = 0; i < count; i++)
        at = stpcpy(at, arguments[i]) + 1;
    program = text;
    program_size = (size_t)(at - text);
    identity = hash_of(words, (size_t)(at - words));
}

static void at_exit(int status, void *argument) {
    (void)argument;
    ew_resident_tell();
    ew_family_ended(0, (status & 0xFF) << 8);
    ew_trace_finish();
}

// --- what is found

struct ew_found_row *ew_family_row(void) {
    struct ew_family_head *head = ew_noted.head;
    uint64_t number = head ? __atomic_fetch_add(&head->found, 1, __ATOMIC_RELAXED) : 0;
    if (!head || number >= head->found_room)
        return NULL;
    struct ew_found_row *rows = ew_memory_rows(&ew_noted);
    rows[number] = (struct ew_found_row){.seed = told->run, .slot = ew_memory_number_of(ew_own)};
    return &rows[number];
}

void ew_family_found_again(void) {
    if (ew_noted.head)
        __atomic_fetch_add(&ew_noted.head->found_again, 1, __ATOMIC_RELAXED);
}

void ew_family_forgot(void) {
    if (ew_noted.head)
        __atomic_fetch_add(&ew_noted.head->forgotten, 1, __ATOMIC_RELAXED);
}

// --- slots

// NULL: there is no room.
static struct ew_slot *claim(uint32_t parent, uint32_t ordinal, uint64_t of) {
    uint64_t number = __atomic_fetch_add(&ew_noted.head->used, 1, __ATOMIC_ACQ_REL);
    if (number >= ew_noted.head->room)
        return NULL;
    struct ew_slot *slot = &ew_noted.slots[number];
    slot->schedule.room = ew_noted.head->switches;
    slot->inputs.room = ew_noted.head->inputs;
    slot->member.parent = parent;
    slot->member.ordinal = ordinal;
    slot->member.follows = EW_NO_SLOT;
    slot->member.identity = of;
    slot->member.pid = of ? (uint32_t)raw1(SYS_getpid, 0) : 0;
    __atomic_store_n(&slot->member.state, EW_BEGAN, __ATOMIC_RELEASE);
    return slot;
}

static bool is_alike(const struct ew_member *one, const struct ew_member *other) {
    return one->parent == other->parent && one->ordinal == other->ordinal &&
           one->identity == other->identity;
}

// Turns until a process that has taken a slot and says no more is taken for dead.
#define PATIENCE 1000

static uint32_t earlier(const struct ew_slot *slot) {
    uint32_t count = 0;
    for (const struct ew_slot *other = ew_noted.slots; other < slot; other++) {
        for (int i = 0; i < PATIENCE && !__atomic_load_n(&other->member.state, __ATOMIC_ACQUIRE);)
            i += raw1(SYS_sched_yield, 0) == 0;
        count += is_alike(&other->member, &slot->member);
    }
    return count;
}

// --- in a replay: which of the recorded ones this one is

static bool take(uint32_t number) {
    return !__atomic_exchange_n(&ew_noted.slots[number].member.taken, 1, __ATOMIC_ACQ_REL);
}

// Of what others started, the arguments tell which it is; unless they are new in every run.
static bool take_alike(const struct ew_member *wanted, bool identical) {
    for (uint32_t i = 0; i < ew_memory_used(&ew_given); i++) {
        const struct ew_member *one = &ew_given.slots[i].member;
        if (one->parent != wanted->parent || one->ordinal != wanted->ordinal ||
            !one->identity != !wanted->identity ||
            (identical && one->identity != wanted->identity) || one->state == EW_NEVER_CAME ||
            !take(i))
            continue;
        ew_own->member.follows = i;
        return true;
    }
    return false;
}

// The first step that is not known of a process that was killed, or that nobody saw end; else 0.
static uint64_t known_end(const struct ew_slot *slot) {
    bool killed = slot->member.state == EW_HAS_ENDED && (slot->member.status & 0x7F) == SIGKILL;
    return killed || slot->member.state == EW_BEGAN ? slot->schedule.reached + 1 : 0;
}

static void follow(void) {
    struct ew_member wanted = ew_own->member;
    if (wanted.parent != EW_NO_SLOT)
        wanted.parent = ew_noted.slots[wanted.parent].member.follows;
    int descriptor = ew_memory_open(&ew_given, false);
    if (!ew_given.head)
        ew_memory_map_slots(&ew_given, descriptor, false);
    if (!take_alike(&wanted, true) && !take_alike(&wanted, false))
        ew_schedule_diverged("the replay diverged: a process begins that was not recorded");
    ew_memory_map_area(&ew_given, descriptor, ew_own->member.follows, false);
    raw1(SYS_close, descriptor);
    const struct ew_slot *recorded = &ew_given.slots[ew_own->member.follows];
    ew_schedule_replay(&recorded->schedule, ew_memory_switches(&ew_given));
    ew_input_replay(&recorded->inputs, ew_memory_items(&ew_given));
    ew_schedule_until = known_end(recorded);
}

// --- life

static void note(void) {
    ew_schedule_record(&ew_own->schedule, ew_memory_switches(&ew_noted));
    ew_input_record(&ew_own->inputs, ew_memory_items(&ew_noted));
    if (ew_given.path)
        follow();
}

static const char *kept(char *room, const char *path) {
    if (!path || strlen(path) >= sizeof path_of_noted)
        return NULL;
    return strcpy(room, path);
}

// The run's own program has the seed as it is: it names the run. All others have one that comes of
// it and of their place.
static void settle_seed(uint32_t again) {
    if (told->ordinal || ew_own != ew_noted.slots)
        told->seed = mix(mix(told->seed, identity), again);
}

// Claims a slot as early as can be: who is waited for until it has finished must be seen to be
// here.
static void enter(void) {
    ew_noted.path = kept(path_of_noted, told->family);
    ew_given.path = kept(path_of_given, told->given);
    if (!ew_noted.path)
        return;
    int descriptor = ew_noted.head ? -1 : ew_memory_open(&ew_noted, true);
    if (!ew_noted.head)
        ew_memory_map_slots(&ew_noted, descriptor, true);
    if (!(ew_own = claim(told->parent, told->ordinal, identity)))
        ew_cannot("the run has as many processes as it may have");
    if (!ew_noted.area || ew_own != ew_noted.slots)
        ew_memory_map_area(
            &ew_noted, descriptor < 0 ? descriptor = ew_memory_open(&ew_noted, true) : descriptor,
            ew_memory_number_of(ew_own), true);
    if (descriptor >= 0)
        raw1(SYS_close, descriptor);
}

void ew_family_start(struct ew_options *options, int count, char **arguments) {
    describe(count, arguments);
    on_exit(at_exit, NULL);
    if (options->server >= 0)
        return; // those that it forks are the members
    told = options;
    enter();
}

void ew_family_begin(struct ew_options *options) {
    if (!told) {
        told = options;
        enter();
    }
    begun = true;
    if (told->run == EW_NO_RUN)
        told->run = told->seed;
    if (!ew_noted.path) {
        told->seed = options->ordinal ? mix(told->seed, identity) : told->seed;
        return;
    }
    settle_seed(ew_own->member.again = earlier(ew_own));
    note();
    ew_input_tell(EW_INPUT_PROGRAM, program, program_size);
}

bool ew_family_leads(void) {
    return ew_noted.head && ew_own == ew_noted.slots && !told->ordinal;
}

bool ew_family_forking(void) {
    struct ew_life *life = &ew_self->life;
    life->forks_as = ++created;
    life->forks = ew_noted.head ? claim(ew_memory_number_of(ew_own), created, 0) : ew_own;
    if (life->forks)
        return true;
    ew_report("fork", "refused: the run has as many processes as it may have");
    errno = EAGAIN;
    return false;
}

// The child may not have come so far yet.
void ew_family_fork_made(pid_t child) {
    struct ew_slot *slot = ew_self->life.forks;
    if (child < 0)
        slot->member.state = EW_NEVER_CAME;
    else
        slot->member.pid = (uint32_t)child;
}

static void move_in(void) {
    int descriptor = ew_memory_open(&ew_noted, true);
    ew_memory_map_area(&ew_noted, descriptor, ew_memory_number_of(ew_own), true);
    raw1(SYS_close, descriptor);
}

void ew_family_forked(void) {
    ew_own = ew_self->life.forks;
    created = 0;
    if (ew_noted.head)
        move_in();
    if (!begun)
        return; // in both the run has yet to begin
    told->seed = mix(told->seed, ew_self->life.forks_as);
    if (ew_noted.head)
        note();
    else
        ew_schedule_forked();
    ew_guide_forked();
    ew_scheduler_begin(told->scheduler, told->seed, &told->tuning);
}

// --- programs that are started

static const char variable[] = "EITHERWAY_OPTIONS=";
static char text[EW_OPTIONS_WIDTH + sizeof variable];

size_t ew_family_environment_room(char *const variables[]) {
    size_t count = 2;
    while (variables && variables[count - 2])
        count++;
    return count;
}

// As long as it ever is: a longer text would move the program's stack.
static void write_text(void) {
    char *at = stpcpy(stpcpy(text, variable), "scheduler="), *end = text + sizeof text - 1;
    at = stpcpy(at, told->scheduler);
    at = ew_write_number(at, ":seed=", mix(told->seed, created));
    at = ew_write_number(at, ":run=", told->run);
    at = ew_write_number(at, ":ordinal=", created);
    at = told->detect ? stpcpy(at, ":detect=1") : at;
    at = ew_write_number(at, ":depth=", told->tuning.depth);
    at = ew_write_number(at, ":length=", told->tuning.length);
    at = ew_write_number(at, ":interesting=", told->tuning.interesting);
    at = told->guide ? stpcpy(stpcpy(at, ":guide="), told->guide) : at;
    if (ew_noted.head) {
        at = ew_write_number(at, ":parent=", ew_memory_number_of(ew_own));
        at = stpcpy(stpcpy(at, ":family="), ew_noted.path);
        at = ew_given.path ? stpcpy(stpcpy(at, ":given="), ew_given.path) : at;
    }
    memset(at, ':', (size_t)(end - at));
    *end = 0;
}

char *const *ew_family_environment(char *const variables[], char *into[]) {
    if (!told || !told->is_told)
        return variables;
    created++;
    write_text();
    size_t count = 0;
    for (; variables && variables[count]; count++)
        into[count] = variables[count];
    size_t at = 0;
    while (at < count && strncmp(into[at], variable, sizeof variable - 1) != 0)
        at++;
    into[count] = into[count + 1 - (at < count)] = NULL;
    into[at] = text;
    return into;
}

void ew_family_becoming(bool becomes) {
    if (ew_own->member.state == EW_BEGAN || ew_own->member.state == EW_BECAME)
        ew_own->member.state = becomes ? EW_BECAME : EW_BEGAN;
}
