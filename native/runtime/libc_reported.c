// SPDX-License-Identifier: Apache-2.0
// Says that a function is not controlled, and lets the call through.
#include "runtime.h"

#include <dlfcn.h>

static const struct {
    const char *name, *what;
} entries[] = {
#define HARMLESS(names, why)
#define REPORTED(name, what) {#name, what},
#include "libc_functions.h"
};

static void *functions[sizeof entries / sizeof *entries];

__attribute__((used)) void *ew_reported_enter(const void *arguments, uint32_t number) {
    (void)arguments;
    if (!functions[number])
        functions[number] = dlsym(RTLD_NEXT, entries[number].name);
    if (!functions[number])
        ew_cannot("a function is called that this libc does not have");
    if (ew_running)
        ew_report(entries[number].name, entries[number].what);
    return functions[number];
}
