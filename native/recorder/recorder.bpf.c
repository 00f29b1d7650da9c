// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// In the kernel: where calls of the tree begin and end, and what becomes of its processes. Who
// belongs to the tree has a place; a child has one when its parent does.
//
// Every call of the tree pays for what is done here, so little is. A place is found by the address
// at which the kernel keeps a thread's registers, and nothing is allocated for it. What is asked of
// a thread more than once is kept there. Where the kernel can (6.2), its structures are read
// without a helper (CASTS; loader.c tries the other programs where it cannot). And no clock is
// read: how far the ring was written when a call began, and where its own record is, say what was
// over before.
#include "seen.h"

typedef _Bool bool;
typedef unsigned int u32;
typedef unsigned long long u64;

#define SECTION(name) __attribute__((section(name), used))
#define INLINE static inline __attribute__((always_inline))
#define KERNEL __attribute__((preserve_access_index))
#define MAP_NUMBER(name, value) int (*name)[value]
#define MAP_TYPE(name, value) __typeof__(value) *name

enum { ARRAY = 2, RING = 27, TASK_STORAGE = 29, NO_PREALLOC = 1, MAPPED = 1 << 10, MAKE = 1 };
enum { WAKE = 2 };           // whoever waits for a ring of the kernel
enum { CREATED = 0x100000 }; // of f_mode: the open made the file
enum {
    CONNECT = 42,
    BIND = 49,
    SOCKETPAIR = 53,
    EXIT = 60,
    FCNTL = 72,
    CHDIR = 80,
    EXIT_GROUP = 231,
    WAITID = 247,
    NEWFSTATAT = 262,
    OPENAT2 = 437
};
enum { NOFOLLOW = 0x100, HERE = -100 };                 // AT_SYMLINK_NOFOLLOW, AT_FDCWD
enum { ADDRESS = 128 };                                 // bytes of one that are kept
enum { SENDER = 16 };                                   // where si_pid is in a siginfo of x86-64
enum { SETLK = 6, SETLKW, OFD_SETLK = 37, OFD_SETLKW }; // of fcntl
enum { SEEKS_FROM_POSITION = 1, SEEKS_FROM_END = 2 };
enum { LOCK_OF_BYTES = 1 << 16 };

// ---- what is looked at of the kernel, by names that are found when this is loaded

struct super_block {
    u32 s_dev;
} KERNEL;
struct inode {
    unsigned short i_mode;
    struct super_block *i_sb;
    unsigned long i_ino;
} KERNEL;
struct dentry {
    struct inode *d_inode;
} KERNEL;
struct path {
    struct dentry *dentry;
} KERNEL;
struct file {
    u32 f_mode;
    long long f_pos;
    u32 f_flags;
    struct inode *f_inode;
} KERNEL;
struct fdtable {
    u32 max_fds;
    struct file **fd;
} KERNEL;
struct files_struct {
    struct fdtable *fdt;
} KERNEL;
struct fs_struct {
    struct path pwd;
} KERNEL;
struct mm_struct {
    void *pgd;
    unsigned long arg_start, arg_end;
    struct file *exe_file;
} KERNEL;
struct upid {
    int nr;
    void *ns;
} KERNEL;
struct pid {
    u32 level;
    struct upid numbers[1];
} KERNEL;
struct signal_struct {
    struct pid *pids[4];
} KERNEL;
struct task_struct {
    void *stack;
    struct mm_struct *mm;
    int exit_code;
    struct pid *thread_pid;
    struct fs_struct *fs;
    struct files_struct *files;
    struct signal_struct *signal;
} KERNEL;
struct pt_regs {
    unsigned long r15, r10, r9, r8, ax, dx, si, di;
} KERNEL;
struct kernel_siginfo {
    int si_signo;
} KERNEL;

static void *(*map_lookup)(void *, const void *) = (void *)1;
static long (*read_user)(void *, u32, const void *) = (void *)112;
static long (*read_kernel)(void *, u32, const void *) = (void *)113;
static long (*read_user_text)(void *, u32, const void *) = (void *)114;
static long (*ring_output)(void *, void *, u64, u64) = (void *)130;
static void *(*storage_get)(void *, struct task_struct *, void *, u64) = (void *)156;
static long (*storage_delete)(void *, struct task_struct *) = (void *)157;
static struct task_struct *(*current)(void) = (void *)158;
static void *(*task_registers)(struct task_struct *) = (void *)175;

