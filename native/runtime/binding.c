// SPDX-License-Identifier: Apache-2.0
// Binds ahead of time what libc calls through its own table, which it would look up at first use.
//
// In a fork server that first use comes again in every run: some twenty page faults for one name.
#include "binding.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdio.h>

struct table {
    const ElfW(Rela) * entries;
    size_t bytes;
    const ElfW(Sym) * symbols;
    const char *names;
};

static struct table table_of(const ElfW(Dyn) * entry) {
    struct table table = {0};
    for (; entry->d_tag != DT_NULL; entry++) {
        const void *address = (const void *)entry->d_un.d_ptr; // the loader has relocated it
        if (entry->d_tag == DT_JMPREL)
            table.entries = address;
        else if (entry->d_tag == DT_PLTRELSZ)
            table.bytes = entry->d_un.d_val;
        else if (entry->d_tag == DT_SYMTAB)
            table.symbols = address;
        else if (entry->d_tag == DT_STRTAB)
            table.names = address;
    }
    return table;
}

void ew_bind_libc(void) {
    Dl_info info;
    struct link_map *libc = NULL;
    if (!dladdr1(stdout, &info, (void **)&libc, RTLD_DL_LINKMAP) || !libc)
        return;
    struct table table = table_of(libc->l_ld);
    for (size_t i = 0; i < table.bytes / sizeof *table.entries; i++) {
        const ElfW(Rela) *entry = &table.entries[i];
        if (ELF64_R_TYPE(entry->r_info) != R_X86_64_JUMP_SLOT)
            continue;
        const ElfW(Sym) *symbol = &table.symbols[ELF64_R_SYM(entry->r_info)];
        void *target = dlsym(RTLD_DEFAULT, table.names + symbol->st_name);
        if (target)
            *(void **)(libc->l_addr + entry->r_offset) = target;
    }
}
