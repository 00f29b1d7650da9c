// SPDX-License-Identifier: Apache-2.0
// Slots in shared memory. What is taken by several processes at once is taken by atomic operations.
#include "family.h"
#include "guide.h"
#include "input.h"
#include "schedule.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BEGAN = 1, ENDED, BECAME, NEVER };
#define NONE UINT32_MAX

struct slot {
    struct ew_member member;
    struct ew_schedule_head schedule;
    struct ew_inputs_head inputs;
};

// Where nothing else of a program ever is, so that what a run maps for itself lies where it lies in
// any other, recorded or not.
#define PLACE 0x10000000000ul
#define PLACE_OF_AREA (PLACE + (1ul << 32))

struct family {
    const char *path; // NULL: there is none
    struct ew_family_head *head;
    struct slot *slots;
    char *area;
    uintptr_t place;
};

static char path_of_noted[EW_FAMILY_PATH], path_of_given[EW_FAMILY_PATH];
static struct family noted = {.place = PLACE};
static struct family given = {.place = PLACE + (1ul << 36)};

static struct slot own_slot; // of a process that is in no family
static struct slot *own = &own_slot;
static struct ew_options *told; // to this process, to be handed on
static bool begun;
static uint32_t created; // processes and programs so far
static uint64_t identity;
static const char *program;
static size_t program_size;

// --- texts

static char *number(char *at, const char *name, uint64_t value) {
    char digits[20];
    int count = 0;
    do
        digits[count++] = (char)('0' + value % 10);
    while (value /= 10);
    at = stpcpy(at, name);
    while (count)
        *at++ = digits[--count];
    *at = 0;
    return at;
}

const char *ew_family_path(char *into, int descriptor) {
    number(number(into, "/proc/", (uint64_t)raw1(SYS_getpid, 0)), "/fd/", (uint64_t)descriptor);
    return into;
}

// --- the memory

static void *map(int descriptor, uintptr_t place, uint64_t size, uint64_t offset, bool writable) {
    int protection = writable ? PROT_READ | PROT_WRITE : PROT_READ;
    int flags = (writable ? MAP_SHARED : MAP_PRIVATE) | MAP_NORESERVE | MAP_FIXED;
    long address =
        raw6(SYS_mmap, (long)place, (long)size, protection, flags, descriptor, (long)offset);
    if (address != (long)place)
        ew_cannot("the memory of the run cannot be mapped");
    raw3(SYS_madvise, address, (long)size, MADV_DONTDUMP);
    return (void *)address;
}

static uint64_t pages(uint64_t size) {
    return (size + 4095) & ~4095ul;
}

static uint64_t slots_size(const struct ew_family_head *head) {
    return pages(sizeof *head + head->room * sizeof(struct slot));
}

static uint64_t rows_size(const struct ew_family_head *head) {
    return pages(head->found_room * sizeof(struct ew_found_row));
}

static void map_slots(struct family *family, int descriptor, bool writable) {
    struct ew_family_head head;
    if (raw6(SYS_pread64, descriptor, (long)&head, sizeof head, 0, 0, 0) != sizeof head)
        ew_cannot("the memory of the run is not there");
    family->head =
        map(descriptor, family->place, slots_size(&head) + rows_size(&head), 0, writable);
    family->slots = (struct slot *)(family->head + 1);
}

static void map_area(struct family *family, int descriptor, uint32_t number, bool writable) {
    const struct ew_family_head *head = family->head;
    uint64_t size = head->switches * sizeof(struct ew_schedule_switch) + head->inputs;
    uint64_t offset = slots_size(head) + rows_size(head) + number * size;
    uintptr_t place = family->place + (PLACE_OF_AREA - PLACE);
    family->area = map(descriptor, place, size, offset, writable);
}

static int open_memory(const struct family *family, bool writable) {
    int flags = (writable ? O_RDWR : O_RDONLY) | O_CLOEXEC;
    long descriptor = raw3(SYS_open, (long)family->path, flags, 0);
    if (descriptor < 0)
        ew_cannot("the memory of the run cannot be reached: is /proc there?");
    return (int)descriptor;
}

