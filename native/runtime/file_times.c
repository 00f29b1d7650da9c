// SPDX-License-Identifier: Apache-2.0
#include "file_times.h"
#include "runtime.h"
#include "threads.h"

#include <string.h>
#include <sys/stat.h>

// In ascending order of both.
static struct moment {
    int64_t now, told;
} *moments;
static uint32_t count, room;

#define COARSE 10000000 // nanoseconds by which the kernel's clock for files may be late

enum { TIMES = 4 };

static void *time_at(const void *status, size_t size, int which) {
    const struct stat *plain = status;
    const struct statx *more = status;
    const void *const of_stat[TIMES] = {&plain->st_atim, &plain->st_mtim, &plain->st_ctim, NULL};
    const void *const of_statx[TIMES] = {&more->stx_atime, &more->stx_mtime, &more->stx_ctime,
                                         &more->stx_btime};
    return (void *)(size == sizeof *plain ? of_stat : of_statx)[which];
}

static int64_t nanoseconds_at(const void *status, size_t size, int which) {
    const void *at = time_at(status, size, which);
    const struct statx_timestamp *stamp = at;
    if (size == sizeof(struct stat))
        return ew_nanoseconds(at);
    return stamp->tv_sec * EW_SECOND + stamp->tv_nsec;
}

static void put_nanoseconds(void *status, size_t size, int which, int64_t moment) {
    struct timespec plain = ew_timespec(moment);
    struct statx_timestamp more = {.tv_sec = plain.tv_sec, .tv_nsec = (uint32_t)plain.tv_nsec};
    if (size == sizeof(struct stat))
        memcpy(time_at(status, size, which), &plain, sizeof plain);
    else
        memcpy(time_at(status, size, which), &more, sizeof more);
}

// Files that nobody has touched since are as old as they were in the recorded run.
static bool is_of_this_run(int64_t now) {
    return now >= ew_clock_began() - COARSE;
}

// How many of them are not later.
static uint32_t until(int64_t now) {
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (moments[middle].now <= now)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool fits(int64_t now, int64_t told) {
    uint32_t behind = until(now);
    if (!is_of_this_run(now))
        return true;
    if (behind && moments[behind - 1].now == now)
        return moments[behind - 1].told == told;
    return (!behind || moments[behind - 1].told <= told) &&
           (behind == count || told <= moments[behind].told);
}

static void learn(int64_t now, int64_t told) {
    uint32_t at = until(now);
    if (!is_of_this_run(now) || !fits(now, told) || (at && moments[at - 1].now == now))
        return;
    if (count == room) {
        uint32_t more = room ? room * 2 : 512;
        moments = ew_more_pages(moments, room * sizeof *moments, more * sizeof *moments);
        room = more;
    }
    memmove(&moments[at + 1], &moments[at], (count - at) * sizeof *moments);
    moments[at] = (struct moment){now, told};
    count++;
}

static int64_t as_recorded(int64_t now) {
    uint32_t behind = until(now);
    const struct moment begun = {ew_clock_began() - COARSE, ew_clock_recorded() - COARSE};
    const struct moment *last = behind ? &moments[behind - 1] : &begun;
    int64_t told = last->told + (now - last->now);
    return behind < count && told > moments[behind].told ? moments[behind].told : told;
}

void ew_file_times_were_told(const void *now, const void *told, size_t size) {
    for (int i = 0; i < TIMES && time_at(now, size, i); i++)
        learn(nanoseconds_at(now, size, i), nanoseconds_at(told, size, i));
}

bool ew_file_times_may_be(const void *now, const void *told, size_t size) {
    for (int i = 0; i < TIMES && time_at(now, size, i); i++)
        if (!fits(nanoseconds_at(now, size, i), nanoseconds_at(told, size, i)))
            return false;
    return true;
}

void ew_file_times_put(void *now, size_t size) {
    for (int i = 0; i < TIMES && time_at(now, size, i); i++) {
        int64_t moment = nanoseconds_at(now, size, i), told = as_recorded(moment);
        if (!is_of_this_run(moment))
            continue;
        learn(moment, told);
        put_nanoseconds(now, size, i, told);
    }
}
