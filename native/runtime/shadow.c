// SPDX-License-Identifier: Apache-2.0
#include "shadow.h"
#include "constants.h"
#include "pairs.h"
#include "passing.h"
#include "places.h"
#include "races.h"

#include <emmintrin.h>
#include <string.h>
#include <sys/mman.h>

static bool is_mine(uint32_t entry, uint32_t mine) {
    return (entry ^ mine) <= EW_BYTES;
}

// --- an access to a cell, in general

// Of the access under way: it races; and with a plain one, which alone may be no decision point.
static bool raced, raced_plain;

static void race(const struct ew_access *access, uint32_t entry, unsigned past_op) {
    raced = true;
    raced_plain |= !(entry & EW_ATOMIC);
    ew_race(access, entry, past_op);
}

// Two atomic operations never race.
static void check(const struct ew_past *past, uint32_t bytes, const struct ew_access *access,
                  bool past_wrote) {
    for (uint32_t i = 0; i < past->count; i++) {
        uint32_t entry = past->entries[i];
        if ((entry & bytes) && !(access->atomic && entry & EW_ATOMIC) && !ew_entry_is_known(entry))
            race(access, entry, past_wrote ? EW_OP_STORE : EW_OP_LOAD);
    }
}

// What a later access could still race with when the new one is there. A plain write stands for all
// that it follows, and what it does not follow has been told. What a read does not follow stays; so
// does a plain entry beside an atomic one, which an atomic operation does not race with.
static void keep_rest(const struct ew_past *past, uint32_t bytes, bool writes, bool atomic) {
    for (uint32_t i = 0; i < past->count; i++) {
        uint32_t entry = past->entries[i], rest = entry & EW_BYTES;
        bool may_go = !atomic || entry & EW_ATOMIC;
        if (entry == EW_CONTESTED)
            ew_past_keep(entry);
        if (may_go && ((writes && !atomic) || ew_entry_is_known(entry)))
            rest &= ~bytes;
        if (rest)
            ew_past_keep((entry & ~EW_BYTES) | rest);
    }
}

static void add(uint32_t *side, uint32_t bytes, bool writes, bool atomic) {
    uint32_t mine = (ew_current & ~EW_BYTES) | (atomic ? EW_ATOMIC : 0) | bytes;
    struct ew_past past;
    ew_past_look(*side, &past);
    ew_past_count = 0;
    keep_rest(&past, bytes, writes, atomic);
    for (uint32_t i = 0; i < ew_past_count; i++)
        if (is_mine(ew_past_kept[i], mine)) {
            ew_past_kept[i] |= bytes;
            ew_past_settle(side);
            return;
        }
    ew_past_keep(mine);
    ew_past_settle(side);
}

static void clear_reads(struct ew_cell *cell, uint32_t bytes, bool atomic) {
    if (!cell->read)
        return;
    struct ew_past past;
    ew_past_look(cell->read, &past);
    ew_past_count = 0;
    keep_rest(&past, bytes, true, atomic);
    ew_past_settle(&cell->read);
}

static void touch_freed(struct ew_cell *cell, const struct ew_access *access) {
    uint32_t by = cell->write;
    if (by == EW_ALLOCATORS)
        return;
    *cell = (struct ew_cell){0}; // told once
    if (ew_entry_is_known(by))
        ew_used_after_free(access);
    else
        race(access, by, EW_OP_FREE);
}

static void access_split(struct ew_cell *cell, uint32_t bytes, const struct ew_access *access);

static EW_COLD void access_any(struct ew_cell *cell, uint32_t bytes,
                               const struct ew_access *access) {
    struct ew_past writes, reads;
    if (ew_is_split(cell->write)) {
        access_split(cell, bytes, access);
        return;
    }
    if (cell->read == EW_FREED)
        touch_freed(cell, access);
    if (cell->read == EW_FREED)
        return; // it is the allocator's
    ew_past_look(cell->write, &writes);
    check(&writes, bytes, access, true);
    if (access->op == EW_OP_LOAD) {
        add(&cell->read, bytes, false, access->atomic);
        return;
    }
    ew_past_look(cell->read, &reads);
    check(&reads, bytes, access, false);
    add(&cell->write, bytes, true, access->atomic);
    clear_reads(cell, bytes, access->atomic);
}

// --- several readers

static uint32_t counted_segment, slow_reads; // in this segment
#define SHORT 256

