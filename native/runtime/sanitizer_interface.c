// SPDX-License-Identifier: Apache-2.0
// What programs ask of any sanitizer: <sanitizer/common_interface_defs.h> and the allocator's.
#include "runtime.h"

#include <dlfcn.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>

// --- where we are

static void say(const char *text) {
    ew_say(&(struct iovec){(char *)text, strlen(text)}, 1);
}

// "0x5555 in function (file+0x12)", as far as the dynamic symbols go.
static void describe(const void *pc, char *buffer, size_t size) {
    Dl_info found = {0};
    if (!dladdr(pc, &found) || !found.dli_fname)
        snprintf(buffer, size, "%p", pc);
    else
        snprintf(buffer, size, "%p in %s (%s+%#zx)", pc, found.dli_sname ? found.dli_sname : "??",
                 found.dli_fname, (size_t)((const char *)pc - (const char *)found.dli_fbase));
}

static void print_frame(int number, const void *pc) {
    char place[512], line[544];
    describe(pc, place, sizeof place);
    snprintf(line, sizeof line, "    #%d %s\n", number, place);
    say(line);
}

EW_EXPORT void __sanitizer_print_stack_trace(void) {
    int number = 0;
    print_frame(number++, PC);
    for (const uintptr_t *frame = ew_frames; frame > ew_self->frames_base + 1;)
        print_frame(number++, (const void *)*--frame);
    say("\n");
}

// The format is that of libtsan's symbolizer, which is not here: names come from the dynamic
// symbols, lines from `eitherway`.
EW_EXPORT void __sanitizer_symbolize_pc(void *pc, const char *format, char *buffer, size_t size) {
    (void)format;
    if (size)
        describe(pc, buffer, size);
}

EW_EXPORT void __sanitizer_symbolize_global(void *data, const char *format, char *buffer,
                                            size_t size) {
    Dl_info found = {0};
    (void)format;
    if (size)
        snprintf(buffer, size, "%s",
                 dladdr(data, &found) && found.dli_sname ? found.dli_sname : "");
}

EW_EXPORT int __sanitizer_get_module_and_offset_for_pc(void *pc, char *path, size_t size,
                                                       void **offset) {
    Dl_info found = {0};
    if (!dladdr(pc, &found) || !found.dli_fname)
        return 0;
    if (path && size)
        snprintf(path, size, "%s", found.dli_fname);
    if (offset)
        *offset = (void *)((char *)pc - (char *)found.dli_fbase);
    return 1;
}

// --- the allocator, which is libc's

EW_EXPORT size_t __sanitizer_get_current_allocated_bytes(void) {
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

EW_EXPORT size_t __sanitizer_get_heap_size(void) {
    struct mallinfo2 info = mallinfo2();
    return info.arena + info.hblkhd;
}

EW_EXPORT size_t __sanitizer_get_free_bytes(void) {
    return mallinfo2().fordblks;
}

EW_EXPORT size_t __sanitizer_get_unmapped_bytes(void) {
    return 0; // libc does not say
}

EW_EXPORT size_t __sanitizer_get_estimated_allocated_size(size_t size) {
    return size;
}

EW_EXPORT size_t __sanitizer_get_allocated_size(const void *block) {
    return block ? malloc_usable_size((void *)block) : 0;
}

EW_EXPORT int __sanitizer_get_ownership(const void *block) {
    ew_report("__sanitizer_get_ownership", "libc does not say: every address is called its own");
    return block != NULL;
}

EW_EXPORT int __sanitizer_install_malloc_and_free_hooks(void (*allocated)(const volatile void *,
                                                                          size_t),
                                                        void (*freed)(const volatile void *)) {
    (void)allocated;
    (void)freed;
    ew_report("__sanitizer_install_malloc_and_free_hooks", "not supported: none is installed");
    return 0;
}

// --- accesses to places that are not aligned

#define UNALIGNED(bits)                                                                            \
    EW_EXPORT uint##bits##_t __sanitizer_unaligned_load##bits(const void *p) {                     \
        uint##bits##_t value;                                                                      \
        ew_access(EW_OP_LOAD, p, sizeof value, PC);                                                \
        __builtin_memcpy(&value, p, sizeof value);                                                 \
        return value;                                                                              \
    }                                                                                              \
    EW_EXPORT void __sanitizer_unaligned_store##bits(void *p, uint##bits##_t value) {              \
        ew_access(EW_OP_STORE, p, sizeof value, PC);                                               \
        __builtin_memcpy(p, &value, sizeof value);                                                 \
    }
UNALIGNED(16)
UNALIGNED(32)
UNALIGNED(64)

// --- reports: whoever started the program writes them

static const char *report_path = "";

EW_EXPORT void __sanitizer_set_report_path(const char *path) {
    report_path = path ? path : "";
}

EW_EXPORT const char *__sanitizer_get_report_path(void) {
    return report_path;
}

EW_EXPORT void __sanitizer_set_report_fd(void *descriptor) {
    (void)descriptor;
}

EW_EXPORT void __sanitizer_report_error_summary(const char *summary) {
    say(summary);
    say("\n");
}

EW_EXPORT void __sanitizer_set_death_callback(void (*callback)(void)) {
    (void)callback; // a program is never ended because of what was found in it
}

EW_EXPORT void __sanitizer_sandbox_on_notify(void *arguments) {
    (void)arguments; // there is no file that would have to be opened beforehand
}

EW_EXPORT int __sanitizer_acquire_crash_state(void) {
    static bool taken;
    int first = !taken;
    taken = true;
    return first;
}