struct {
    MAP_NUMBER(type, ARRAY);
    MAP_NUMBER(max_entries, 1);
    MAP_NUMBER(map_flags, MAPPED);
    MAP_TYPE(key, u32);
    MAP_TYPE(value, struct seen_ring);
} ring SECTION(".maps");
// One of the kernel's, which can wake who waits for it: that is all it is for.
struct {
    MAP_NUMBER(type, RING);
    MAP_NUMBER(max_entries, SEEN_PAGE);
} bell SECTION(".maps");
struct {
    MAP_NUMBER(type, ARRAY);
    MAP_NUMBER(max_entries, 1);
    MAP_NUMBER(map_flags, MAPPED);
    MAP_TYPE(key, u32);
    MAP_TYPE(value, struct seen_places);
} places SECTION(".maps");
// Who has none of them: the first process, until it runs its program, and who is one too many.
struct {
    MAP_NUMBER(type, TASK_STORAGE);
    MAP_NUMBER(map_flags, NO_PREALLOC);
    MAP_TYPE(key, int);
    MAP_TYPE(value, struct seen_place);
} others SECTION(".maps");
struct {
    MAP_NUMBER(type, ARRAY);
    MAP_NUMBER(max_entries, 1);
    MAP_TYPE(key, u32);
    MAP_TYPE(value, struct seen_shapes);
} shapes SECTION(".maps");
struct {
    MAP_NUMBER(type, ARRAY);
    MAP_NUMBER(max_entries, SEEN_COUNTS);
    MAP_NUMBER(map_flags, MAPPED);
    MAP_TYPE(key, u32);
    MAP_TYPE(value, u64);
} counts SECTION(".maps");

// ---- reading

INLINE void inode_of(struct inode *inode, struct seen_inode *to) {
    if (!inode)
        return;
    to->number = inode->i_ino;
    to->mode = inode->i_mode;
    to->device = inode->i_sb->s_dev;
}

#ifdef CASTS
extern void *bpf_rdonly_cast(const void *address, u32 type) SECTION(".ksyms");
#define KNOWN_AS(type, address)                                                                    \
    ((type *)bpf_rdonly_cast(address, __builtin_btf_type_id(*(type *)0, 1)))
#define FIELD(to, from, name) ((to) = (from)->name)
// There is no type of what a slot of a table is; but a table has one that is as large.
#define SLOT(to, table, which)                                                                     \
    ((to) = (void *)KNOWN_AS(struct fdtable, (const char *)((table)->fd + (which)) -               \
                                                 __builtin_preserve_field_info((table)->fd, 0))    \
                ->fd)
#else
#define KNOWN_AS(type, address) (address)
#define FIELD(to, from, name) read_kernel(&(to), sizeof(to), &(from)->name)
#define SLOT(to, table, which) read_kernel(&(to), sizeof(to), (table)->fd + (which))
#endif

INLINE struct file *file_of(struct task_struct *task, u32 descriptor) {
    struct file *file = 0;
    struct files_struct *files = task->files;
    if (!files)
        return 0;
    struct fdtable *table = files->fdt;
    if (!table || descriptor >= table->max_fds)
        return 0;
    SLOT(file, table, descriptor);
    return file ? KNOWN_AS(struct file, file) : 0;
}

INLINE void inode_of_file(struct file *file, struct seen_inode *to) {
    struct inode *inode = 0;
    struct super_block *super = 0;
    unsigned short mode = 0;
    unsigned long number = 0;
    to->device = 0;
    if (!file)
        return;
    FIELD(inode, file, f_inode);
    if (!inode)
        return;
    FIELD(number, inode, i_ino);
    FIELD(mode, inode, i_mode);
    FIELD(super, inode, i_sb);
    if (super)
        FIELD(to->device, super, s_dev);
    to->number = number;
    to->mode = mode;
}

INLINE void inode_of_descriptor(struct task_struct *task, u32 descriptor, struct seen_inode *to) {
    inode_of_file(file_of(task, descriptor), to);
}

INLINE u32 number_of(struct pid *pid) {
    u32 number = 0;
    if (pid)
        FIELD(number, KNOWN_AS(struct upid, &pid->numbers[pid->level & 31]), nr);
    return number;
}

