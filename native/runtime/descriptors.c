// SPDX-License-Identifier: Apache-2.0
// Descriptors are known by what they lead to: libc opens and closes some without telling us.
#include "descriptors.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>

struct target {
    dev_t device;
    ino_t inode;
};

static struct target outputs[2]; // where descriptors 1 and 2 led at the start
static struct target *within;    // pipes that the program made for itself
static uint32_t within_count, within_room;
static bool shared;

static bool target_of(int descriptor, struct stat *status) {
    return raw3(SYS_fstat, descriptor, (long)status, 0) == 0;
}

static bool is_same(const struct target *one, const struct stat *status) {
    return one->device == status->st_dev && one->inode == status->st_ino;
}

void ew_descriptors_start(void) {
    struct stat status;
    for (int i = 0; i < 2; i++)
        if (target_of(1 + i, &status))
            outputs[i] = (struct target){status.st_dev, status.st_ino};
}

void ew_descriptors_shared(void) {
    shared = true;
}

bool ew_is_output(int descriptor) {
    struct stat status;
    if (!target_of(descriptor, &status))
        return false;
    return is_same(&outputs[0], &status) || is_same(&outputs[1], &status);
}

static void grow(void) {
    uint32_t room = within_room ? within_room * 2 : 512;
    struct target *more = ew_pages(room * sizeof *more);
    for (uint32_t i = 0; i < within_count; i++)
        more[i] = within[i];
    if (within)
        raw3(SYS_munmap, (long)within, (long)(within_room * sizeof *within), 0);
    within = more;
    within_room = room;
}

void ew_made_within(int descriptor) {
    struct stat status;
    if (!target_of(descriptor, &status))
        return;
    if (within_count == within_room)
        grow();
    within[within_count++] = (struct target){status.st_dev, status.st_ino};
}

static bool is_within(const struct stat *status) {
    for (uint32_t i = within_count; i-- > 0;) // the newest are used most
        if (is_same(&within[i], status))
            return true;
    return false;
}

// Devices that give the same to everybody: null, zero and full.
static bool is_constant_device(const struct stat *status) {
    unsigned number = minor(status->st_rdev);
    return major(status->st_rdev) == 1 && (number == 3 || number == 5 || number == 7);
}

bool ew_is_outside(int descriptor) {
    struct stat status;
    if (!target_of(descriptor, &status))
        return false; // an error that says nothing of the outside
    switch (status.st_mode & S_IFMT) {
    case S_IFREG:
    case S_IFDIR:
    case S_IFLNK:
    case S_IFBLK:
        return false;
    case S_IFCHR:
        return !is_constant_device(&status);
    default:
        return shared || !is_within(&status);
    }
}
