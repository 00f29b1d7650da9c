// SPDX-License-Identifier: Apache-2.0
#include "objects.h"
#include "marks.h"
#include "runtime.h"

static struct ew_sync_object *objects; // a table that grows
static uint32_t object_count, object_bits;

// Which lines of memory may hold some: most blocks that are given back hold none.
#define LINE 64
EW_LARGE static struct ew_marks lines;

static uintptr_t first_place(unsigned bits, uintptr_t address) {
    return address * 0x9E3779B97F4A7C15u >> (64 - bits);
}

static struct ew_sync_object *place_of(struct ew_sync_object *table, unsigned bits,
                                       uintptr_t address) {
    uintptr_t at = first_place(bits, address);
    while (table[at].address && table[at].address != address)
        at = (at + 1) & ((1ul << bits) - 1);
    return &table[at];
}

static void grow(void) {
    unsigned bits = object_bits ? object_bits + 1 : 10;
    struct ew_sync_object *table = ew_pages(sizeof *table << bits);
    for (size_t i = 0; object_bits && i < 1ul << object_bits; i++)
        if (objects[i].address)
            *place_of(table, bits, objects[i].address) = objects[i];
    if (objects)
        raw3(SYS_munmap, (long)objects, (long)(sizeof *objects << object_bits), 0);
    objects = table;
    object_bits = bits;
}

struct ew_sync_object *ew_object_at(const void *address) {
    if (object_count >= (object_bits ? 3u << object_bits >> 2 : 0))
        grow();
    struct ew_sync_object *object = place_of(objects, object_bits, (uintptr_t)address);
    if (!object->address) {
        ew_mark(&lines, (uintptr_t)address / LINE);
        object->address = (uintptr_t)address;
        object_count++;
    }
    object->used = true;
    return object;
}

struct ew_sync_object *ew_object_if_any(const void *address) {
    struct ew_sync_object *object =
        object_bits ? place_of(objects, object_bits, (uintptr_t)address) : NULL;
    return object && object->address ? object : NULL;
}

void ew_object_expect(const void *address) {
    if (object_bits)
        __builtin_prefetch(&objects[first_place(object_bits, (uintptr_t)address)]);
}

static bool end(struct ew_sync_object *object) {
    bool used = object->used;
    object->used = false;
    ew_vector_drop(&object->released);
    ew_vector_drop(&object->shared);
    ew_vector_drop(&object->woken);
    ew_vector_drop(&object->own);
    object->by = object->stored_by = 0;
    object->mixed = false;
    return used;
}

static bool end_line(uintptr_t from, uintptr_t to) {
    bool any = false;
    if (!ew_is_marked(&lines, from / LINE))
        return false;
    for (; from < to; from++) {
        struct ew_sync_object *object = ew_object_if_any((const void *)from);
        any |= object && end(object);
    }
    return any;
}

static bool end_any(uintptr_t from, uintptr_t to) {
    bool any = false;
    for (size_t i = 0; object_bits && i < 1ul << object_bits; i++)
        if (objects[i].address >= from && objects[i].address < to)
            any |= end(&objects[i]);
    return any;
}

bool ew_objects_end(uintptr_t address, size_t size) {
    uintptr_t to = address + size;
    bool any = false;
    if (size / LINE > object_count)
        return end_any(address, to);
    for (uintptr_t next; address < to; address = next) {
        next = (address | (LINE - 1)) + 1;
        any |= end_line(address, next < to ? next : to);
    }
    return any;
}

void ew_objects_forget(void) {
    for (size_t i = 0; object_bits && i < 1ul << object_bits; i++)
        if (objects[i].address)
            end(&objects[i]);
}