// Said once for all that is told of a thread: where it is made, and when it runs a program, by
// which it becomes the first of its process.
INLINE void name(struct task_struct *task, struct seen *seen) {
    struct pid *own = task->thread_pid, *first = task->signal->pids[1];
    seen->thread = number_of(own);
    seen->process = own == first ? seen->thread : number_of(first);
}

INLINE void count(u32 what, u64 change) {
    u64 *value = map_lookup(&counts, &what);
    if (value)
        __sync_fetch_and_add(value, change);
}

// ---- memory of a process
//
// A question to the kernel takes longer than all else that is done for a path. So the tables that
// lead from an address to memory are gone through here, as the processor does it: four levels, or
// three or two where pages are large. What is not there, or goes on in another page, the kernel is
// asked for.

#ifdef CASTS
enum { THERE = 1, OF_PROCESS = 4, LARGE = 1 << 7 }; // of an entry
#define FRAME 0x000ffffffffff000ull
enum { LEVEL = 9, LOWEST = 12, SECOND = LOWEST + LEVEL, THIRD = SECOND + LEVEL };
enum { HIGHEST = THIRD + LEVEL, ADDRESSES = HIGHEST + LEVEL - 1 };
#define EACH_BYTE 0x0101010101010101ull

// Where the kernel has the machine's first byte; 0: that is not known, and it is asked always.
static u64 memory_begins;

struct found {
    u64 at;          // where the kernel has the byte; 0: nowhere
    u64 entry, said; // what the last table says, as long as it holds
    bool missing;    // the tables say that it is not there: nor can the kernel bring it here
};

INLINE u64 word_at(u64 address) {
    return KNOWN_AS(struct pt_regs, (void *)address)->r15;
}

// Whether this entry is the last.
INLINE bool goes_on(struct found *found, u64 *table, u64 address, u32 shift) {
    u64 entry = *table + (address >> shift & ((1 << LEVEL) - 1)) * sizeof(u64);
    u64 said = word_at(entry), inside = (1ull << shift) - 1;
    found->missing = !(said & THERE);
    if (found->missing || !(said & OF_PROCESS))
        return 0;
    *table = memory_begins + (said & FRAME);
    if (shift != LOWEST && (shift == HIGHEST || !(said & LARGE)))
        return 1;
    found->entry = entry;
    found->said = said;
    found->at = memory_begins + (said & FRAME & ~inside) + (address & inside);
    return 0;
}

INLINE void find(struct found *found, struct task_struct *task, u64 address) {
    found->at = 0;
    found->missing = 0;
    if (!memory_begins || !task->mm || address >> ADDRESSES)
        return;
    u64 table = word_at((u64)&task->mm->pgd);
    if (goes_on(found, &table, address, HIGHEST) && goes_on(found, &table, address, THIRD) &&
        goes_on(found, &table, address, SECOND))
        goes_on(found, &table, address, LOWEST);
}

// Bytes from there to the end of the page.
INLINE u32 room_at(u64 address) {
    return SEEN_PAGE - (address & (SEEN_PAGE - 1));
}

INLINE bool holds(const struct found *found) {
    return word_at(found->entry) == found->said;
}

// Of a text that ends in it, with its end; 0: it does not. The lowest byte is the first.
INLINE u64 length_in(u64 word) {
    u64 ends = (word - EACH_BYTE) & ~word & EACH_BYTE << 7;
    return ends ? (((ends & -ends) - 1) & EACH_BYTE) * EACH_BYTE >> 56 : 0;
}

// From this word on it lies in another page, but for some bytes of it.
INLINE long own_text_behind(struct task_struct *task, char *to, u64 address, u32 i,
                            const struct found *before, bool *missing) {
    struct found found;
    u32 room = room_at(address), left = (room - i * sizeof(u64)) & (sizeof(u64) - 1);
    find(&found, task, address + room);
    *missing = found.missing;
    if (!found.at)
        return 0;
    u64 word = word_at(found.at), from = found.at + sizeof(u64) - left, all = word;
    if (left)
        word =
            word << 8 * left | word_at(before->at + room - sizeof(u64)) >> 8 * (sizeof(u64) - left);
#pragma clang loop unroll(disable)
    for (; i < SEEN_PATH / sizeof(u64); i++) {
        u64 length = length_in(word), at = i;
        __asm__("%0 &= %1" : "+r"(at) : "i"(SEEN_PATH / sizeof(u64) - 1)); // as in shape_of
        ((u64 *)to)[at] = word;
        if (length)
            return all && holds(before) && holds(&found) ? i * sizeof(u64) + length : 0;
        all |= word = word_at(from);
        from += sizeof(u64);
    }
    return 0;
}

