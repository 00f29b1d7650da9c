// SPDX-License-Identifier: Apache-2.0
// Thread control blocks and TLS that glibc takes for a living thread's.
//
// A *donor* is a real pthread that glibc has made and whose kernel thread has left again by a raw
// exit. The carrier runs a green thread by loading the donor's thread pointer; everything in libc
// that asks "who am I" then answers rightly. When a green thread is over, its donor's TLS is put
// back as it was and serves again.
#include "shadow.h"
#include "threads.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <linux/futex.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static int (*real_create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
static struct ew_donor *idle;
static uint32_t number_at; // offset of glibc's idea of the thread's number in its control block

uint64_t ew_thread_pointer(void) {
    uint64_t self;
    __asm__("mov %%fs:0, %0" : "=r"(self)); // the TCB's first word points to itself
    return self;
}

// --- static TLS: the part that stands at the same distance below every thread pointer

static struct block {
    size_t offset; // below the thread pointer
    const char *image;
    size_t image_size, size;
} *blocks, libc;
static size_t block_count, block_room, blocks_at_start;
static size_t tls_size;                 // bytes below the thread pointer at start
static unsigned long long loaded, gone; // libraries, when the blocks were last listed

static void add_block(struct block block) {
    if (block_count == block_room) {
        size_t room = block_room ? block_room * 2 : 64;
        blocks = ew_more_pages(blocks, block_room * sizeof *blocks, room * sizeof *blocks);
        block_room = room;
    }
    blocks[block_count++] = block;
}

static bool wants_static_tls(const struct dl_phdr_info *info) {
    for (int i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type != PT_DYNAMIC)
            continue;
        const ElfW(Dyn) *entry = (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
        for (; entry->d_tag != DT_NULL; entry++)
            if (entry->d_tag == DT_FLAGS)
                return entry->d_un.d_val & DF_STATIC_TLS;
    }
    return false;
}

extern void *__tls_get_addr(size_t *module_and_offset);

// Where the running thread has this library's TLS, if that is static. At start all of it is.
static uint64_t static_address(const struct dl_phdr_info *info) {
    if (!ew_running)
        return (uint64_t)info->dlpi_tls_data;
    if (!wants_static_tls(info))
        return 0;
    size_t index[2] = {info->dlpi_tls_modid, 0};
    return (uint64_t)__tls_get_addr(index);
}

static int list_block(struct dl_phdr_info *info, size_t size, void *argument) {
    (void)size, (void)argument;
    loaded = info->dlpi_adds;
    gone = info->dlpi_subs;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        if (header->p_type != PT_TLS)
            continue;
        uint64_t self = ew_thread_pointer(), address = static_address(info);
        if (!address || address >= self)
            continue;
        struct block block = {self - address, (const char *)info->dlpi_addr + header->p_vaddr,
                              header->p_filesz, header->p_memsz};
        if (!ew_running && block.offset > tls_size)
            tls_size = block.offset;
        uint64_t error = (uint64_t)&errno;
        if (!ew_running && error >= address && error < address + header->p_memsz)
            libc = block;
        else if (block.offset != libc.offset)
            add_block(block);
    }
    return 0;
}

static int is_changed(struct dl_phdr_info *info, size_t size, void *argument) {
    (void)size;
    *(bool *)argument = info->dlpi_adds != loaded || info->dlpi_subs != gone;
    return 1;
}

// Libraries that came since with initial-exec TLS got a place in the surplus of every thread. Some
// of the start may be listed a second time: they are only put back twice.
static void list_late_blocks(void) {
    bool changed;
    dl_iterate_phdr(is_changed, &changed);
    if (!changed)
        return;
    block_count = blocks_at_start;
    dl_iterate_phdr(list_block, NULL);
}

#define LARGE (64 << 10) // beyond, whole pages are dropped instead of cleared

static void clear(char *from, size_t size) {
    uintptr_t first = ((uintptr_t)from + 4095) & ~4095ul, last = ((uintptr_t)from + size) & ~4095ul;
    if (size < LARGE || raw3(SYS_madvise, (long)first, (long)(last - first), MADV_DONTNEED) < 0) {
        memset(from, 0, size);
        return;
    }
    memset(from, 0, first - (uintptr_t)from);
    memset((char *)last, 0, (uintptr_t)from + size - last);
}

void ew_trace_tls(uint64_t pointer) {
    ew_trace_block(EW_MEMORY_THREAD_LOCAL, (const char *)pointer - tls_size, tls_size, NULL);
}

static void tls_reset(struct ew_donor *donor) {
    list_late_blocks();
    for (size_t i = 0; i < block_count; i++) {
        char *at = (char *)donor->fs - blocks[i].offset;
        memcpy(at, blocks[i].image, blocks[i].image_size);
        clear(at + blocks[i].image_size, blocks[i].size - blocks[i].image_size);
    }
    memcpy((char *)donor->fs - libc.offset, donor->libc_tls, libc.size);
}

// TLS of libraries that were loaded at run time was allocated for the previous user, as ld.so does
// with the program's malloc: the next one gets its own. The dtv is glibc's array of {address, block
// to free}; entry -1 holds its length, entry 0 its generation.
static void dtv_reset(uint64_t fs) {
    struct entry {
        void *address, *to_free;
    } *dtv = *(struct entry **)(fs + sizeof(void *));
    size_t length = (size_t)dtv[-1].address;
    for (size_t i = 1; i <= length; i++)
        if (dtv[i].to_free) {
            free(dtv[i].to_free);
            dtv[i] = (struct entry){(void *)-1, NULL};
        }
}

// --- donors

extern void *__libc_malloc(size_t) __attribute__((weak));
extern void __libc_free(void *) __attribute__((weak));

