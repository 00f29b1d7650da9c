// SPDX-License-Identifier: Apache-2.0
// Loading libraries: one thread at a time, the others waiting as they would for the loader's lock.
//
// The loader holds a lock of its own while constructors run; a second thread that waited for that
// would stop the carrier. So whoever loads or unloads takes a lock of ours first, and is not
// interrupted until it is done, unless a constructor waits by itself.
#include "libraries.h"
#include "openmp.h"
#include "shadow.h"
#include "threads.h"
#include "trace.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>

bool ew_uninterrupted;
static const struct ew_thread *owner;
static uint32_t depth;
static uint32_t turns; // decision points that it has passed, but for those of plain accesses
static uint64_t since; // the step
__attribute__((used)) void *(*ew_real_dlopen)(const char *, int);
__attribute__((used)) void *(*ew_real_dlmopen)(Lmid_t, const char *, int);
static int (*real_dlclose)(void *);

static void enter(void) {
    if (!ew_running)
        return;
    if (owner != ew_self) {
        ew_point(EW_WHY_SYNC);
        while (owner)
            ew_wait(&owner, EW_NEVER);
        owner = ew_self;
    }
    if (depth++ == 0) {
        turns = 0;
        since = ew_step_number();
    }
    ew_uninterrupted = true;
}

// --- variables of libraries that are new: other memory may have lain there before

struct modules {
    unsigned long long ever; // loaded so far
    unsigned count, new;     // in memory; the last ones in the list
};

static int count_module(struct dl_phdr_info *info, size_t size, void *argument) {
    struct modules *modules = argument;
    (void)size;
    modules->ever = info->dlpi_adds;
    modules->count++;
    return 0;
}

static int refresh_module(struct dl_phdr_info *info, size_t size, void *argument) {
    struct modules *modules = argument;
    (void)size;
    if (modules->count-- > modules->new)
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type == PT_LOAD && part->p_flags & PF_W)
            ew_shadow_fresh(info->dlpi_addr + part->p_vaddr, part->p_memsz, false);
    }
    return 0;
}

static unsigned long long loaded_ever;

static void refresh(void) {
    struct modules modules = {0};
    dl_iterate_phdr(count_module, &modules);
    modules.new = (unsigned)(modules.ever - loaded_ever);
    loaded_ever = modules.ever;
    dl_iterate_phdr(refresh_module, &modules);
}

__attribute__((used)) void ew_loading_leave(void) {
    if (!owner || --depth > 0)
        return;
    owner = NULL;
    ew_uninterrupted = false;
    ew_openmp_look();
    ew_libraries_tell();
    if (UNLIKELY(ew_tracing))
        ew_trace_modules();
    if (UNLIKELY(ew_detecting))
        refresh();
    ew_wake_all(&owner);
}

// dlopen asks who calls it: a library's own search path comes first. So it has to return into that
// library, and to us from there: to a return instruction, whichever comes first behind the call.
__attribute__((used)) const void *ew_loading_enter(const void *caller) {
    const unsigned char *at = caller;
    enter();
    while (*at != 0xC3)
        at++;
    return at;
}

// A constructor waits: the others run meanwhile, and may load too, which then waits for this one.
bool ew_loading_pause(void) {
    bool paused = ew_uninterrupted;
    ew_uninterrupted = false;
    if (paused)
        ew_report("dlopen",
                  "a constructor waits: should another thread ask for a symbol meanwhile, "
                  "all would stop");
    return paused;
}

// After so many a constructor is taken to wait by looking.
#define TURNS 20000
#define ACCESSES 1000000

// Plain accesses are decision points at other times in a replay: only their number is the same.
bool ew_loading_gives_way(enum ew_why why) {
    if (why == EW_WHY_ACCESS || why == EW_WHY_PLACE)
        return ew_step_number() - since >= ACCESSES;
    return ++turns >= TURNS || why == EW_WHY_YIELD;
}

void ew_loading_resume(bool paused) {
    ew_uninterrupted = paused;
}

EW_EXPORT int dlclose(void *library) {
    enter();
    int error = real_dlclose(library);
    ew_loading_leave();
    return error;
}

void ew_loading_forked(void) {
    if (owner != ew_self) {
        owner = NULL;
        depth = 0;
        ew_uninterrupted = false;
    }
}

void ew_loading_start(void) {
    *(void **)&ew_real_dlopen = dlsym(RTLD_NEXT, "dlopen");
    *(void **)&ew_real_dlmopen = dlsym(RTLD_NEXT, "dlmopen");
    *(void **)&real_dlclose = dlsym(RTLD_NEXT, "dlclose");
    if (!ew_real_dlopen || !ew_real_dlmopen || !real_dlclose)
        ew_cannot("libc lacks dlopen, dlmopen or dlclose");
    ew_openmp_look();
    struct modules modules = {0};
    dl_iterate_phdr(count_module, &modules);
    loaded_ever = modules.ever;
}
