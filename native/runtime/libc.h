// SPDX-License-Identifier: Apache-2.0
// Functions of the C library that the program and the runtime both use.
//
// What the program calls by the name X is defined as ew_takes_X; what the runtime itself calls X is
// ew_own_X, which nobody watches. linkable.cmake gives both their names.
#ifndef EITHERWAY_LIBC_H
#define EITHERWAY_LIBC_H

#include "runtime.h"

// libc's own function, or that of a library that comes before it.
struct ew_real {
    const char *name;
    void *function; // NULL until the start: see ew_real_of
};

// All of them are looked up at the start, before there are threads and before a server forks.
#define EW_REAL(name)                                                                              \
    __attribute__((section("ew_reals"), used)) static struct ew_real real_##name = {#name, NULL}

void ew_reals_start(void);
void ew_touching_start(void);
void ew_real_look(struct ew_real *real); // NULL stays where this libc does not have it
void *ew_real_find(struct ew_real *real);

static inline void *ew_real_of(struct ew_real *real) {
    return LIKELY(real->function != NULL) ? real->function : ew_real_find(real);
}

#define REAL(name) ((__typeof__(&name))ew_real_of(&real_##name))

// Whether this is code of libc or the loader. They may hold locks of their own: nobody else may go
// on in there.
bool ew_in_libc(const void *pc);

// A call that touches the program's memory is one step, at which it may be decided who goes on:
// before it touches anything. Whether it was.
static inline bool ew_touches(void) {
    return UNLIKELY(!ew_access_passes()) && ew_access_due();
}

// What a call touches, listed from its arguments; others may change that while they go on.
struct ew_touched {
    unsigned op;
    const void *address;
    size_t size;
};
#define EW_TOUCHED_MAX 8
typedef size_t ew_lister(struct ew_touched list[EW_TOUCHED_MAX], const long *arguments);

// Tells all of it. If some is shared and it was not decided yet, that comes first.
void ew_touch_listed(bool decided, ew_lister *lister, const long *arguments, const void *pc);
// Nothing is to be told: see ew_shadow_passes.
bool ew_listed_pass(ew_lister *lister, const long *arguments, const void *pc);
bool ew_touches_shared(const struct ew_touched *touched, const void *pc);

// One that is touched when the call is done.
static inline void ew_touch(unsigned op, const void *address, size_t size, const void *pc) {
    if (UNLIKELY(ew_watched) && size)
        ew_tell_access(op, address, size, pc);
}

#endif
