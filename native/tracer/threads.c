// SPDX-License-Identifier: Apache-2.0
// The threads of all processes, by number.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tracer.h"

enum { NUMBERS = 1 << 22 };   // pid_max cannot be more
static struct thread **table; // by number
static struct thread **all;   // in no order
static size_t count, room;

static void table_make(void) {
    size_t size = (size_t)NUMBERS * sizeof *table;
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    table = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (table == MAP_FAILED)
        die(EXIT_UNAVAILABLE, "there is not enough memory for a table of processes");
}

struct thread *thread_find(pid_t id) {
    return table && id > 0 && id < NUMBERS ? table[id] : NULL;
}

static int open_of(pid_t id, const char *name) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)id, name);
    return open(path, O_RDONLY | O_CLOEXEC);
}

pid_t thread_process(pid_t thread) {
    char text[512];
    int file = open_of(thread, "status");
    ssize_t length = file < 0 ? 0 : read(file, text, sizeof text - 1);
    if (file >= 0)
        close(file);
    text[length > 0 ? length : 0] = '\0';
    const char *line = strstr(text, "\nTgid:");
    return line ? (pid_t)strtol(line + 6, NULL, 10) : thread;
}

static void add_to_all(struct thread *thread) {
    if (count == room) {
        room = room ? 2 * room : 64;
        all = realloc(all, room * sizeof *all);
        if (!all)
            die(EXIT_UNAVAILABLE, "there is not enough memory for %zu processes", room);
    }
    thread->at = count;
    all[count++] = thread;
}

struct thread *thread_get(pid_t id) {
    struct thread *thread = thread_find(id);
    if (thread)
        return thread;
    if (!table)
        table_make();
    thread = calloc(1, sizeof *thread);
    if (!thread || id >= NUMBERS)
        die(EXIT_UNAVAILABLE, "there is not enough memory for process %d", (int)id);
    thread->id = id;
    thread->process = id; // until it is known that it is a thread of another
    shared_begin(thread);
    table[id] = thread;
    add_to_all(thread);
    return thread;
}

void thread_gone(struct thread *thread) {
    table[thread->id] = NULL;
    all[thread->at] = all[--count];
    all[thread->at]->at = thread->at;
    if (thread->stat > 0)
        close(thread->stat);
    if (thread->syscall > 0)
        close(thread->syscall);
    shared_end(thread);
    free(thread);
}

void threads_each(void (*visit)(struct thread *thread, void *context), void *context) {
    for (size_t i = 0; i < count; i++)
        visit(all[i], context);
}

static char state_of(struct thread *thread) {
    char line[512];
    if (!thread->stat)
        thread->stat = open_of(thread->id, "stat");
    ssize_t length = pread(thread->stat, line, sizeof line - 1, 0);
    if (length <= 0)
        return 'X';
    line[length] = '\0';
    const char *name_end = strrchr(line, ')'); // the name may hold anything, brackets too
    return name_end && name_end[1] == ' ' ? name_end[2] : 'X';
}

// Some calls say that they sleep before they have looked whether they must: wait4 does. What the
// kernel tells here it has waited for.
static bool is_off_processor(struct thread *thread) {
    char line[8];
    if (!thread->syscall)
        thread->syscall = open_of(thread->id, "syscall");
    ssize_t length = pread(thread->syscall, line, sizeof line, 0);
    return length > 0 && memcmp(line, "running", (size_t)(length < 7 ? length : 7)) != 0;
}

void thread_goes(struct thread *thread) {
    thread->moves = thread->where != IN_CALL || !call_may_wait(thread);
    thread->slept = false;
}

bool thread_sleeps(struct thread *thread) {
    if (thread->slept) // the same sleep, unless it was woken
        return thread->slept = is_off_processor(thread);
    char state = state_of(thread);
    bool asleep = state == 'S' || (state == 'D' && thread->lends);
    return thread->slept = asleep && is_off_processor(thread);
}