static struct ew_schedule_switch *switches(const struct family *family) {
    return (struct ew_schedule_switch *)family->area;
}

static char *items(const struct family *family) {
    return family->area + family->head->switches * sizeof(struct ew_schedule_switch);
}

void ew_family_hold(int descriptor) {
    map_slots(&noted, descriptor, true);
    map_area(&noted, descriptor, 0, true);
}

const struct ew_schedule_head *ew_family_first(void) {
    return &noted.slots[0].schedule;
}

void ew_family_rewind(void) {
    uint64_t used = noted.head->used < noted.head->room ? noted.head->used : noted.head->room;
    noted.head->used = 0;
    memset(noted.slots, 0, used * sizeof *noted.slots);
}

// --- who this is

static uint64_t mix(uint64_t hash, uint64_t word) { // splitmix64
    uint64_t z = hash ^ (word + 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static uint64_t hash_of(const char *text, size_t size) { // FNV-1a
    uint64_t hash = 0xCBF29CE484222325u;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ (uint8_t)text[i]) * 0x100000001B3u;
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
    ew_family_ended(0, (status & 0xFF) << 8);
}

static uint32_t number_of(const struct slot *slot) {
    return noted.head ? (uint32_t)(slot - noted.slots) : NONE;
}

// --- what is found

struct ew_found_row *ew_family_row(void) {
    struct ew_family_head *head = noted.head;
    uint64_t number = head ? __atomic_fetch_add(&head->found, 1, __ATOMIC_RELAXED) : 0;
    if (!head || number >= head->found_room)
        return NULL;
    struct ew_found_row *rows = (struct ew_found_row *)((char *)head + slots_size(head));
    rows[number] = (struct ew_found_row){.seed = told->seed, .slot = number_of(own)};
    return &rows[number];
}

void ew_family_found_again(void) {
    if (noted.head)
        __atomic_fetch_add(&noted.head->found_again, 1, __ATOMIC_RELAXED);
}

void ew_family_forgot(void) {
    if (noted.head)
        __atomic_fetch_add(&noted.head->forgotten, 1, __ATOMIC_RELAXED);
}

static uint32_t used(const struct family *family) {
    uint64_t count = family->head ? __atomic_load_n(&family->head->used, __ATOMIC_ACQUIRE) : 0;
    return (uint32_t)(family->head && count > family->head->room ? family->head->room : count);
}

// NULL: there is no room.
static struct slot *claim(uint32_t parent, uint32_t ordinal, uint64_t of) {
    uint64_t number = __atomic_fetch_add(&noted.head->used, 1, __ATOMIC_ACQ_REL);
    if (number >= noted.head->room)
        return NULL;
    struct slot *slot = &noted.slots[number];
    slot->schedule.room = noted.head->switches;
    slot->inputs.room = noted.head->inputs;
    slot->member.parent = parent;
    slot->member.ordinal = ordinal;
    slot->member.follows = NONE;
    slot->member.identity = of;
    slot->member.pid = of ? (uint32_t)raw1(SYS_getpid, 0) : 0;
    __atomic_store_n(&slot->member.state, BEGAN, __ATOMIC_RELEASE);
    return slot;
}

static bool is_alike(const struct ew_member *one, const struct ew_member *other) {
    return one->parent == other->parent && one->ordinal == other->ordinal &&
           one->identity == other->identity;
}

#define PATIENCE                                                                                   \
    1000 // turns until a process that has taken a slot and says no more is taken for dead

static uint32_t earlier(const struct slot *slot) {
    uint32_t count = 0;
    for (const struct slot *other = noted.slots; other < slot; other++) {
        for (int i = 0; i < PATIENCE && !__atomic_load_n(&other->member.state, __ATOMIC_ACQUIRE);)
            i += raw1(SYS_sched_yield, 0) == 0;
        count += is_alike(&other->member, &slot->member);
    }
    return count;
}

// --- in a replay: which of the recorded ones this one is

static bool take(uint32_t number) {
    return !__atomic_exchange_n(&noted.slots[number].member.taken, 1, __ATOMIC_ACQ_REL);
}

// Of what others started, the arguments tell which it is; unless they are new in every run.
static bool take_alike(const struct ew_member *wanted, bool identical) {
    for (uint32_t i = 0; i < used(&given); i++) {
        const struct ew_member *one = &given.slots[i].member;
        if (one->parent != wanted->parent || one->ordinal != wanted->ordinal ||
            !one->identity != !wanted->identity ||
            (identical && one->identity != wanted->identity) || one->state == NEVER || !take(i))
            continue;
        own->member.follows = i;
        return true;
    }
    return false;
}

// The last step that is known of a process that was killed, or nobody knows how it ended; else 0.
static uint64_t known_end(const struct slot *slot) {
    bool killed = slot->member.state == ENDED && (slot->member.status & 0x7F) == SIGKILL;
    return killed ? slot->schedule.reached + 1 : slot->member.state == BEGAN ? UINT64_MAX : 0;
}

static void follow(void) {
    struct ew_member wanted = own->member;
    if (wanted.parent != NONE)
        wanted.parent = noted.slots[wanted.parent].member.follows;
    int descriptor = open_memory(&given, false);
    if (!given.head)
        map_slots(&given, descriptor, false);
    if (!take_alike(&wanted, true) && !take_alike(&wanted, false))
        ew_schedule_diverged("the replay diverged: a process begins that was not recorded");
    map_area(&given, descriptor, own->member.follows, false);
    raw1(SYS_close, descriptor);
    const struct slot *recorded = &given.slots[own->member.follows];
    ew_schedule_replay(&recorded->schedule, switches(&given));
    ew_input_replay(&recorded->inputs, items(&given));
    ew_schedule_until = known_end(recorded);
}

// --- life

static void note(void) {
    ew_schedule_record(&own->schedule, switches(&noted));
    ew_input_record(&own->inputs, items(&noted));
    if (given.path)
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
    if (told->ordinal || own != noted.slots)
        told->seed = mix(mix(told->seed, identity), again);
}

// Claims a slot as early as can be: who is waited for until it has finished must be seen to be
// here.
static void enter(void) {
    noted.path = kept(path_of_noted, told->family);
    given.path = kept(path_of_given, told->given);
    if (!noted.path)
        return;
    int descriptor = noted.head ? -1 : open_memory(&noted, true);
    if (!noted.head)
        map_slots(&noted, descriptor, true);
    if (!(own = claim(told->parent, told->ordinal, identity)))
        ew_cannot("the run has as many processes as it may have");
    if (!noted.area || own != noted.slots)
        map_area(&noted, descriptor < 0 ? descriptor = open_memory(&noted, true) : descriptor,
                 number_of(own), true);
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
    if (!noted.path) {
        told->seed = options->ordinal ? mix(told->seed, identity) : told->seed;
        return;
    }
    settle_seed(own->member.again = earlier(own));
    note();
    ew_input_tell(EW_INPUT_PROGRAM, program, program_size);
}

bool ew_family_leads(void) {
    return noted.head && own == noted.slots && !told->ordinal;
}

bool ew_family_forking(void) {
    struct ew_life *life = &ew_self->life;
    life->forks_as = ++created;
    life->forks = noted.head ? claim(number_of(own), created, 0) : &own_slot;
    if (life->forks)
        return true;
    ew_report("fork", "refused: the run has as many processes as it may have");
    errno = EAGAIN;
    return false;
}

// The child may not have come so far yet.
void ew_family_fork_made(pid_t child) {
    struct slot *slot = ew_self->life.forks;
    if (child < 0)
        slot->member.state = NEVER;
    else
        slot->member.pid = (uint32_t)child;
}

static void move_in(void) {
    int descriptor = open_memory(&noted, true);
    map_area(&noted, descriptor, number_of(own), true);
    raw1(SYS_close, descriptor);
}

void ew_family_forked(void) {
    own = ew_self->life.forks;
    created = 0;
    if (noted.head)
        move_in();
    if (!begun)
        return; // in both the run has yet to begin
    told->seed = mix(told->seed, ew_self->life.forks_as);
    if (noted.head)
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
    at = number(at, ":seed=", mix(told->seed, created));
    at = number(at, ":ordinal=", created);
    at = told->detect ? stpcpy(at, ":detect=1") : at;
    at = number(at, ":depth=", told->tuning.depth);
    at = number(at, ":length=", told->tuning.length);
    at = number(at, ":interesting=", told->tuning.interesting);
    at = told->guide ? stpcpy(stpcpy(at, ":guide="), told->guide) : at;
    if (noted.head) {
        at = number(at, ":parent=", number_of(own));
        at = stpcpy(stpcpy(at, ":family="), noted.path);
        at = given.path ? stpcpy(stpcpy(at, ":given="), given.path) : at;
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
    if (own->member.state == BEGAN || own->member.state == BECAME)
        own->member.state = becomes ? BECAME : BEGAN;
}

// --- numbers and ends

void ew_family_waiting(bool waits) {
    own->member.waiting = waits;
}

// Its state is behind its name: "123 (name) S "; 0: it is gone.
static char state_of(uint32_t process) {
    char line[128], path[EW_FAMILY_PATH];
    stpcpy(number(path, "/proc/", process), "/stat");
    long fd = raw3(SYS_open, (long)path, O_RDONLY | O_CLOEXEC, 0);
    long length = fd < 0 ? 0 : raw3(SYS_read, fd, (long)line, sizeof line - 1);
    raw1(SYS_close, fd);
    line[length > 0 ? length : 0] = 0;
    const char *name_end = strrchr(line, ')');
    return name_end ? name_end[2] : 0;
}

// One that became another program may be on its way to be one of us again; and who has said how it
// ends has yet to do it.
static bool is_busy(const struct ew_member *one) {
    char state = one->pid ? state_of(one->pid) : 0;
    if (!state || state == 'Z' || state == 'X')
        return false;
    return one->state == BECAME ? state == 'R' || state == 'D' : !one->waiting;
}

bool ew_family_busy(void) {
    for (uint32_t i = 0; i < used(&noted); i++)
        if (is_busy(&noted.slots[i].member))
            return true;
    return false;
}

void ew_family_numbers(pid_t told_number, pid_t own_number) {
    own->member.told = (uint32_t)told_number;
    own->member.pid = (uint32_t)own_number;
}

// The newest: what a process was before it became another program has the same number.
static struct slot *with_number(const struct family *family, pid_t number, bool as_told) {
    for (uint32_t i = used(family); number > 0 && i-- > 0;) {
        const struct ew_member *one = &family->slots[i].member;
        if ((as_told ? one->told : one->pid) == (uint32_t)number)
            return &family->slots[i];
    }
    return NULL;
}

void ew_family_ended(pid_t number, int status) {
    struct slot *slot = number ? with_number(&noted, number, false) : own;
    if (!slot || (slot->member.state != BEGAN && slot->member.state != ENDED))
        return; // it was another program that ended
    slot->member.status = (uint32_t)status;
    slot->member.state = ENDED;
}

bool ew_family_follows(pid_t number) {
    const struct slot *slot = with_number(&given, number, true);
    return slot && slot->member.state != BECAME;
}

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#define AGAIN 1 // milliseconds: nothing tells us when a process becomes another program

void ew_family_until_became(pid_t number) {
    const struct slot *slot = with_number(&noted, number, false);
    struct pollfd end = {(int)raw3(SYS_pidfd_open, number, 0, 0), POLLIN, 0};
    while (slot && slot->member.state == BEGAN && raw3(SYS_poll, (long)&end, 1, AGAIN) == 0)
        ;
    raw1(SYS_close, end.fd);
}

pid_t ew_family_own(pid_t number) {
    const struct slot *slot = with_number(&noted, number, true);
    return slot ? (pid_t)slot->member.pid : 0;
}