// 0: not so. Where all that is read is zeros the kernel is asked, too: see own_words.
INLINE long own_text(struct task_struct *task, char *to, u64 address, bool *missing) {
    struct found found;
    u32 i = 0, room = room_at(address);
    find(&found, task, address);
    *missing = found.missing;
    if (!found.at)
        return 0;
#pragma clang loop unroll(disable)
    for (; i < SEEN_PATH / sizeof(u64) && (i + 1) * sizeof(u64) <= room; i++) {
        u64 word = word_at(found.at + i * sizeof(u64)), length = length_in(word);
        ((u64 *)to)[i] = word;
        if (length)
            return (i || word) && holds(&found) ? i * sizeof(u64) + length : 0;
    }
    return i && i < SEEN_PATH / sizeof(u64) ? own_text_behind(task, to, address, i, &found, missing)
                                            : 0;
}

// What lies in memory that the kernel has nowhere of its own reads as zeros.
INLINE bool own_words(struct task_struct *task, u64 *to, u32 count, u64 address) {
    struct found found;
    u64 all = 0;
    find(&found, task, address);
    if (!found.at || room_at(address) < count * sizeof(u64))
        return 0;
    for (u32 i = 0; i < count; i++)
        all |= to[i] = word_at(found.at + i * sizeof(u64));
    return all && holds(&found);
}
#else
#define own_text(task, to, address, missing) 0
#define own_words(task, to, count, address) 0
#endif

// With its end. `again`: it is asked for again when the call is over, if it is not there yet.
INLINE u32 text_at(struct task_struct *task, char *to, u64 address, bool again) {
    bool missing = 0;
    long length = address ? own_text(task, to, address, &missing) : 0;
    if (address && !length && !(again && missing))
        length = read_user_text(to, SEEN_PATH, (const void *)address);
    return length > 0 ? length : 0;
}

// Of a call that is looked at, or counted. The kernel believes a mask where it follows no compare.
INLINE struct seen_shape *shape_of(u64 number) {
    u32 only = 0;
    struct seen_shapes *all = map_lookup(&shapes, &only);
    if (!all || number >= SEEN_CALLS)
        return 0;
    __asm__("%0 &= %1" : "+r"(number) : "i"(SEEN_CALLS - 1));
    return &all->of[number];
}

// ---- places

// As a number, which a pointer that the kernel knows is not. They lie as far from where a stack
// begins for one thread as for any other: that is asked once.
INLINE u64 registers_of(struct task_struct *task) {
    static u64 distance;
    u64 stack = (u64)task->stack, number = 0;
    if (!distance) {
        void *registers = task_registers(task);
        read_kernel(&number, sizeof number, &registers);
        distance = number - stack;
    }
    return stack + distance;
}

// One of two that it may have.
INLINE struct seen_place *place_at(u64 registers, u32 which) {
    u64 at = registers * 0x9e3779b97f4a7c15ull >> (which ? 32 : 48) & (SEEN_PLACES - 1);
    u32 only = 0;
    struct seen_places *all = map_lookup(&places, &only);
    return all ? &all->at[at] : 0;
}

// Of whoever runs.
INLINE struct seen_place *place_of(u64 registers) {
    struct seen_place *place = place_at(registers, 0);
    if (place && place->owner == registers)
        return place;
    place = place_at(registers, 1);
    if (place && place->owner == registers)
        return place;
    u32 which = SEEN_OTHERS;
    u64 *there = map_lookup(&counts, &which);
    return there && *there ? storage_get(&others, current(), 0, 0) : 0;
}

INLINE struct seen_place *free_place(struct task_struct *task) {
    u64 registers = registers_of(task);
    struct seen_place *place = place_at(registers, 0);
    if (!place || __sync_val_compare_and_swap(&place->owner, 0, registers)) {
        place = place_at(registers, 1);
        if (!place || __sync_val_compare_and_swap(&place->owner, 0, registers))
            return 0;
    }
    place->task = (u64)task;
    return place;
}

INLINE struct seen_place *new_place(struct task_struct *task) {
    struct seen_place *place = free_place(task);
    if (place)
        return place;
    count(SEEN_OTHERS, 1);
    return storage_get(&others, task, 0, MAKE);
}