static bool is_inside(uint32_t value) {
    return ew_past_inside[value & 255] == ((uint64_t)value << 32 | ew_current);
}

static bool is_short(void) {
    if (counted_segment != ew_current) {
        counted_segment = ew_current;
        slow_reads = 0;
    }
    return ++slow_reads < SHORT;
}

// In place of an older read of the same thread, which has to be of no other bytes; what is plain
// stays beside what is atomic.
static bool may_replace(uint32_t entry, uint32_t mine) {
    return !(entry & EW_BYTES & ~mine) && !(mine & EW_ATOMIC && entry && !(entry & EW_ATOMIC));
}

// Entries of different slots, none of which stands for the cell itself.
static bool may_be_readers(const struct ew_past *past) {
    uint64_t slots = 0;
    for (uint32_t i = 0; i < past->count; i++) {
        uint32_t entry = past->entries[i], slot = ew_slot_of_segment(ew_segment_of(entry));
        if (!(entry & EW_BYTES) || slot >= EW_READERS_SLOTS || slots >> slot & 1)
            return false;
        slots |= 1ul << slot;
    }
    return slots & ~(1ul << ew_slot);
}

// Whether they knew of the last write is not known any more.
static bool give_readers(struct ew_cell *cell) {
    uint32_t old = cell->read;
    struct ew_past past;
    ew_past_look(old, &past);
    if (!may_be_readers(&past) || !is_short())
        return false;
    cell->read = EW_SET | EW_READERS | ew_readers_create();
    ew_past_mark(cell);
    for (uint32_t i = 0; i < past.count; i++)
        ew_reader_put(cell->read, ew_slot_of_segment(ew_segment_of(past.entries[i])),
                      past.entries[i] | EW_UNAWARE);
    ew_past_drop(old);
    return true;
}

static bool may_read_beside(struct ew_cell *cell) {
    return ew_slot < EW_READERS_SLOTS && (ew_has_readers(cell->read) || give_readers(cell));
}

static bool read_beside(struct ew_cell *cell, uint32_t mine) {
    if (!may_read_beside(cell))
        return false;
    uint32_t entry = *ew_reader(cell->read, ew_slot);
    if (is_mine(entry, mine))
        mine |= entry;
    else if (!may_replace(entry, mine))
        return false;
    ew_reader_put(cell->read, ew_slot, mine);
    return true;
}

static void read_shared(struct ew_cell *cell, uint32_t bytes) {
    uint32_t mine = (ew_current & ~EW_BYTES) | bytes;
    if (cell->read & EW_SET && is_inside(cell->read) && bytes == EW_BYTES)
        return;
    if (read_beside(cell, mine))
        return;
    add(&cell->read, bytes, false, false);
    if (cell->read & EW_SET && bytes == EW_BYTES)
        ew_past_inside[cell->read & 255] = (uint64_t)cell->read << 32 | ew_current;
}

// What is not ordered with the last write is so again and again, most often.
static void read_racing(struct ew_cell *cell, uint32_t bytes) {
    uint32_t mine = (ew_current & ~EW_BYTES) | bytes;
    if (may_read_beside(cell) && may_replace(*ew_reader(cell->read, ew_slot), mine))
        ew_reader_put(cell->read, ew_slot, mine | EW_UNAWARE);
    else
        add(&cell->read, bytes, false, false);
}

// --- plain accesses to a cell

static void split(struct ew_cell *cell, uint32_t bytes, const struct ew_access *access) {
    ew_split(cell);
    access_split(cell, bytes, access);
}

static void read_cell(struct ew_cell *cell, uint32_t bytes, const struct ew_access *access) {
    uint32_t write = cell->write, read = cell->read, mine = (ew_current & ~EW_BYTES) | bytes;
    if (UNLIKELY(write & (EW_SET | EW_ATOMIC) || read == EW_FREED)) {
        access_any(cell, bytes, access);
        return;
    }
    if ((write & bytes) && UNLIKELY(!ew_entry_is_known(write))) {
        race(access, write, EW_OP_STORE);
        read_racing(cell, bytes);
        return;
    }
    if (is_mine(write, mine) && !(bytes & ~write))
        return;
    if (is_mine(read, mine))
        cell->read = read | bytes;
    else if (UNLIKELY(!(read & (EW_SET | EW_ATOMIC)) && read & EW_BYTES & ~bytes))
        split(cell, bytes, access);
    else if (UNLIKELY(read & (EW_SET | EW_ATOMIC) || !ew_entry_is_known(read)))
        read_shared(cell, bytes);
    else
        cell->read = mine;
}

