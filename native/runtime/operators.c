// SPDX-License-Identifier: Apache-2.0
// operator new and delete: libstdc++'s would call malloc from inside the library, and nobody could
// say where in the program that was.
//
// Where there is no memory it is done as libstdc++ does: it calls the program's handler and throws.
// Most of them are made of two others by the standard; where the program has brought those, they
// are.
#include "heap.h"
#include "sync.h"

#include <dlfcn.h>

typedef void *new_function(size_t size, size_t alignment, const void *nothrow);
typedef void delete_function(void *block);

#define WEAK EW_EXPORT __attribute__((weak))
#define OWN(name)                                                                                  \
    extern __typeof__(name) own##name __attribute__((alias(#name), visibility("hidden")))

extern void _ZSt17__throw_bad_allocv(void) __attribute__((weak));        // std::__throw_bad_alloc
extern void (*_ZSt15get_new_handlerv(void))(void) __attribute__((weak)); // std::get_new_handler

static void *allocate(size_t size, size_t alignment, const void *pc) {
    return alignment ? ew_allocate_aligned(alignment, size, pc) : ew_allocate(size, pc);
}

// libstdc++ is part of the program, without its operators.
static void *new_without_library(size_t size, size_t alignment, bool throws) {
    void *block = NULL;
    void (*handler)(void);
    while (!block && _ZSt15get_new_handlerv && (handler = _ZSt15get_new_handlerv())) {
        handler();
        block = allocate(size, alignment, PC);
    }
    if (!block && throws && _ZSt17__throw_bad_allocv)
        _ZSt17__throw_bad_allocv();
    return block;
}

static void *library_new(const char *name, size_t size, size_t alignment, bool throws) {
    new_function *library = (new_function *)dlsym(RTLD_NEXT, name);
    return library ? library(size, alignment, NULL) : new_without_library(size, alignment, throws);
}

static void *make(const char *name, size_t size, bool throws, const void *pc) {
    void *block = allocate(size ? size : 1, 0, pc);
    return LIKELY(block != NULL) ? block : library_new(name, size, 0, throws);
}

static void *make_aligned(const char *name, size_t size, size_t alignment, bool throws,
                          const void *pc) {
    size_t whole = ((size ? size : 1) + alignment - 1) & ~(alignment - 1);
    void *block = whole >= size ? allocate(whole, alignment, pc) : NULL;
    return LIKELY(block != NULL) ? block : library_new(name, size, alignment, throws);
}

// --- new, new[], each also without throwing, for a greater alignment, and both

WEAK void *_Znwm(size_t size) {
    return make("_Znwm", size, true, PC);
}

WEAK void *_ZnwmSt11align_val_t(size_t size, size_t alignment) {
    return make_aligned("_ZnwmSt11align_val_t", size, alignment, true, PC);
}

OWN(_Znwm);
OWN(_ZnwmSt11align_val_t);

static bool is_own_new(void) {
    return _Znwm == own_Znwm;
}

static bool is_own_aligned_new(void) {
    return _ZnwmSt11align_val_t == own_ZnwmSt11align_val_t;
}

#define NEW(name, throws)                                                                          \
    WEAK void *name(size_t size) {                                                                 \
        return LIKELY(is_own_new()) ? make(#name, size, throws, PC)                                \
                                    : library_new(#name, size, 0, throws);                         \
    }
NEW(_Znam, true)
NEW(_ZnwmRKSt9nothrow_t, false)
NEW(_ZnamRKSt9nothrow_t, false)

#define ALIGNED_NEW(name, throws)                                                                  \
    WEAK void *name(size_t size, size_t alignment) {                                               \
        return LIKELY(is_own_aligned_new()) ? make_aligned(#name, size, alignment, throws, PC)     \
                                            : library_new(#name, size, alignment, throws);         \
    }
ALIGNED_NEW(_ZnamSt11align_val_t, true)
ALIGNED_NEW(_ZnwmSt11align_val_tRKSt9nothrow_t, false)
ALIGNED_NEW(_ZnamSt11align_val_tRKSt9nothrow_t, false)

// --- delete, with the same forms, each also with the size, which malloc knows by itself

WEAK void _ZdlPv(void *block) {
    ew_free(block, PC);
}

WEAK void _ZdlPvSt11align_val_t(void *block, size_t alignment) {
    (void)alignment;
    ew_free(block, PC);
}

OWN(_ZdlPv);
OWN(_ZdlPvSt11align_val_t);

#define DELETE(name)                                                                               \
    WEAK void name(void *block) {                                                                  \
        if (LIKELY(_ZdlPv == own_ZdlPv))                                                           \
            ew_free(block, PC);                                                                    \
        else                                                                                       \
            _ZdlPv(block);                                                                         \
    }
DELETE(_ZdaPv)
DELETE(_ZdlPvm)
DELETE(_ZdaPvm)
DELETE(_ZdlPvRKSt9nothrow_t)
DELETE(_ZdaPvRKSt9nothrow_t)

#define ALIGNED_DELETE(name)                                                                       \
    WEAK void name(void *block, size_t alignment) {                                                \
        if (LIKELY(_ZdlPvSt11align_val_t == own_ZdlPvSt11align_val_t))                             \
            ew_free(block, PC);                                                                    \
        else                                                                                       \
            _ZdlPvSt11align_val_t(block, alignment);                                               \
    }
ALIGNED_DELETE(_ZdaPvSt11align_val_t)
ALIGNED_DELETE(_ZdlPvSt11align_val_tRKSt9nothrow_t)
ALIGNED_DELETE(_ZdaPvSt11align_val_tRKSt9nothrow_t)

#define SIZED_ALIGNED_DELETE(name)                                                                 \
    WEAK void name(void *block, size_t size, size_t alignment) {                                   \
        (void)size;                                                                                \
        if (LIKELY(_ZdlPvSt11align_val_t == own_ZdlPvSt11align_val_t))                             \
            ew_free(block, PC);                                                                    \
        else                                                                                       \
            _ZdlPvSt11align_val_t(block, alignment);                                               \
    }
SIZED_ALIGNED_DELETE(_ZdlPvmSt11align_val_t)
SIZED_ALIGNED_DELETE(_ZdaPvmSt11align_val_t)
