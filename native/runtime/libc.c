// SPDX-License-Identifier: Apache-2.0
#include "libc.h"
#include "past.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>

extern struct ew_real reals_begin[] __asm__("__start_ew_reals")
    __attribute__((visibility("hidden")));
extern struct ew_real reals_end[] __asm__("__stop_ew_reals") __attribute__((visibility("hidden")));

EW_COLD void *ew_real_find(struct ew_real *real) {
    real->function = dlsym(RTLD_NEXT, real->name);
    if (!real->function)
        ew_cannot("a function is called that this libc does not have");
    return real->function;
}

// --- what calls touch

static struct ew_access access_of(const struct ew_touched *touched, const void *pc) {
    return (struct ew_access){(uintptr_t)touched->address, touched->size, (uintptr_t)pc,
                              (uint8_t)touched->op, false};
}

bool ew_touches_shared(const struct ew_touched *touched, const void *pc) {
    struct ew_access access = access_of(touched, pc);
    return ew_detecting && touched->size && ew_is_contested(&access);
}

static const struct ew_touched *first_shared(const struct ew_touched *list, size_t count,
                                             const void *pc) {
    for (size_t i = 0; i < count; i++)
        if (ew_touches_shared(&list[i], pc))
            return &list[i];
    return NULL;
}

static bool all_pass(const struct ew_touched *list, size_t count, const void *pc) {
    for (size_t i = 0; i < count; i++)
        if (list[i].size && !ew_shadow_passes(list[i].op, list[i].address, list[i].size, pc))
            return false;
    return true;
}

bool ew_listed_pass(ew_lister *lister, const long *arguments, const void *pc) {
    struct ew_touched list[EW_TOUCHED_MAX];
    return LIKELY(!ew_tracing) && all_pass(list, lister(list, arguments), pc);
}

void ew_touch_listed(bool decided, ew_lister *lister, const long *arguments, const void *pc) {
    struct ew_touched list[EW_TOUCHED_MAX];
    size_t count = lister(list, arguments);
    const struct ew_touched *shared = first_shared(list, count, pc);
    if (shared && !decided) {
        ew_point_at(EW_WHY_PLACE, shared->op, shared->address, shared->size);
        count = lister(list, arguments);
    }
    for (size_t i = 0; i < count; i++) {
        struct ew_access access = access_of(&list[i], pc);
        ew_touch(list[i].op, list[i].address, list[i].size, pc);
        if (shared && access.size)
            ew_contest(&access, false);
    }
}

// --- where libc and the loader lie

static struct part {
    uintptr_t from, to;
} parts[2];

bool ew_in_libc(const void *pc) {
    uintptr_t at = (uintptr_t)pc;
    return (at >= parts[0].from && at < parts[0].to) || (at >= parts[1].from && at < parts[1].to);
}

static bool holds(const struct dl_phdr_info *info, uintptr_t address, struct part *part) {
    bool inside = false;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        uintptr_t from = info->dlpi_addr + header->p_vaddr, to = from + header->p_memsz;
        if (header->p_type != PT_LOAD)
            continue;
        inside |= address >= from && address < to;
        part->from = from < part->from ? from : part->from;
        part->to = to > part->to ? to : part->to;
    }
    return inside;
}

extern void *__tls_get_addr(size_t *module_and_offset);

static int look_for(struct dl_phdr_info *info, size_t size, void *argument) {
    (void)size, (void)argument;
    const uintptr_t inside[2] = {(uintptr_t)dlsym(RTLD_NEXT, "__libc_start_main"),
                                 (uintptr_t)__tls_get_addr};
    for (int i = 0; i < 2; i++) {
        struct part part = {UINTPTR_MAX, 0};
        if (holds(info, inside[i], &part))
            parts[i] = part;
    }
    return 0;
}

void ew_real_look(struct ew_real *real) {
    if (!real->function)
        real->function = dlsym(RTLD_NEXT, real->name);
}

void ew_reals_start(void) {
    for (struct ew_real *real = reals_begin; real < reals_end; real++)
        ew_real_look(real);
    ew_touching_start();
    dl_iterate_phdr(look_for, NULL);
}
