// SPDX-License-Identifier: Apache-2.0
// What libstdc++ shares among owners whom it counts inside itself: a locale with its facets, the
// state of a recursive directory iterator. Nobody would tell the counting, so whoever let go of one
// would not come before the last owner, who destroys it.
//
// Letting go is one step: nobody comes between what is told here and what the library does. Only
// the last one follows the others: all streams own the same locale, and order nothing by that.
#include "libc.h"
#include "tsan_annotations.h"

static void let_go(const int *owners, const void *pc) {
    if (*owners == 1)
        ew_annotate_acquire(owners, pc);
    else
        ew_annotate_release(owners, pc);
}

static const int *of_locale(void *const *locale) { // std::locale::_Impl begins with their number
    return locale[0];
}

static const int *of_iterator(void *const *iterator) { // std::_Sp_counted_base, or NULL
    return iterator[1] ? (const int *)((void **)iterator[1] + 1) : NULL;
}

#define DESTROYS(name, owners)                                                                     \
    EW_EXPORT void name(void *object) {                                                            \
        static struct ew_real real = {#name, NULL};                                                \
        if (owners(object))                                                                        \
            let_go(owners(object), PC);                                                            \
        ((void (*)(void *))ew_real_of(&real))(object);                                             \
    }
#define ASSIGNS(name, owners)                                                                      \
    EW_EXPORT void *name(void *object, void *other) {                                              \
        static struct ew_real real = {#name, NULL};                                                \
        if (owners(object))                                                                        \
            let_go(owners(object), PC);                                                            \
        return ((void *(*)(void *, void *))ew_real_of(&real))(object, other);                      \
    }

DESTROYS(_ZNSt6localeD1Ev, of_locale)
DESTROYS(_ZNSt6localeD2Ev, of_locale)
ASSIGNS(_ZNSt6localeaSERKS_, of_locale)
DESTROYS(_ZNSt10filesystem7__cxx1128recursive_directory_iteratorD1Ev, of_iterator)
DESTROYS(_ZNSt10filesystem7__cxx1128recursive_directory_iteratorD2Ev, of_iterator)
ASSIGNS(_ZNSt10filesystem7__cxx1128recursive_directory_iteratoraSERKS1_, of_iterator)
ASSIGNS(_ZNSt10filesystem7__cxx1128recursive_directory_iteratoraSEOS1_, of_iterator)
