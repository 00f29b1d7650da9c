// SPDX-License-Identifier: Apache-2.0
// malloc and its kin: libc's, or those of a library that the program is linked with.
//
// A block is new memory, written by whoever allocates it; freeing it is a write to all of it. So
// what another thread did with it unordered is a race, and nothing that was done in an earlier life
// of the same memory is.
#include "heap.h"
#include "left.h"
#include "libc.h"
#include "places.h"
#include "races.h"
#include "sync.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>

EW_REAL(malloc);
EW_REAL(calloc);
EW_REAL(realloc);
EW_REAL(free);
EW_REAL(memalign);
EW_REAL(aligned_alloc);
EW_REAL(posix_memalign);
EW_REAL(valloc);
EW_REAL(pvalloc);
EW_REAL(malloc_usable_size);

// The loader allocates before the start, and looking up a name may allocate too.
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void __libc_free(void *);

static void *find(struct ew_real *real, void *libc) {
    static bool looking;
    if (looking)
        return libc;
    looking = true;
    // Not when it is needed: looking up a name frees the message of the last one that was not
    // there, and would do so again.
    if (!real_free.function)
        ew_real_find(&real_free);
    void *function = ew_real_find(real);
    looking = false;
    return function;
}

#define HEAP(name)                                                                                 \
    ((__typeof__(&name))(LIKELY(real_##name.function != NULL)                                      \
                             ? real_##name.function                                                \
                             : find(&real_##name, (void *)__libc_##name)))

// --- blocks

// glibc has eight bytes of its own before each block; what other allocators have nobody knows.
static bool has_heads(void) {
    static int known;
    if (!known)
        known = ew_in_libc(real_malloc.function) ? 1 : -1;
    return known > 0;
}

static void *allocated(void *address, size_t size, const void *pc) {
    if (LIKELY(!ew_watched) || !address)
        return address;
    const struct ew_block_of block = {address, size, REAL(malloc_usable_size)(address), pc};
    ew_tell_allocated(&block, !ew_in_libc(pc));
    if (ew_detecting && has_heads())
        ew_shadow_heap((uintptr_t)address);
    return address;
}

// Whether it can be given back, as far as that is known: blocks from before the run have no head.
static bool is_block(const void *address, const void *pc) {
    unsigned wrong = 0;
    if (!has_heads())
        return true;
    if ((uintptr_t)address % (2 * sizeof(size_t)))
        wrong = EW_FOUND_INVALID_FREE;
    else if (ew_detecting && ew_shadow_heap_at((uintptr_t)address) == EW_HEAP_FREED)
        wrong = EW_FOUND_DOUBLE_FREE;
    if (wrong && ew_detecting)
        ew_freed_wrongly(address, pc, wrong);
    if (wrong && ew_tracing)
        ew_trace_access(EW_OP_FREE, EW_FLAG_FAILED, address, 1, pc);
    return !wrong;
}

static void freed(void *address, size_t usable, const void *pc) {
    const struct ew_block_of block = {address, usable, usable, pc};
    ew_tell_freed(&block);
    if (ew_detecting && has_heads())
        ew_shadow_heap_freed((uintptr_t)address);
}

// Inside libc nobody else may go on.
static void step(void *address, const void *pc) {
    if (ew_in_libc(pc) || ew_touches() || !ew_detecting || LIKELY(!ew_places_any) || !has_heads() ||
        ew_shadow_heap_at((uintptr_t)address) != EW_HEAP_LIVES)
        return;
    struct ew_touched block = {EW_OP_STORE, address, REAL(malloc_usable_size)(address)};
    if (ew_touches_shared(&block, pc))
        ew_point_at(EW_WHY_PLACE, block.op, block.address, block.size);
}

void ew_free(void *address, const void *pc) {
    if (address && LIKELY(ew_running)) {
        step(address, pc);
        if (UNLIKELY(ew_watched) && is_block(address, pc))
            freed(address, REAL(malloc_usable_size)(address), pc);
    }
    HEAP(free)(address);
}

void *ew_allocate(size_t size, const void *pc) {
    return allocated(HEAP(malloc)(size), size, pc);
}

void *ew_allocate_aligned(size_t alignment, size_t size, const void *pc) {
    return allocated(REAL(aligned_alloc)(alignment, size), size, pc);
}

// --- the functions

EW_EXPORT void *ew_takes_malloc(size_t size) {
    return ew_allocate(size, PC);
}

EW_EXPORT void *ew_takes_calloc(size_t count, size_t size) {
    return allocated(HEAP(calloc)(count, size), count * size, PC);
}

EW_EXPORT void ew_takes_free(void *address) {
    ew_free(address, PC);
}

EW_EXPORT void ew_takes_cfree(void *address) {
    ew_free(address, PC);
}

// The old block is gone, even if the new one lies where it lay; unless there is no memory for it.
static void *resize(void *address, size_t size, const void *pc) {
    if (!address || !LIKELY(ew_running))
        return allocated(HEAP(realloc)(address, size), size, pc);
    step(address, pc);
    bool told = UNLIKELY(ew_watched) && is_block(address, pc);
    size_t usable = told ? REAL(malloc_usable_size)(address) : 0;
    void *result = HEAP(realloc)(address, size);
    if (told && (result || !size))
        freed(address, usable, pc);
    ew_left_moves(address, usable < size ? usable : size);
    allocated(result, size, pc);
    ew_left_moves(NULL, 0);
    return result;
}

EW_EXPORT void *ew_takes_realloc(void *address, size_t size) {
    return resize(address, size, PC);
}

EW_EXPORT void *ew_takes_reallocarray(void *address, size_t count, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    return resize(address, bytes, PC);
}

EW_EXPORT void *ew_takes_memalign(size_t alignment, size_t size) {
    return allocated(REAL(memalign)(alignment, size), size, PC);
}

EW_EXPORT void *ew_takes_aligned_alloc(size_t alignment, size_t size) {
    return ew_allocate_aligned(alignment, size, PC);
}

EW_EXPORT int ew_takes_posix_memalign(void **result, size_t alignment, size_t size) {
    int error = REAL(posix_memalign)(result, alignment, size);
    if (!error)
        allocated(*result, size, PC);
    return error;
}

EW_EXPORT void *ew_takes_valloc(size_t size) {
    return allocated(REAL(valloc)(size), size, PC);
}

EW_EXPORT void *ew_takes_pvalloc(size_t size) {
    return allocated(REAL(pvalloc)(size), size, PC);
}

// --- what the runtime itself allocates on behalf of the program

void *malloc(size_t size) {
    return HEAP(malloc)(size);
}

void *calloc(size_t count, size_t size) {
    return HEAP(calloc)(count, size);
}

void free(void *address) {
    HEAP(free)(address);
}