// Who runs a program has a place from there on, if one is free.
INLINE struct seen_place *settled(struct task_struct *task, struct seen_place *from) {
    struct seen_place *to = from->owner ? 0 : free_place(task);
    if (!to)
        return from;
    __builtin_memcpy(&to->seen, &from->seen, __builtin_offsetof(struct seen, text));
    __builtin_memcpy(to->seen.text, from->seen.text, SEEN_PATH);
    storage_delete(&others, task);
    count(SEEN_OTHERS, -1);
    return to;
}

INLINE void leave(struct seen_place *place) {
    if (!place->owner)
        count(SEEN_OTHERS, -1);
    place->owner = 0;
}

#ifdef CASTS
#define TASK(place) KNOWN_AS(struct task_struct, (const void *)(place)->task)
#else
#define TASK(place) current()
#endif

// ---- telling
//
// The ring is ours: the kernel's own takes a lock, and waits until what is written has reached
// memory that lies in no cache.

enum { LIFE = __builtin_offsetof(struct seen, arguments) };
enum { FRONT = __builtin_offsetof(struct seen, second) };
enum { SIZE_BEFORE_TEXT = __builtin_offsetof(struct seen, text) };
enum { WORD = sizeof(u64) };
// Who looks whether there is room and who takes it may be different ones: as many as run at once.
enum { MARGIN = 1 << 19 };

INLINE struct seen_ring *the_ring(void) {
    u32 only = 0;
    return map_lookup(&ring, &only);
}

INLINE u64 ring_written(void) {
    struct seen_ring *to = the_ring();
    return to ? *(volatile u64 *)&to->written : 0;
}

// Where a record of this size goes. 0: there is no room.
INLINE char *taken(struct seen_ring *to, u32 size, u64 *at) {
    u64 written = *(volatile u64 *)&to->written; // before `read`, which may be ahead of it
    long long used = written - *(volatile u64 *)&to->read;
    if (used > SEEN_RING - MARGIN) {
        count(SEEN_LOST, 1);
        return 0;
    }
    u64 whole = (WORD + size + WORD - 1) & -WORD;
    *at = __sync_fetch_and_add(&to->written, whole);
    if ((*at ^ (*at + whole)) & SEEN_BELL)
        ring_output(&bell, at, sizeof *at, WAKE);
    return to->records + (*at & (SEEN_RING - 1));
}

INLINE void commit(char *place, u32 size, u64 at) {
    *(volatile u64 *)place = SEEN_HEAD(at, size);
}

INLINE void copy_words(char *to, const void *from, u32 size) {
    for (u32 i = 0; i < size / WORD; i++)
        ((u64 *)to)[i] = ((const u64 *)from)[i];
}

// With its texts, from there on.
INLINE void tell(struct seen *seen, const char *from, u32 texts) {
    struct seen_ring *to = the_ring();
    u64 at;
    texts = texts < 2 * SEEN_PATH ? texts : 2 * SEEN_PATH;
    u32 size = SIZE_BEFORE_TEXT + texts;
    char *place = to ? taken(to, size, &at) : 0;
    if (!place)
        return;
    copy_words(place + WORD, seen, SIZE_BEFORE_TEXT);
#pragma clang loop unroll(disable)
    for (u32 i = 0; i < 2 * SEEN_PATH / WORD && i * WORD < texts; i++)
        ((u64 *)(place + WORD + SIZE_BEFORE_TEXT))[i] = ((const u64 *)from)[i];
    commit(place, size, at);
}

// Only what is before `size`: FRONT of a call, LIFE of a life.
INLINE void tell_short(struct seen *seen, u32 size) {
    struct seen_ring *to = the_ring();
    u64 at;
    char *place = to ? taken(to, size, &at) : 0;
    if (!place)
        return;
    copy_words(place + WORD, seen, size);
    commit(place, size, at);
}

// ---- calls

INLINE u64 argument(const struct seen *seen, u32 which) {
    return which < SEEN_ARGUMENTS ? seen->arguments[which & 7] : 0;
}

// A page that is not there cannot be brought here: then it is tried again when the call is over.
INLINE void take_paths(struct task_struct *task, struct seen *seen, const struct seen_shape *shape,
                       bool again) {
    u32 used = seen->length[0];
    if (shape->path[0] != SEEN_NO_ARGUMENT && !seen->length[0])
        used = seen->length[0] = text_at(task, seen->text, argument(seen, shape->path[0]), again);
    if (used > SEEN_PATH) // it is not
        return;
    if (shape->path[1] != SEEN_NO_ARGUMENT && !seen->length[1])
        seen->length[1] = text_at(task, seen->text + used, argument(seen, shape->path[1]), again);
}

