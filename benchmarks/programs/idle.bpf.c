/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Programs that do nothing, at the tracepoints of the recorder's: what the kernel takes to come to
 * them. The loader wants their maps. */
#include "../../native/recorder/seen.h"

typedef unsigned int u32;
typedef unsigned long long u64;

#define SECTION(name) __attribute__((section(name), used))
#define NUMBER(name, value) int (*name)[value]
#define TYPE(name, value) __typeof__(value) *name
#define ARRAY_OF(name, count, what)                                                                \
    struct {                                                                                       \
        NUMBER(type, 2);                                                                           \
        NUMBER(max_entries, count);                                                                \
        NUMBER(map_flags, 1 << 10);                                                                \
        TYPE(key, u32);                                                                            \
        TYPE(value, what);                                                                         \
    } name SECTION(".maps")

ARRAY_OF(ring, 1, struct seen_ring);
ARRAY_OF(places, 1, struct seen_places);
ARRAY_OF(shapes, 1, struct seen_shapes);
ARRAY_OF(counts, SEEN_COUNTS, u64);
struct {
    NUMBER(type, 27);
    NUMBER(max_entries, SEEN_PAGE);
} bell SECTION(".maps");
struct {
    NUMBER(type, 29);
    NUMBER(map_flags, 1);
    TYPE(key, int);
    TYPE(value, struct seen_place);
} others SECTION(".maps");

#define IDLE(where, name)                                                                          \
    SECTION(where) int name(u64 *context) {                                                        \
        (void)context;                                                                             \
        return 0;                                                                                  \
    }

IDLE("raw_tp/sys_enter", begins)
IDLE("raw_tp/sys_exit", ends)
IDLE("tp_btf/sched_process_fork", made)
IDLE("tp_btf/sched_process_exec", runs)
IDLE("tp_btf/sched_process_exit", ended)
IDLE("tp_btf/signal_deliver", signalled)

char licence[] SECTION("license") = "Dual BSD/GPL";
