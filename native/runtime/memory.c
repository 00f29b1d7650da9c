// SPDX-License-Identifier: Apache-2.0
// The functions on memory and text that programs call most; touching.h has the others.
#include "libc.h"
#include "shadow.h"
#include "sync.h"

#include <string.h>

EW_REAL(memcmp);
EW_REAL(strlen);
EW_REAL(strcmp);

static inline bool is_cell_known(uintptr_t address, uint32_t bytes, bool writes) {
    const struct ew_cell *cell = ew_cell_at(address);
    uint32_t relevant = ~EW_BYTES | bytes;
    return !((cell->write ^ ew_current) & relevant) ||
           (!writes && !((cell->read ^ ew_current) & relevant));
}

static bool are_cells_known(uintptr_t at, size_t size, bool writes) {
    for (uintptr_t end = at + size; at < end; at += 4) {
        const struct ew_cell *cell = ew_cell_at(at);
        if (cell->write != ew_current && (writes || cell->read != ew_current))
            return false;
    }
    return true;
}

static bool are_bytes_known(uintptr_t at, size_t size, bool writes) {
    uintptr_t end = at + size, last = (end - 1) & ~3ul;
    uint32_t from = EW_BYTES << (at & 3) & EW_BYTES, to = EW_BYTES >> (last + 4 - end);
    at &= ~3ul;
    if (at == last)
        return is_cell_known(at, from & to, writes);
    return is_cell_known(at, from, writes) && is_cell_known(last, to, writes) &&
           are_cells_known(at + 4, last - at - 4, writes);
}

// Most are short, and of what the thread has touched just before.
static inline bool is_known(const void *address, size_t size, bool writes) {
    uintptr_t at = (uintptr_t)address;
    if (LIKELY(((at | size) & 3) == 0))
        return are_cells_known(at, size, writes);
    return size == 0 || are_bytes_known(at, size, writes);
}

// Then nothing is to be told.
static inline bool passes(unsigned op, const void *address, size_t size, const void *pc) {
    return LIKELY(!ew_tracing) &&
           (is_known(address, size, op == EW_OP_STORE) || ew_shadow_passes(op, address, size, pc));
}

// --- copies

static size_t list_copy(struct ew_touched *list, const long *arguments) {
    list[0] = (struct ew_touched){EW_OP_LOAD, (const void *)arguments[1], (size_t)arguments[2]};
    list[1] = (struct ew_touched){EW_OP_STORE, (const void *)arguments[0], (size_t)arguments[2]};
    return 2;
}

static inline void copies(void *to, const void *from, size_t size, const void *pc) {
    bool decided = ew_touches();
    if (UNLIKELY(ew_watched) &&
        !(passes(EW_OP_LOAD, from, size, pc) && passes(EW_OP_STORE, to, size, pc)))
        ew_touch_listed(decided, list_copy, (const long[]){(long)to, (long)from, (long)size}, pc);
}

EW_EXPORT void *ew_takes_memcpy(void *to, const void *from, size_t size) {
    copies(to, from, size, PC);
    return memcpy(to, from, size);
}

EW_EXPORT void *ew_takes_memmove(void *to, const void *from, size_t size) {
    copies(to, from, size, PC);
    return memmove(to, from, size);
}

EW_EXPORT void *__tsan_memcpy(void *to, const void *from, size_t size) {
    copies(to, from, size, PC);
    return memcpy(to, from, size);
}

EW_EXPORT void *__tsan_memmove(void *to, const void *from, size_t size) {
    copies(to, from, size, PC);
    return memmove(to, from, size);
}

// --- filling

static size_t list_set(struct ew_touched *list, const long *arguments) {
    list[0] = (struct ew_touched){EW_OP_STORE, (const void *)arguments[0], (size_t)arguments[1]};
    return 1;
}

static inline void fills(void *to, size_t size, const void *pc) {
    bool decided = ew_touches();
    if (UNLIKELY(ew_watched) && !passes(EW_OP_STORE, to, size, pc))
        ew_touch_listed(decided, list_set, (const long[]){(long)to, (long)size}, pc);
}

EW_EXPORT void *ew_takes_memset(void *to, int value, size_t size) {
    fills(to, size, PC);
    return memset(to, value, size);
}

EW_EXPORT void *__tsan_memset(void *to, int value, size_t size) {
    fills(to, size, PC);
    return memset(to, value, size);
}

// --- looking

static size_t list_compared(struct ew_touched *list, const long *arguments) {
    list[0] = (struct ew_touched){EW_OP_LOAD, (const void *)arguments[0], (size_t)arguments[2]};
    list[1] = (struct ew_touched){EW_OP_LOAD, (const void *)arguments[1], (size_t)arguments[2]};
    return 2;
}

EW_EXPORT int ew_takes_memcmp(const void *one, const void *other, size_t size) {
    bool decided = ew_touches();
    if (UNLIKELY(ew_watched) &&
        !(passes(EW_OP_LOAD, one, size, PC) && passes(EW_OP_LOAD, other, size, PC)))
        ew_touch_listed(decided, list_compared, (const long[]){(long)one, (long)other, (long)size},
                        PC);
    return REAL(memcmp)(one, other, size);
}

static size_t list_text(struct ew_touched *list, const long *arguments) {
    const char *text = (const char *)arguments[0];
    list[0] = (struct ew_touched){EW_OP_LOAD, text, REAL(strlen)(text) + 1};
    return 1;
}

EW_EXPORT size_t ew_takes_strlen(const char *text) {
    bool decided = ew_touches();
    size_t length = REAL(strlen)(text);
    if (LIKELY(!ew_watched) || passes(EW_OP_LOAD, text, length + 1, PC))
        return length;
    ew_touch_listed(decided, list_text, (const long[]){(long)text}, PC);
    return REAL(strlen)(text);
}

// As far as it has to look.
static size_t list_texts(struct ew_touched *list, const long *arguments) {
    const char *one = (const char *)arguments[0], *other = (const char *)arguments[1];
    size_t same = 0;
    while (one[same] == other[same] && one[same])
        same++;
    return list_compared(list, (const long[]){(long)one, (long)other, (long)same + 1});
}

EW_EXPORT int ew_takes_strcmp(const char *one, const char *other) {
    bool decided = ew_touches();
    const long arguments[] = {(long)one, (long)other};
    if (UNLIKELY(ew_watched) && !ew_listed_pass(list_texts, arguments, PC))
        ew_touch_listed(decided, list_texts, arguments, PC);
    return REAL(strcmp)(one, other);
}