// Where one that is not from the root begins.
INLINE void take_start(struct task_struct *task, struct seen *seen, u32 directory,
                       struct seen_inode *to) {
    int at = directory == SEEN_NO_ARGUMENT ? HERE : (int)argument(seen, directory);
    to->device = 0;
    if (at == HERE)
        inode_of(task->fs->pwd.dentry->d_inode, to);
    else
        inode_of_descriptor(task, at, to);
}

INLINE void take_file(struct task_struct *task, struct seen *seen, u32 descriptor) {
    struct file *file = file_of(task, descriptor);
    if (!file)
        return;
    inode_of_file(file, &seen->file);
    FIELD(seen->position, file, f_pos);
    FIELD(seen->open_flags, file, f_flags);
}

// As the tracer has it (LOCK_OF_BYTES). What is counted from the end of a file is taken for all of
// it.
INLINE void take_lock(struct seen *seen) {
    struct {
        short type, whence;
        long long start, length;
    } lock = {0};
    u64 command = seen->arguments[1];
    if (command != SETLK && command != SETLKW && command != OFD_SETLK && command != OFD_SETLKW)
        return; // what else it is given leads nowhere, most often: to find that takes long
    read_user(&lock, sizeof lock, (const void *)seen->arguments[2]);
    seen->pair[0] = (unsigned short)lock.type;
    long long first = lock.start + (lock.whence == SEEKS_FROM_POSITION ? seen->position : 0);
    long long other = first + lock.length, all = ~(1ull << 63);
    bool known = lock.whence != SEEKS_FROM_END;
    seen->arguments[3] = !known ? 0 : lock.length < 0 ? other : first;
    seen->arguments[4] = !known || !lock.length ? all : lock.length < 0 ? first : other;
    seen->pair[0] |= LOCK_OF_BYTES;
}

// What some calls are given lies in memory: what kind of lock, how to open, where a socket is.
INLINE void take_memory(struct task_struct *task, struct seen *seen, u32 number) {
    if (number == FCNTL)
        take_lock(seen);
    if (number == OPENAT2)
        read_user(&seen->arguments[2], sizeof(u64), (const void *)seen->arguments[2]);
    if (number == BIND || number == CONNECT) {
        u64 length = seen->arguments[2] < ADDRESS ? seen->arguments[2] : ADDRESS;
        if (read_user(seen->text, length & (SEEN_PATH - 1), (const void *)seen->arguments[1]) == 0)
            seen->length[0] = length;
        take_start(task, seen, SEEN_NO_ARGUMENT, &seen->directory[0]);
    }
}

// What a call is given beside a descriptor.
INLINE void take_more(struct task_struct *task, struct seen *seen, const struct seen_shape *shape) {
    seen->second.device = seen->given.device = 0;
    seen->directory[0].device = seen->directory[1].device = 0;
    seen->created = seen->length[0] = seen->length[1] = 0;
    if (shape->second != SEEN_NO_ARGUMENT)
        inode_of_descriptor(task, argument(seen, shape->second), &seen->second);
    if (shape->path[0] != SEEN_NO_ARGUMENT) {
        take_paths(task, seen, shape, 1);
        if (!seen->length[0] || seen->text[0] != '/')
            take_start(task, seen, shape->directory[0], &seen->directory[0]);
    }
    if (shape->path[1] != SEEN_NO_ARGUMENT)
        take_start(task, seen, shape->directory[1], &seen->directory[1]);
}

