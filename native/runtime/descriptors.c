// SPDX-License-Identifier: Apache-2.0
// Descriptors are known by what they lead to: libc opens and closes some without telling us.
#include "descriptors.h"
#include "connections.h"
#include "signals.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>

struct target {
    dev_t device;
    ino_t inode;
    bool shared;      // another process has it too
    uint32_t channel; // the same for both ends
};

static struct target standard[3]; // where descriptors 0, 1 and 2 led at the start
static struct target *made;       // pipes and socket pairs that the program made
static uint32_t made_count, made_room;
static uint32_t made_shared; // so many of them, the oldest, others have too
static uint32_t last_channel;
static dev_t telling[2]; // file systems whose files say what the kernel thinks just now
static dev_t queues;     // file system of POSIX message queues, once one was used
static bool shared;      // some with another process
static uint32_t last_number, shared_numbers; // see below; another process has those up to there too

static bool target_of(int descriptor, struct stat *status) {
    return raw3(SYS_fstat, descriptor, (long)status, 0) == 0;
}

static bool is_same(const struct target *one, const struct stat *status) {
    return one->device == status->st_dev && one->inode == status->st_ino;
}

void ew_descriptors_prepare(void) {
    static const char *const paths[2] = {"/proc/self", "/sys/kernel"};
    struct stat status;
    for (int i = 0; i < 2; i++)
        if (raw3(SYS_stat, (long)paths[i], (long)&status, 0) == 0)
            telling[i] = status.st_dev;
}

void ew_descriptors_begin(void) {
    struct stat status;
    for (int i = 0; i < 3; i++)
        if (target_of(i, &status))
            standard[i] = (struct target){status.st_dev, status.st_ino, false, 0};
}

void ew_descriptors_shared(void) {
    shared = true;
    made_shared = made_count;
    shared_numbers = last_number;
}

void ew_descriptor_shared(int descriptor) {
    struct stat status;
    if (!target_of(descriptor, &status))
        return;
    for (uint32_t i = made_shared; i < made_count; i++)
        made[i].shared |= is_same(&made[i], &status);
    if (ew_number_of(descriptor))
        ew_numbered_outside(descriptor);
}

bool ew_descriptors_are_shared(void) {
    return shared;
}

unsigned ew_output_of(const struct stat *status) {
    if (is_same(&standard[1], status))
        return 1;
    return is_same(&standard[2], status) ? 2 : 0;
}

bool ew_is_output(const struct stat *status) {
    return ew_output_of(status) != 0;
}

bool ew_is_standard(const struct stat *status) {
    return is_same(&standard[0], status) || ew_is_output(status);
}

#define REMEMBERED 4096 // shared ones: a server that makes one for each request has used the oldest

static void forget_oldest(void) {
    uint32_t gone = made_shared - REMEMBERED;
    for (uint32_t i = gone; i < made_count; i++)
        made[i - gone] = made[i];
    made_count -= gone;
    made_shared -= gone;
}

static void grow(void) {
    uint32_t room = made_room ? made_room * 2 : 512;
    made = ew_more_pages(made, made_room * sizeof *made, room * sizeof *made);
    made_room = room;
}

static void add_made(int descriptor) {
    struct stat status;
    if (!target_of(descriptor, &status))
        return;
    if (made_count == made_room && made_shared > 2 * REMEMBERED)
        forget_oldest();
    else if (made_count == made_room)
        grow();
    made[made_count++] = (struct target){status.st_dev, status.st_ino, false, last_channel};
}

void ew_made_within(const int ends[2]) {
    last_channel++;
    add_made(ends[0]);
    add_made(ends[1]);
}

static const struct target *find_made(const struct stat *status, uint32_t from) {
    for (uint32_t i = made_count; i-- > from;) // the newest are used most
        if (is_same(&made[i], status))
            return &made[i];
    return NULL;
}

bool ew_was_made(const struct stat *status) {
    return find_made(status, 0) != NULL;
}

uint32_t ew_channel_made(const struct stat *status) {
    const struct target *found = find_made(status, 0);
    return found ? found->channel : 0;
}

static bool is_within(const struct stat *status) {
    const struct target *found = find_made(status, made_shared);
    return found && !found->shared;
}

// --- what is known by its descriptor

#define NUMBERS (1u << 20) // Linux's own limit, unless root has raised it
#define OBJECTS (1u << 28)

static uint32_t *numbers;    // by descriptor; 0: not known
static bool *number_outside; // by number
static unsigned highest;     // descriptor that has had a number
static bool *copied;         // by descriptor; once so, always

