// SPDX-License-Identifier: Apache-2.0
// What threads share: the descriptors of their process, its root and its directory. All of it is
// asked of the kernel once, and asked again when a call has changed it. A descriptor leads to the
// same file until a call of the table closes it; where somebody may change it by other means
// (only a part is shared, or a call that is not in the table does it), nothing is kept.
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tracer.h"

enum { KEPT_NUMBERS = 64, POSITIONS_MAX = 256, PLACES_MAX = 1024 };

struct place {
    int users;
    int descriptor;
    uint32_t object;
};

struct kept {
    uint32_t object; // 0: not known
    mode_t mode;
    int position;        // descriptor of what /proc tells of it, plus 1
    struct place *place; // of a directory that paths began at; NULL: not known
};

struct shared {
    int users; // threads
    bool uncertain;
    struct place *directory, *root; // NULL: not known
    struct kept kept[KEPT_NUMBERS];
};

static size_t positions, places; // descriptors of ours that are open for them

static void *made(size_t size) {
    void *memory = calloc(1, size);
    if (!memory)
        die(EXIT_UNAVAILABLE, "there is not enough memory");
    return memory;
}

static struct kept *kept_of(const struct thread *thread, int descriptor) {
    bool small = descriptor >= 0 && descriptor < KEPT_NUMBERS;
    return small && !thread->shared->uncertain ? &thread->shared->kept[descriptor] : NULL;
}

// ---- places

static void place_drop(struct place **place) {
    if (*place && --(*place)->users == 0) {
        close((*place)->descriptor);
        free(*place);
        places--;
    }
    *place = NULL;
}

static struct place *place_open(pid_t thread, const char *name) {
    char path[64];
    struct stat status;
    snprintf(path, sizeof path, "/proc/%d/%s", (int)thread, name);
    int descriptor = open(path, O_PATH | O_CLOEXEC);
    if (descriptor < 0)
        return NULL;
    if (fstat(descriptor, &status) < 0) {
        close(descriptor);
        return NULL;
    }
    struct place *place = made(sizeof *place);
    places++;
    *place = (struct place){1, descriptor, object_of(&status)};
    return place;
}

// Valid until the next one is asked for.
static bool place_of(pid_t thread, const char *name, bool keep, struct place **slot,
                     struct place *found) {
    static struct place *last;
    place_drop(&last);
    if (*slot) {
        *found = **slot;
        return true;
    }
    struct place *place = place_open(thread, name);
    if (!place)
        return false;
    *found = *place;
    *(keep ? slot : &last) = place;
    return true;
}

bool shared_root(struct thread *thread, int *descriptor, uint32_t *object) {
    struct shared *shared = thread->shared;
    struct place found;
    if (!place_of(thread->id, "root", !shared->uncertain, &shared->root, &found))
        return false;
    *descriptor = found.descriptor;
    *object = found.object;
    return true;
}

// The directory of the process is kept open, and those that it has open itself.
bool shared_start(struct thread *thread, int directory, uint32_t path, int *base, char *way,
                  size_t size, uint32_t *object) {
    struct kept *kept = kept_of(thread, directory);
    struct place found, *none = NULL, **slot = kept ? &kept->place : &none;
    bool keep = kept && places < PLACES_MAX;
    char name[32];
    (void)path, (void)size;
    way[0] = '\0';
    snprintf(name, sizeof name, "fd/%d", directory);
    if (directory == AT_FDCWD) {
        strcpy(name, "cwd");
        slot = &thread->shared->directory;
        keep = !thread->shared->uncertain;
    }
    if (!place_of(thread->id, name, keep, slot, &found))
        return false;
    *base = found.descriptor;
    *object = found.object;
    return true;
}

void shared_directory_changed(struct thread *thread) {
    place_drop(&thread->shared->directory);
}

bool entry_find(const struct entry_asked *asked, struct entry_found *found) {
    struct stat status;
    if (fstatat(asked->base, asked->way, &status, AT_SYMLINK_NOFOLLOW) < 0)
        return false;
    *found = (struct entry_found){object_of(&status), status.st_mode};
    return true;
}

ssize_t entry_link(uint32_t object, int base, const char *way, char *target, size_t size) {
    (void)object;
    return readlinkat(base, way, target, size);
}

// ---- descriptors