// A call that is not wanted leaves no trace in a place: the one before it was over.
SECTION("raw_tp/sys_enter") int begins(u64 *context) {
    u32 number = context[1];
    if (number >= SEEN_CALLS)
        number = SEEN_CALLS - 1; // all of these are counted as one
    struct seen_shape *shape = shape_of(number);
    if (!shape || shape->wanted == SEEN_NOT_WANTED)
        return 0;
    struct seen_place *place = place_of(context[0]);
    if (!place)
        return 0;
    if (shape->wanted == SEEN_TO_COUNT) {
        count(SEEN_COUNTED + number, 1);
        return 0;
    }
    struct seen *seen = &place->seen;
    struct pt_regs *registers = KNOWN_AS(struct pt_regs, (void *)context[0]);
    FIELD(seen->arguments[0], registers, di);
    FIELD(seen->arguments[1], registers, si);
    FIELD(seen->arguments[2], registers, dx);
    FIELD(seen->arguments[3], registers, r10);
    FIELD(seen->arguments[4], registers, r8);
    FIELD(seen->arguments[5], registers, r9);
    if (shape->if_given != SEEN_NO_ARGUMENT && !argument(seen, shape->if_given))
        return 0;
    if (shape->unless_bit && argument(seen, shape->unless_argument) & shape->unless_bit)
        return 0;
    struct task_struct *task = TASK(place);
    seen->number = number;
    seen->position = ~0ull;
    seen->file.device = seen->open_flags = 0;
    *(u64 *)seen->pair = 0;
    if (shape->descriptor != SEEN_NO_ARGUMENT)
        take_file(task, seen, argument(seen, shape->descriptor));
    if (!shape->is_short)
        take_more(task, seen, shape);
    take_memory(task, seen, number);
    seen->kind = SEEN_CALL;
    seen->entered = ring_written();
    return 0;
}

INLINE void finish(struct seen *seen, const struct seen_shape *shape) {
    if (shape->is_short)
        tell_short(seen, FRONT);
    else
        tell(seen, seen->text, seen->length[0] + seen->length[1]);
    seen->kind = 0;
}

// Who goes through a tree looks at each entry once, from its directory: what was found stands in
// memory, and need not be looked at again.
INLINE void take_status(struct task_struct *task, struct seen *seen) {
    enum { DEVICE, INODE, LINKS, MODE, WORDS }; // of a struct stat of x86-64, where it begins
    u64 status[WORDS], where = seen->arguments[2];
    if (!(seen->arguments[3] & NOFOLLOW) || (int)seen->arguments[0] == HERE || !seen->text[0] ||
        !seen->length[0])
        return;
    if (!own_words(task, status, WORDS, where) &&
        read_user(status, sizeof status, (const void *)where))
        return;
    u32 minor = (status[DEVICE] & 0xff) | (status[DEVICE] >> 12 & 0xfff00);
    seen->given.number = status[INODE];
    seen->given.device = (status[DEVICE] >> 8 & 0xfff) << 20 | minor;
    seen->given.mode = status[MODE];
}

// What a call gives beside its result.
INLINE void take_given(struct task_struct *task, struct seen *seen, const struct seen_shape *shape,
                       u32 number) {
    long long result = seen->result;
    take_paths(task, seen, shape, 0);
    if (shape->gives_descriptor && result >= 0) {
        struct file *file = file_of(task, result);
        u32 mode = 0;
        inode_of_file(file, &seen->given);
        if (file)
            FIELD(mode, file, f_mode);
        seen->created = (mode & CREATED) != 0;
    }
    if (number == CHDIR && result == 0)
        inode_of(task->fs->pwd.dentry->d_inode, &seen->given);
    if (shape->two_descriptors && result == 0) {
        u64 where = argument(seen, number == SOCKETPAIR ? 3 : 0);
        read_user(seen->pair, sizeof seen->pair, (const void *)where);
        inode_of_descriptor(task, seen->pair[0], &seen->given);
        inode_of_descriptor(task, seen->pair[1], &seen->file);
    }
    if (number == NEWFSTATAT && result == 0)
        take_status(task, seen);
}

SECTION("raw_tp/sys_exit") int ends(u64 *context) {
    struct seen_place *place = place_of(context[0]);
    if (!place || place->seen.kind != SEEN_CALL)
        return 0;
    struct seen *seen = &place->seen;
    u32 number = seen->number;
    struct seen_shape *shape = shape_of(number);
    if (!shape)
        return 0;
    seen->result = context[1];
    if (!shape->is_short)
        take_given(TASK(place), seen, shape, number);
    if (number == WAITID && context[1] == 0 && seen->arguments[2])
        read_user(seen->pair, sizeof seen->pair[0], (const char *)seen->arguments[2] + SENDER);
    finish(seen, shape);
    return 0;
}

// ---- lives

// The first process has no name before it runs its program.
INLINE void event(struct task_struct *task, struct seen *seen, u32 kind) {
    seen->kind = kind;
    if (!seen->thread)
        name(task, seen);
}