static void give(int descriptor, uint32_t number) {
    if (!numbers) {
        numbers = ew_pages(NUMBERS * sizeof *numbers);
        number_outside = ew_pages(OBJECTS);
    }
    if ((unsigned)descriptor >= NUMBERS)
        return;
    numbers[descriptor] = number;
    if ((unsigned)descriptor > highest)
        highest = (unsigned)descriptor;
}

void ew_numbered_within(int descriptor) {
    if (last_number == OBJECTS - 1)
        ew_cannot("more than 268 million eventfds and epoll instances in one run");
    give(descriptor, ++last_number);
}

void ew_numbered_outside(int descriptor) {
    if (!ew_number_of(descriptor))
        ew_numbered_within(descriptor);
    number_outside[ew_number_of(descriptor)] = true;
}

uint32_t ew_number_of(int descriptor) {
    return numbers && (uint32_t)descriptor < NUMBERS ? numbers[descriptor] : 0;
}

static bool is_numbered_outside(int descriptor) {
    uint32_t number = ew_number_of(descriptor);
    return number && number_outside[number];
}

int ew_descriptor_numbered(uint32_t number) {
    for (unsigned i = 0; numbers && number && i <= highest; i++)
        if (numbers[i] == number)
            return (int)i;
    return -1;
}

bool ew_may_be_copied(int descriptor) {
    return shared || ((uint32_t)descriptor < NUMBERS && copied && copied[descriptor]);
}

static void note_copy(int descriptor) {
    if (!copied)
        copied = ew_pages(NUMBERS);
    if ((uint32_t)descriptor < NUMBERS)
        copied[descriptor] = true;
}

void ew_number_copied(int from, int to) {
    uint32_t number = ew_number_of(from);
    ew_signalfd_copied(from, to);
    note_copy(from);
    note_copy(to);
    ew_connections_forget((unsigned)to, (unsigned)to);
    if (number || ew_number_of(to))
        give(to, number);
}

void ew_numbers_closed(unsigned first, unsigned last) {
    ew_signalfds_closed(first, last);
    ew_connections_forget(first, last);
    for (unsigned i = first; numbers && i <= last && i <= highest; i++)
        numbers[i] = 0;
}

// --- where one leads

#define MQUEUE_MAGIC 0x19800202 // ipc/mqueue.c of Linux, which no header has

// Devices that give the same to everybody: null, zero and full.
static bool is_constant_device(const struct stat *status) {
    unsigned number = minor(status->st_rdev);
    return major(status->st_rdev) == 1 && (number == 3 || number == 5 || number == 7);
}

static bool is_telling(const struct stat *status) {
    return status->st_dev == telling[0] || status->st_dev == telling[1];
}

bool ew_tells_of_now(int descriptor) {
    struct stat status;
    return target_of(descriptor, &status) && is_telling(&status);
}

static bool is_plain_outside(int descriptor, const struct stat *status) {
    return is_telling(status) || (queues && status->st_dev == queues) ||
           is_numbered_outside(descriptor); // it came through a socket
}

void ew_queue_used(int descriptor) {
    struct statfs files;
    struct stat status;
    if (!queues && raw3(SYS_fstatfs, descriptor, (long)&files, 0) == 0 &&
        files.f_type == MQUEUE_MAGIC && target_of(descriptor, &status))
        queues = status.st_dev;
}

bool ew_look_where(int descriptor, struct stat *status) {
    if (ew_connection_known(descriptor, status))
        return true;
    if (!target_of(descriptor, status)) {
        *status = (struct stat){0};
        return false; // an error that says nothing of the outside
    }
    switch (status->st_mode & S_IFMT) {
    case S_IFREG:
        return is_plain_outside(descriptor, status);
    case S_IFDIR:
    case S_IFLNK:
    case S_IFBLK:
        return false;
    case S_IFCHR:
        return !is_constant_device(status);
    case 0:
        return ew_number_of(descriptor) <= shared_numbers || is_numbered_outside(descriptor);
    default:
        return !is_within(status);
    }
}

bool ew_is_outside(int descriptor) {
    struct stat status;
    return ew_look_where(descriptor, &status);
}

// --- our own

int ew_out_of_the_way(int descriptor) {
    struct rlimit limit;
    if (descriptor < 0 || raw3(SYS_getrlimit, RLIMIT_NOFILE, (long)&limit, 0) < 0)
        return descriptor;
    long lowest = limit.rlim_cur < NUMBERS ? (long)limit.rlim_cur / 2 : NUMBERS / 2;
    long moved = raw3(SYS_fcntl, descriptor, F_DUPFD_CLOEXEC, lowest);
    if (moved < 0)
        return descriptor;
    raw1(SYS_close, descriptor);
    return (int)moved;
}