static void write_cell(struct ew_cell *cell, uint32_t bytes, const struct ew_access *access) {
    uint32_t write = cell->write, read = cell->read, mine = (ew_current & ~EW_BYTES) | bytes;
    if (UNLIKELY((write | read) & (EW_SET | EW_ATOMIC))) {
        access_any(cell, bytes, access);
        return;
    }
    if ((write & bytes) && UNLIKELY(!ew_entry_is_known(write)))
        race(access, write, EW_OP_STORE);
    if ((read & bytes) && UNLIKELY(!ew_entry_is_known(read)))
        race(access, read, EW_OP_LOAD);
    if (is_mine(write, mine))
        cell->write = write | bytes;
    else if (UNLIKELY(write & EW_BYTES & ~bytes))
        split(cell, bytes, access);
    else
        cell->write = mine;
}

// Each byte by itself.
static void access_split(struct ew_cell *cell, uint32_t bytes, const struct ew_access *access) {
    ew_split_widen(cell);
    struct ew_cell *of_byte = ew_split_wide(cell);
    for (uint32_t byte = 1; byte < EW_BYTES; byte <<= 1, of_byte++)
        if (!(bytes & byte))
            continue;
        else if (access->atomic)
            access_any(of_byte, byte, access);
        else if (access->op == EW_OP_LOAD)
            read_cell(of_byte, byte, access);
        else
            write_cell(of_byte, byte, access);
    ew_split_settle(cell);
}

// --- whole accesses

static uint32_t bytes_in(uintptr_t cell, uintptr_t from, uintptr_t to) {
    uint32_t bytes = EW_BYTES;
    if (from > cell)
        bytes &= EW_BYTES << (from - cell);
    if (to < cell + 4)
        bytes &= EW_BYTES >> (cell + 4 - to);
    return bytes;
}

static bool is_done(const struct ew_cell *cell, uint32_t bytes, bool writes) {
    uint32_t relevant = ~EW_BYTES | bytes;
    return !((cell->write ^ ew_current) & relevant) ||
           (!writes && !((cell->read ^ ew_current) & relevant));
}

// Two of them, which need not lie at a multiple of their size.
typedef uint64_t cells __attribute__((vector_size(16), aligned(8), may_alias));

static uint64_t bits_of(const struct ew_cell *cell) {
    return (uint64_t)cell->read << 32 | cell->write;
}

// Eight of them.
static bool are_equal(const cells *eight, cells to) {
    cells differ = (eight[0] ^ to) | (eight[1] ^ to) | (eight[2] ^ to) | (eight[3] ^ to);
    __m128i same = _mm_cmpeq_epi32((__m128i)differ, _mm_setzero_si128());
    return _mm_movemask_epi8(same) == 0xFFFF;
}

// What becomes of a cell whose past is plain.
static uint64_t touched(uint64_t bits, bool writes) {
    if (writes)
        return ew_current;
    return (uint32_t)bits == ew_current ? bits : (uint64_t)ew_current << 32 | (uint32_t)bits;
}

// Those that have the same past, of which it is known what becomes. How far.
static struct ew_cell *pass_alike(struct ew_cell *cell, const struct ew_cell *end, uint64_t past,
                                  uint64_t now) {
    const cells old = {past, past}, new = {now, now};
    for (; cell + 8 <= end && are_equal((cells *)cell, old); cell += 8)
        for (int i = 0; i < 4; i++)
            ((cells *)cell)[i] = new;
    return cell;
}

// Whole cells. The first that does not pass. Side by side they mostly have the same past, which is
// looked at once.
static struct ew_cell *pass_whole(struct ew_cell *cell, const struct ew_cell *end, bool writes) {
    uint64_t past = 0, now = touched(0, writes);
    while (cell < end) {
        uint64_t bits = bits_of(cell);
        if (bits != past) {
            if (!ew_past_is_plain(cell)) {
                if (!ew_cell_passes(cell, writes))
                    return cell;
                cell++;
                continue;
            }
            past = bits;
            now = touched(bits, writes);
        }
        *cell = (struct ew_cell){(uint32_t)now, now >> 32};
        cell = pass_alike(cell + 1, end, past, now);
    }
    return cell;
}