uint32_t shared_object(struct thread *thread, int descriptor, mode_t *mode) {
    struct kept *kept = kept_of(thread, descriptor);
    struct stat status = {0};
    if (kept && kept->object) {
        *mode = kept->mode;
        return kept->object;
    }
    uint32_t object = object_of_descriptor(thread->id, descriptor, &status);
    *mode = status.st_mode;
    if (kept) {
        kept->object = object;
        kept->mode = status.st_mode;
    }
    return object;
}

static void forget(struct kept *kept) {
    kept->object = 0;
    place_drop(&kept->place);
}

static void forget_all(struct shared *shared) {
    for (int i = 0; i < KEPT_NUMBERS; i++)
        forget(&shared->kept[i]);
}

void shared_closed(struct thread *thread, int descriptor) {
    if (descriptor >= 0 && descriptor < KEPT_NUMBERS)
        forget(&thread->shared->kept[descriptor]);
}

void shared_all_closed(struct thread *thread) {
    forget_all(thread->shared);
}

static void position_close(struct kept *kept) {
    if (!kept->position)
        return;
    close(kept->position - 1);
    kept->position = 0;
    positions--;
}

// The file in /proc is about the number, whatever it leads to: it stays good.
static int position_file(struct thread *thread, int descriptor, bool *keep) {
    struct kept *kept = kept_of(thread, descriptor);
    if (kept && kept->position) {
        *keep = true;
        return kept->position - 1;
    }
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fdinfo/%d", (int)thread->id, descriptor);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    *keep = file >= 0 && kept && positions < POSITIONS_MAX && thread->id == thread->process;
    if (*keep) {
        kept->position = file + 1;
        positions++;
    }
    return file;
}

// "pos:\t7\nflags:\t0100002\n..."
bool descriptor_state(struct thread *thread, int descriptor, uint64_t *position, uint64_t *flags) {
    char text[64], *next;
    bool keep;
    int file = position_file(thread, descriptor, &keep);
    ssize_t length = file < 0 ? -1 : pread(file, text, sizeof text - 1, 0);
    if (file >= 0 && !keep)
        close(file);
    text[length > 0 ? length : 0] = '\0';
    if (strncmp(text, "pos:", 4) != 0)
        return false;
    *position = strtoull(text + 4, &next, 10);
    next = strstr(next, "flags:");
    *flags = next ? strtoull(next + 6, NULL, 8) : 0;
    return next != NULL;
}

// ---- who shares

static void let_go(struct shared *shared) {
    if (--shared->users)
        return;
    place_drop(&shared->directory);
    place_drop(&shared->root);
    forget_all(shared);
    for (int i = 0; i < KEPT_NUMBERS; i++)
        position_close(&shared->kept[i]);
    free(shared);
}

// From here on others may change what is kept.
static void doubt(struct shared *shared) {
    shared->uncertain = true;
    place_drop(&shared->directory);
    place_drop(&shared->root);
    forget_all(shared);
}

void shared_begin(struct thread *thread) {
    thread->shared = made(sizeof *thread->shared);
    thread->shared->users = 1;
}

void shared_end(struct thread *thread) {
    let_go(thread->shared);
}

static struct place *place_also(struct place *place) {
    if (place)
        place->users++;
    return place;
}

void shared_inherit(struct thread *parent, struct thread *child, uint64_t flags) {
    uint64_t both = CLONE_FILES | CLONE_FS;
    struct shared *old = child->shared;
    if ((flags & both) == both) {
        parent->shared->users++;
        child->shared = parent->shared;
        let_go(old);
        return;
    }
    if (flags & both) {
        doubt(parent->shared);
        doubt(child->shared);
        return;
    }
    if (parent->shared->uncertain || old->directory || old->root)
        return;
    old->directory = place_also(parent->shared->directory);
    old->root = place_also(parent->shared->root);
    for (int i = 0; i < KEPT_NUMBERS; i++)
        old->kept[i] = (struct kept){parent->shared->kept[i].object, parent->shared->kept[i].mode,
                                     0, place_also(parent->shared->kept[i].place)};
}

bool shared_by_one(const struct thread *thread) {
    return thread->shared->users == 1 && !thread->shared->uncertain;
}

void shared_parts(struct thread *thread) {
    doubt(thread->shared);
}
