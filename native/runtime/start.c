// SPDX-License-Identifier: Apache-2.0
// The runtime takes over before any constructor of the program or its libraries runs; the run that
// is scheduled and recorded begins with the program's own.
#include "bare.h"
#include "binding.h"
#include "circles.h"
#include "descriptors.h"
#include "family.h"
#include "guide.h"
#include "heap.h"
#include "input.h"
#include "libc.h"
#include "libraries.h"
#include "options.h"
#include "pairs.h"
#include "pids.h"
#include "places.h"
#include "races.h"
#include "runtime.h"
#include "schedule.h"
#include "server.h"
#include "shadow.h"
#include "signals.h"
#include "threads.h"
#include "tsan_reports.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>

uint8_t ew_has_fsgsbase;
static struct ew_thread first_thread;

_Noreturn void ew_end(int status) {
    ew_trace_finish();
    if (ew_bare_failed())
        status = EW_BARE_STATUS;
    ew_family_ended(0, status << 8);
    raw1(SYS_exit_group, status);
    __builtin_unreachable();
}

static _Noreturn void leave(const char *who, const char *what, int status) {
    const struct iovec line[] = {
        {(char *)who, strlen(who)}, {(char *)what, strlen(what)}, {"\n", 1}};
    ew_say(line, sizeof line / sizeof *line);
    ew_end(status);
}

static _Noreturn void give_up(const char *who, const char *what, int status) {
    if (ew_detecting)
        ew_gave_up(status);
    leave(who, what, status);
}

_Noreturn void ew_bug(const char *what) {
    give_up("eitherway: a bug in EitherWay: ", what, 70);
}

_Noreturn void ew_cannot(const char *what) {
    give_up("eitherway: ", what, 69);
}

_Noreturn void ew_cannot_follow(const char *what) {
    leave("eitherway: ", what, 69);
}

_Noreturn void ew_bad_options(const char *what) {
    leave("eitherway: ", what, 64);
}

// What is mostly empty lies apart: a run that is forked pays for each table of pages that it needs.
#define EMPTY (64ul << 20)

static void *map(size_t bytes, int sharing) {
    static uintptr_t next[2] = {0x100000000000, 0x180000000000};
    uintptr_t *at = &next[bytes >= EMPTY];
    long address = raw6(SYS_mmap, (long)*at, (long)bytes, PROT_READ | PROT_WRITE,
                        sharing | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (address < 0 && address > -4096)
        ew_cannot("out of address space");
    *at += (bytes + 4095) & ~4095ul;
    return (void *)address;
}

void *ew_pages(size_t bytes) {
    return map(bytes, MAP_PRIVATE);
}

void *ew_shared_pages(size_t bytes) {
    return map(bytes, MAP_SHARED);
}

void *ew_more_pages(void *old, size_t had, size_t bytes) {
    void *more = ew_pages(bytes);
    if (had) {
        memcpy(more, old, had);
        raw3(SYS_munmap, (long)old, (long)had, 0);
    }
    return more;
}

static char *variable(char **environment) {
    static const char name[] = "EITHERWAY_OPTIONS=";
    for (; *environment; environment++)
        if (strncmp(*environment, name, sizeof name - 1) == 0)
            return *environment + sizeof name - 1;
    return NULL;
}

static struct ew_options options;
static bool begun;

// The libraries' own constructors run between the two, alone and without being recorded: they cost
// a served run nothing, and some are slow (libgcc asks the processor what it is).
static void start(int count, char **arguments, char **environment) {
    ew_say_start();
    ew_reals_start();
    ew_has_fsgsbase = (getauxval(AT_HWCAP2) & 2) != 0;
    char *text = variable(environment);
    ew_options_read(text, &options);
    if (text)
        memset(text, ':', strlen(text)); // not the program's affair, and other in every run
    if (options.family || options.server >= 0)
        ew_family_start(&options, count, arguments);
    ew_threads_start(&first_thread);
    ew_specific_start(&first_thread);
    ew_stdio_start();
    ew_clock_start();
    ew_shadow_start();
    ew_scheduler_start(&first_thread);
    ew_running = true;
}

void ew_begin(void) {
    if (begun)
        return;
    begun = true;
    if (options.server >= 0 || options.family)
        ew_signals_record();
    ew_descriptors_prepare();
    ew_libraries_prepare();
    ew_random_prepare();
    ew_heap_key_prepare();
    if (options.server >= 0) {
        ew_threads_prepare(options.threads);
        ew_bind_libc();
        ew_serve(options.server, &options);
        ew_say_start(); // the run has other outputs than the server
    }
    ew_family_begin(&options);
    ew_libraries_begin();
    ew_guide_begin(options.guide, ew_family_leads());
    ew_places_begin();
    ew_reports_begin();
    if (options.tied && raw1(SYS_getppid, 0) == options.tied)
        raw6(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0, 0);
    ew_descriptors_begin();
    ew_clock_begin();
    ew_pids_begin();
    ew_random_begin();
    ew_bare = !options.is_told;
    if (options.detect || ew_bare)
        ew_detect();
    ew_pairs_begin();
    if (options.trace.directory >= 0)
        ew_trace_start(&options.trace);
    ew_circles_begin(options.detect && !ew_schedule_following(), NULL);
    ew_scheduler_begin(options.scheduler, options.seed, &options.tuning);
}

// The first of the program itself: a library that is ours may begin earlier, with a thread.
__attribute__((constructor(101))) static void begin_with_the_program(void) {
    ew_begin();
}

__attribute__((section(".preinit_array"), used)) static void (*const starter)(int, char **,
                                                                              char **) = start;