// The first cell that does not pass, of an access that goes on with these bytes.
static struct ew_cell *pass(struct ew_cell *cell, uint32_t bytes, size_t whole, bool writes) {
    if (bytes == EW_BYTES)
        return pass_whole(cell, cell + whole, writes);
    return cell + (is_done(cell, bytes, writes) || ew_bytes_pass(cell, bytes, writes));
}

static bool part_passes(struct ew_cell *cell, uint32_t bytes, bool writes) {
    return is_done(cell, bytes, writes) || ew_bytes_pass(cell, bytes, writes);
}

bool ew_shadow_passes(unsigned op, const void *address, size_t size, const void *pc) {
    uintptr_t from = (uintptr_t)address, end = from + size;
    struct ew_cell *cell = ew_cell_at(from & ~3ul), *last = ew_cell_at(end & ~3ul);
    bool writes = op != EW_OP_LOAD;
    if (!writes && ew_are_constant(from, size))
        return true;
    if (ew_place_may_be_shared((uintptr_t)pc))
        return false;
    if (from & 3 && !part_passes(cell++, bytes_in(from & ~3ul, from, end), writes))
        return false;
    while (cell < last) {
        struct ew_cell *next = pass_whole(cell, last, writes);
        if (next == cell)
            return false;
        cell = next;
    }
    return cell > last || !(end & 3) || part_passes(last, bytes_in(end & ~3ul, from, end), writes);
}

static void access_cell(struct ew_cell *cell, uint32_t bytes, const struct ew_access *access) {
    if (access->atomic)
        access_any(cell, bytes, access);
    else if (access->op != EW_OP_LOAD)
        write_cell(cell, bytes, access);
    else
        read_cell(cell, bytes, access);
}

void ew_shadow_access(const struct ew_access *access) {
    uintptr_t at = access->address & ~3ul, end = access->address + access->size;
    bool writes = access->op != EW_OP_LOAD;
    raced = raced_plain = false;
    while (at < end) {
        struct ew_cell *cell = ew_cell_at(at), *next = cell;
        uint32_t bytes = bytes_in(at, access->address, end);
        if (!access->atomic)
            next = pass(cell, bytes, (end - at) / 4, writes);
        if (next == cell)
            access_cell(next++, bytes, access);
        at += (uintptr_t)(next - cell) * 4;
    }
    if (UNLIKELY(raced))
        ew_contest(access, raced_plain);
}

void ew_shadow_use(uintptr_t address, uintptr_t pc) {
    struct ew_cell *cell = ew_cell_at(address & ~3ul);
    uint32_t byte = 1u << (address & 3), mine = (ew_current & ~EW_BYTES) | EW_ATOMIC | byte;
    uint32_t read = cell->read;
    if (read == mine)
        return; // at the end of what it was locked for
    bool alone = !(read & EW_SET) && !(read & EW_BYTES & ~byte) &&
                 (read <= EW_BYTES || (read & EW_ATOMIC && ew_entry_is_known(read)));
    if (LIKELY(ew_segment_is_known(cell->write >> 4)) && LIKELY(alone))
        cell->read = mine;
    else if (!ew_segment_is_known(cell->write >> 4) || !read_beside(cell, mine))
        ew_shadow_access(&(struct ew_access){address, 1, pc, EW_OP_LOAD, true});
}

void ew_shadow_look(unsigned op, const void *address, size_t size, const void *pc) {
    struct ew_access access = {(uintptr_t)address, size, (uintptr_t)pc, (uint8_t)op, false};
    bool decides = ew_is_contested(&access);
    if (UNLIKELY(decides)) {
        ew_point_at(EW_WHY_PLACE, op, address, size);
        ew_pair(address, pc, op != EW_OP_LOAD);
    }
    if (UNLIKELY(ew_places_filtered))
        ew_detect_access(op, address, size, pc);
    else
        ew_shadow_access(&access);
    if (UNLIKELY(decides))
        ew_contest(&access, false);
}

void ew_shadow_forget(void) {
    raw3(SYS_madvise, EW_SHADOW_BASE, EW_SHADOW_SIZE, MADV_DONTNEED);
    ew_past_forget();
}

void ew_shadow_start(void) {
    long address = raw6(SYS_mmap, EW_SHADOW_BASE, EW_SHADOW_SIZE, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (address != (long)EW_SHADOW_BASE)
        ew_cannot("there is no address space for looking for races; is it limited (ulimit -v)?");
    raw3(SYS_madvise, EW_SHADOW_BASE, EW_SHADOW_SIZE, MADV_DONTDUMP);
    ew_past_start();
    ew_constants_start();
}