SECTION("tp_btf/sched_process_fork") int made(u64 *context) {
    struct task_struct *parent = (struct task_struct *)context[0];
    struct task_struct *child = (struct task_struct *)context[1];
    struct seen_place *maker = place_of(registers_of(parent));
    if (!maker)
        return 0;
    struct seen_place *place = new_place(child);
    if (!place) {
        count(SEEN_LOST, 1);
        return 0;
    }
    struct seen *seen = &place->seen;
    if (!maker->seen.thread)
        name(parent, &maker->seen);
    name(child, seen);
    u32 number = seen->thread;
    seen->kind = SEEN_MADE;
    seen->result = number;
    seen->thread = maker->seen.thread;
    tell_short(seen, LIFE);
    seen->thread = number; // from here on it is its own
    seen->kind = 0;
    return 0;
}

SECTION("tp_btf/sched_process_exec") int runs(u64 *context) {
    struct task_struct *task = (struct task_struct *)context[0];
    struct seen_place *place = place_of(registers_of(task));
    if (!place)
        return 0;
    struct seen *seen = &settled(task, place)->seen;
    struct seen_inode program = {0};
    struct mm_struct *memory = task->mm;
    u32 call = seen->kind;
    u32 words = 0;
    struct seen_inode before = seen->file;
    if (memory) {
        inode_of(memory->exe_file->f_inode, &program);
        words = memory->arg_end - memory->arg_start;
        words = words < SEEN_PATH ? words : SEEN_PATH - 1;
        // The path of the call stays: the words come behind it.
        if (read_user(seen->text + SEEN_PATH, words & (SEEN_PATH - 1),
                      (const void *)memory->arg_start) < 0)
            words = 0;
    }
    u32 length = seen->length[0];
    seen->kind = SEEN_RUNS;
    seen->file = program;
    seen->length[0] = words;
    name(task, seen);
    tell(seen, seen->text + SEEN_PATH, words);
    seen->length[0] = length;
    seen->file = before;
    seen->kind = call;
    return 0;
}

SECTION("tp_btf/sched_process_exit") int ended(u64 *context) {
    struct task_struct *task = (struct task_struct *)context[0];
    struct seen_place *place = place_of(registers_of(task));
    if (!place)
        return 0;
    struct seen *seen = &place->seen;
    u32 number = seen->number;
    struct seen_shape *shape = shape_of(number);
    bool in_call = seen->kind == SEEN_CALL && shape; // that will not return
    if (in_call && (number == EXIT || number == EXIT_GROUP)) {
        seen->kind = SEEN_LEFT;
        seen->result = 0;
        seen->open_flags = task->exit_code;
        tell_short(seen, FRONT);
    } else {
        if (in_call) {
            seen->kind = SEEN_UNFINISHED;
            seen->result = 0;
            finish(seen, shape);
        }
        event(task, seen, SEEN_ENDED);
        seen->result = task->exit_code;
        tell_short(seen, LIFE);
    }
    seen->kind = 0;
    leave(place);
    return 0;
}

SECTION("tp_btf/signal_deliver") int signalled(u64 *context) {
    struct task_struct *task = current();
    struct seen_place *place = place_of(registers_of(task));
    struct kernel_siginfo *info = (struct kernel_siginfo *)context[1];
    u32 sender = 0;
    if (!place || place->seen.kind)
        return 0; // in the middle of a call: its record is under way
    struct seen *seen = &place->seen;
    event(task, seen, SEEN_SIGNALLED);
    seen->number = context[0];
    read_kernel(&sender, sizeof sender, (const char *)info + SENDER);
    seen->result = sender;
    tell_short(seen, LIFE);
    seen->kind = 0;
    return 0;
}

#ifdef CASTS
// Not run at a tracepoint, but by the loader for itself: it says where two words lie that it knows,
// and asks whether memory begins so many gigabytes before the one in which its own tables are.
SECTION("raw_tp") int finds_memory(u64 *context) {
    struct task_struct *task = current();
    u64 address = context[0], gigabyte = 1ull << THIRD;
    struct found found;
    if (!task->mm)
        return 0;
    memory_begins = (word_at((u64)&task->mm->pgd) & -gigabyte) - context[3] * gigabyte;
    find(&found, task, address);
    if (!found.at || word_at(found.at) != context[1] ||
        word_at(found.at + sizeof(u64)) != context[2])
        memory_begins = 0;
    return memory_begins != 0;
}
#endif

char licence[] SECTION("license") = "Dual BSD/GPL";
