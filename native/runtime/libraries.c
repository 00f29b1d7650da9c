// SPDX-License-Identifier: Apache-2.0
// Which libraries of the user's are loaded: a replay with another build of one is another run.
#include "libraries.h"
#include "input.h"

#include <link.h>
#include <string.h>

static unsigned long long told; // libraries that have come so far

// Those of the system are taken to be as they were, as its other files are. What has no path is
// the kernel's, or the program itself.
static bool is_of_system(const char *name) {
    static const char *const places[] = {"/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (strncmp(name, places[i], strlen(places[i])) == 0)
            return true;
    return !strchr(name, '/');
}

struct listing {
    unsigned count;         // in memory
    unsigned long long now; // as `told`
    bool all_of_system;
};

static int count_one(struct dl_phdr_info *info, size_t size, void *argument) {
    struct listing *listing = argument;
    (void)size;
    listing->now = info->dlpi_adds;
    listing->count++;
    listing->all_of_system &= is_of_system(info->dlpi_name);
    return 0;
}

// The last ones in the list are the new ones.
static int tell_one(struct dl_phdr_info *info, size_t size, void *argument) {
    struct listing *listing = argument;
    (void)size;
    if (listing->count-- <= listing->now - told && !is_of_system(info->dlpi_name))
        ew_input_tell(EW_INPUT_LIBRARY, info->dlpi_name, strlen(info->dlpi_name));
    return 0;
}

void ew_libraries_tell(void) {
    struct listing listing = {.all_of_system = true};
    dl_iterate_phdr(count_one, &listing);
    if (listing.now == told)
        return;
    dl_iterate_phdr(tell_one, &listing);
    told = listing.now;
}

// What nothing is to be told of, no run has to look at.
static bool nothing_to_tell;

void ew_libraries_prepare(void) {
    struct listing listing = {.all_of_system = true};
    dl_iterate_phdr(count_one, &listing);
    nothing_to_tell = listing.all_of_system;
    if (nothing_to_tell)
        told = listing.now;
}

void ew_libraries_begin(void) {
    if (!nothing_to_tell)
        ew_libraries_tell();
}
