// SPDX-License-Identifier: Apache-2.0
// The recording that a trace is written into: three streams, each with one block under way.
#include "trace.h"

#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/utsname.h>

struct ew_stream ew_trace_events, ew_trace_values, ew_trace_names;
static struct ew_stream_file files[] = {
    {.name = "events" EW_STREAM_SUFFIX, .stream = &ew_trace_events},
    {.name = "names" EW_STREAM_SUFFIX, .stream = &ew_trace_names},
    {.name = "values" EW_STREAM_SUFFIX, .stream = &ew_trace_values},
};
#define FILES (sizeof files / sizeof *files)
#define BUFFER (1ul << 18)
static int directory;
static bool passing;

static long must(long result) {
    if (result < 0) {
        ew_trace_stop();
        ew_cannot("the trace cannot be written");
    }
    return result;
}

void ew_trace_row(struct ew_stream *stream, unsigned type, const void *row) {
    must(ew_stream_rows(stream, type, row, 1));
}

void ew_trace_tailed(struct ew_stream *stream, unsigned type, const void *row, const void *tail,
                     uint32_t length) {
    must(ew_stream_tailed(stream, type, row, tail, length));
}

// The program's own descriptors get the numbers that they would have without a trace.
static int moved_up(long descriptor) {
    struct rlimit limit;
    must(descriptor);
    must(raw6(SYS_prlimit64, 0, RLIMIT_NOFILE, 0, (long)&limit, 0, 0));
    long lowest = (long)(limit.rlim_cur < 4096 ? limit.rlim_cur : 4096) - 16;
    long moved = must(raw3(SYS_fcntl, descriptor, F_DUPFD_CLOEXEC, lowest > 0 ? lowest : 0));
    raw1(SYS_close, descriptor);
    return (int)moved;
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
    all.passing = passing;
    return &all;
}

// What events refer to is written before them, so that what is left of a trace that was cut off
// makes sense.
static long write_events(void *descriptor, const void *data, size_t length) {
    int error = ew_stream_flush(&ew_trace_names);
    if (!error)
        error = ew_stream_flush(&ew_trace_values);
    return error ? error : ew_write_to_fd(descriptor, data, length);
}

void ew_trace_files_begin(int given, bool is_passing) {
    passing = is_passing;
    directory = moved_up(given);
    must(ew_recording_begin(directory, facts()));
    for (size_t i = 0; i < FILES; i++) {
        files[i].descriptor = moved_up(ew_recording_create(directory, files[i].name));
        bool refers = files[i].stream == &ew_trace_events;
        must(ew_stream_init(files[i].stream, refers ? write_events : ew_write_to_fd,
                            (void *)(intptr_t)files[i].descriptor, ew_pages(BUFFER), BUFFER));
    }
}

void ew_trace_files_finish(void) {
    must(ew_recording_finish(directory, facts(), files, FILES));
}

void ew_trace_files_resume(void) {
    must(ew_recording_begin(directory, facts()));
    must(raw3(SYS_unlinkat, directory, (long)EW_MANIFEST, 0));
}

// --- modules

EW_LARGE static uint64_t said[1024]; // where they lie; to say one twice does no harm
static size_t said_count;

static bool is_said(uint64_t base) {
    for (size_t i = 0; i < said_count; i++)
        if (said[i] == base)
            return true;
    if (said_count < sizeof said / sizeof *said)
        said[said_count++] = base;
    return false;
}

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
    ew_trace_tailed(&ew_trace_names, EW_BLOCK_THREAD_MODULES, &module, path, module.length);
}

// The first is the program, whose own name is empty in this list. The vDSO is no file: addresses in
// it stay numbers.
static int each_module(struct dl_phdr_info *info, size_t size, void *base) {
    EW_LARGE static char program[4096];
    (void)size;
    bool is_program = !info->dlpi_name[0];
    if (is_program)
        *(uint64_t *)base = info->dlpi_addr;
    if (!info->dlpi_phnum || is_said(info->dlpi_addr))
        return 0;
    if (is_program)
        must(raw3(SYS_readlink, (long)"/proc/self/exe", (long)program, sizeof program - 1));
    say_module(info, is_program ? program : info->dlpi_name);
    return 0;
}

uint64_t ew_trace_modules(void) {
    uint64_t base = 0;
    dl_iterate_phdr(each_module, &base);
    return base;
}