// malloc gives each thread a cache when it first allocates. With the cache already there, it is
// part of what is kept from one user of the donor to the next: none is ever lost.
static void make_malloc_cache(void) {
    if (__libc_malloc && __libc_free)
        __libc_free(__libc_malloc(1));
}

static void *donor_main(void *argument) {
    struct ew_donor *donor = argument;
    donor->fs = ew_thread_pointer();
    make_malloc_cache();
    memcpy(donor->libc_tls, (char *)donor->fs - libc.offset, libc.size);
    raw1(SYS_set_tid_address, (long)&donor->alive);
    raw1(SYS_exit, 0); // past glibc: it must go on believing that this thread lives
    __builtin_unreachable();
}

static int start_donor(struct ew_donor *donor) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    size_t size = tls_size + PTHREAD_STACK_MIN + 65536;
    if (!donor->place)
        donor->place = ew_place_take(size);
    if (donor->place)
        pthread_attr_setstack(&attributes, donor->place, size);
    else
        pthread_attr_setstacksize(&attributes, size);
    pthread_attr_setguardsize(&attributes, 0); // it does next to nothing on its stack
    ew_signals_hold(); // none may reach a kernel thread that is about to leave
    pthread_t handle;
    int error = real_create(&handle, &attributes, donor_main, donor);
    ew_signals_release();
    pthread_attr_destroy(&attributes);
    return error;
}

// Records lie side by side, apart from what is only read: fewer pages for a forked run to copy.
#define DONORS_AT_ONCE 64
static struct ew_donor *unborn; // whose thread could not be made

static struct ew_donor *donor_make(void) {
    static struct ew_donor *fresh, *end;
    static char *images;
    if (fresh == end) {
        fresh = ew_pages(DONORS_AT_ONCE * sizeof *fresh);
        end = fresh + DONORS_AT_ONCE;
        images = ew_pages(DONORS_AT_ONCE * libc.size);
    }
    fresh->libc_tls = images;
    images += libc.size;
    return fresh++;
}

// The recursive locks inside libc know their owner by a number, which has to be unique: that of the
// kernel thread is given out again. What the kernel gives stays below.
#define NUMBERS (1 << 29)

static void number(const struct ew_donor *donor) {
    static int last = NUMBERS;
    if (number_at)
        *(int *)(donor->fs + number_at) = ++last;
}

static int donor_create(struct ew_donor **result) {
    struct ew_donor *donor = unborn ? unborn : donor_make();
    unborn = NULL;
    donor->alive = 1;
    int error = start_donor(donor);
    if (error) {
        unborn = donor;
        return error;
    }
    int seen;
    while ((seen = __atomic_load_n(&donor->alive, __ATOMIC_ACQUIRE)))
        raw6(SYS_futex, (long)&donor->alive, FUTEX_WAIT, seen, 0, 0, 0);
    number(donor);
    donor->selector = ew_selector_of(donor->fs);
    *result = donor;
    return 0;
}

// --- those that have ever been taken, by their thread pointers

#define KNOWN 256
static struct ew_donor *known[KNOWN], first = {.ordinal = 1};
static uint64_t ordinals = 1;

static struct ew_donor **known_slot(uint64_t fs) {
    return &known[(fs * 0x9E3779B97F4A7C15u) >> 56];
}

uint64_t ew_donor_ordinal(uint64_t fs) {
    const struct ew_donor *donor = *known_slot(fs);
    while (donor && donor->fs != fs)
        donor = donor->known_next;
    return donor ? donor->ordinal : 0;
}

// After a fork glibc may give a thread pointer out again: it keeps its number.
static void become_known(struct ew_donor *donor) {
    uint64_t ordinal = ew_donor_ordinal(donor->fs);
    donor->ordinal = ordinal ? ordinal : ++ordinals;
    if (ordinal)
        return;
    donor->known_next = *known_slot(donor->fs);
    *known_slot(donor->fs) = donor;
}

int ew_donor_take(struct ew_donor **result) {
    int error = 0;
    *result = idle;
    if (idle)
        idle = idle->next;
    else
        error = donor_create(result);
    if (error)
        return error;
    struct ew_donor *donor = *result;
    if (donor->used)
        tls_reset(donor);
    donor->used = true;
    if (UNLIKELY(ew_detecting))
        ew_shadow_fresh(donor->fs - tls_size, tls_size, false);
    if (!donor->ordinal)
        become_known(donor);
    return 0;
}

void ew_donor_give_back(struct ew_donor *donor) {
    dtv_reset(donor->fs);
    donor->next = idle;
    idle = donor;
}

int ew_donors_prepare(uint32_t count) {
    while (count--) {
        struct ew_donor *donor;
        int error = donor_create(&donor);
        if (error)
            return error;
        donor->next = idle;
        idle = donor;
    }
    return 0;
}

// glibc has forgotten all but the running thread's control block, or put them into its own cache.
void ew_donors_forked(void) {
    idle = NULL;
    ew_places_forked();
}

void ew_donors_start(void) {
    real_create = dlsym(RTLD_NEXT, "pthread_create");
    if (!real_create)
        ew_cannot("libc has no pthread_create");
    dl_iterate_phdr(list_block, NULL);
    blocks_at_start = block_count;
    first.fs = ew_thread_pointer();
    *known_slot(first.fs) = &first;
    mallopt(M_ARENA_MAX, 1); // with several, addresses would depend on which donor serves whom
    // What libc tells debuggers: size in bits, count, offset.
    const uint32_t *field = dlsym(RTLD_NEXT, "_thread_db_pthread_tid");
    int self = (int)raw1(SYS_gettid, 0);
    if (field && *(int *)(ew_thread_pointer() + field[2]) == self)
        number_at = field[2];
}
