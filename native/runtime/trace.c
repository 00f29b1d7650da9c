// SPDX-License-Identifier: Apache-2.0
// Writes events into a recording of their own; names and edges are made of them later, outside.
#include "recording.h"
#include "runtime.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/utsname.h>

#define NONE UINT32_MAX
#define STREAM "events" EW_STREAM_SUFFIX

bool ew_tracing;
static int directory = -1;
static uint32_t events;
static struct ew_stream stream;
static struct ew_stream_file file = {.name = STREAM, .stream = &stream};
EW_LARGE static uint8_t buffer[1 << 18];

// The hooks count for themselves again.
void ew_trace_stop(void) {
    if (ew_tracing)
        ew_accesses_left = ew_traced_accesses_left;
    ew_tracing = false;
}

static void must(long result) {
    if (result < 0) {
        ew_trace_stop();
        ew_cannot("the trace cannot be written");
    }
}

uint32_t ew_trace_position(void) {
    return events - 1;
}

// --- call sites: a tree, its nodes found by (caller, pc)

static struct node {
    uint64_t pc;
    uint32_t caller, next; // next in its hash chain
} *nodes;
static uint32_t node_count = 1, *chains;
#define NODES_MAX (1u << 26) // reserved, not used
#define CHAINS (1u << 18)

static uint32_t add_node(uint32_t caller, uint64_t pc, uint32_t *chain) {
    if (node_count == NODES_MAX)
        ew_cannot("the trace has more than 67 million call sites");
    nodes[node_count] = (struct node){pc, caller, *chain};
    struct ew_thread_frame row = {.caller = caller, .pc = pc};
    must(ew_stream_rows(&stream, EW_BLOCK_THREAD_FRAMES, &row, 1));
    return *chain = node_count++;
}

static uint32_t node_of(uint32_t caller, uint64_t pc) {
    uint32_t *chain = &chains[((pc ^ ((uint64_t)caller << 32)) * 0x9E3779B97F4A7C15u) >> 46];
    for (uint32_t at = *chain; at; at = nodes[at].next)
        if (nodes[at].pc == pc && nodes[at].caller == caller)
            return at;
    return add_node(caller, pc, chain);
}

static uint32_t current_frame(void) {
    uint32_t at = 0;
    for (const uintptr_t *frame = ew_self->frames_base; frame < ew_frames; frame++)
        at = node_of(at, *frame);
    return at;
}

// --- events

static void tell(struct ew_thread_event event) {
    event.thread = ew_self->id;
    event.frame = current_frame();
    event.follows = event.op == EW_OP_WAIT ? ew_self->woken_by : NONE;
    ew_self->woken_by = NONE;
    must(ew_stream_rows(&stream, EW_BLOCK_THREAD_EVENTS, &event, 1));
    events++;
}

static bool is_ignored(unsigned op) {
    const struct ew_ignored *ignored = &ew_self->life.ignored;
    return (op == EW_OP_LOAD && ignored->reads) || (op == EW_OP_STORE && ignored->writes);
}

void ew_trace(unsigned op, unsigned flags, const void *object, size_t size, const void *pc) {
    if (is_ignored(op))
        return;
    if ((op == EW_OP_LOAD || op == EW_OP_STORE) && ew_expects_races(object, size))
        flags |= EW_FLAG_ATOMIC;
    tell((struct ew_thread_event){
        .address = (uintptr_t)object,
        .pc = (uintptr_t)pc,
        .size = size > UINT32_MAX ? UINT32_MAX : (uint32_t)size,
        .op = (uint8_t)op,
        .flags = (uint8_t)flags,
    });
}

void ew_trace_atomic(unsigned op, const void *object, size_t size, const void *pc, int order) {
    tell((struct ew_thread_event){
        .address = (uintptr_t)object,
        .pc = (uintptr_t)pc,
        .size = (uint32_t)size,
        .op = (uint8_t)op,
        .flags = EW_FLAG_ATOMIC,
        .order = (uint8_t)(ew_self->life.ignored.sync ? __ATOMIC_RELAXED : order),
    });
}

void ew_trace_life(unsigned op, const struct ew_thread *other, const void *pc) {
    tell((struct ew_thread_event){
        .address = other->id,
        .pc = (uintptr_t)pc,
        .size = 1,
        .op = (uint8_t)op,
    });
}

// --- begin and end

static void say_module(const struct dl_phdr_info *info, const char *path) {
    struct ew_thread_module module = {.base = info->dlpi_addr, .lo = UINT64_MAX};
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type != PT_LOAD)
            continue;
        uint64_t lo = info->dlpi_addr + part->p_vaddr, hi = lo + part->p_memsz;
        module.lo = lo < module.lo ? lo : module.lo;
        module.hi = hi > module.hi ? hi : module.hi;
    }
    module.length = (uint32_t)strlen(path);
    must(ew_stream_tailed(&stream, EW_BLOCK_THREAD_MODULES, &module, path, module.length));
}

// The program's own name is empty in this list. The vDSO is no file: addresses in it stay numbers.
static int each_module(struct dl_phdr_info *info, size_t size, void *argument) {
    (void)size;
    if (info->dlpi_name[0])
        say_module(info, info->dlpi_name);
    else if (info->dlpi_addr || info->dlpi_phnum)
        say_module(info, argument);
    return 0;
}

static const struct ew_facts *facts(void) {
    static struct utsname host;
    static const char *const command[] = {"?"};
    static struct ew_facts all = {
        .tool = EITHERWAY_VERSION,
        .world = "threads",
        .recorded_by = "runtime",
        .created = "1970-01-01T00:00:00Z", // whoever asked for the trace knows when
        .command = command,
        .command_count = 1,
        .cpu = "",
    };
    raw1(SYS_uname, (long)&host);
    all.kernel = host.release;
    all.machine = host.machine;
    return &all;
}

void ew_trace_start(const char *path) {
    EW_LARGE static char program[4096];
    directory = (int)raw3(SYS_open, (long)path, O_DIRECTORY | O_CLOEXEC, 0);
    must(directory);
    must(ew_recording_begin(directory, facts()));
    file.descriptor = ew_recording_create(directory, STREAM);
    must(file.descriptor);
    must(ew_stream_init(&stream, ew_write_to_fd, (void *)(intptr_t)file.descriptor, buffer,
                        sizeof buffer));
    nodes = ew_pages(NODES_MAX * sizeof *nodes);
    chains = ew_pages(CHAINS * sizeof *chains);
    struct ew_thread_frame bottom = {0};
    must(ew_stream_rows(&stream, EW_BLOCK_THREAD_FRAMES, &bottom, 1));
    must(raw3(SYS_readlink, (long)"/proc/self/exe", (long)program, sizeof program - 1));
    dl_iterate_phdr(each_module, program);
    ew_traced_accesses_left = ew_accesses_left;
    ew_accesses_left = -1;
    ew_tracing = true;
}

void ew_trace_finish(void) {
    if (!ew_tracing)
        return;
    ew_trace_stop();
    must(ew_recording_finish(directory, facts(), &file, 1));
}

__attribute__((destructor)) static void finish_at_exit(void) {
    ew_trace_finish();
}
