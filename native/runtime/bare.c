// SPDX-License-Identifier: Apache-2.0
#include "bare.h"
#include "races.h"

#include <errno.h>
#include <string.h>

bool ew_bare;
static uint32_t told;

// --- texts

struct text {
    char bytes[1024];
    size_t length;
};

static void put(struct text *text, const char *words) {
    size_t length = strlen(words), room = sizeof text->bytes - text->length;
    length = length < room ? length : room;
    memcpy(text->bytes + text->length, words, length);
    text->length += length;
}

static void put_number(struct text *text, uint64_t value, unsigned base) {
    char digits[24];
    size_t at = sizeof digits;
    digits[--at] = 0;
    do
        digits[--at] = "0123456789abcdef"[value % base];
    while (value /= base);
    put(text, base == 16 ? "0x" : "");
    put(text, &digits[at]);
}

static void say(const struct text *text) {
    raw3(SYS_write, 2, (long)text->bytes, (long)text->length);
}

// --- what was found

extern char __executable_start[] __attribute__((weak, visibility("hidden")));
extern char etext[] __attribute__((weak, visibility("hidden")));

static void put_place(struct text *text, uintptr_t pc) {
    bool ours = pc >= (uintptr_t)__executable_start && pc < (uintptr_t)etext;
    if (ours) {
        put(text, program_invocation_short_name);
        put(text, "+");
    }
    put_number(text, pc - 1 - (ours ? (uintptr_t)__executable_start : 0), 16); // in the call
}

static const char *word_of(unsigned op) {
    return op == EW_OP_LOAD ? "read" : op == EW_OP_FREE ? "free" : "write";
}

static const char *name_of(unsigned kind) {
    static const char *const names[] = {
        [EW_FOUND_RACE] = "data race",
        [EW_FOUND_USE_AFTER_FREE] = "use of memory that was freed",
        [EW_FOUND_DEADLOCK] = "deadlock",
        [EW_FOUND_DOUBLE_FREE] = "memory is freed that was freed",
        [EW_FOUND_INVALID_FREE] = "memory is freed that is no block of the heap",
    };
    return kind < sizeof names / sizeof *names && names[kind] ? names[kind] : "misuse";
}

static void put_access(struct text *text, const struct ew_found_row *row) {
    put(text, "  ");
    put(text, word_of(row->op));
    put(text, " of size ");
    put_number(text, row->size, 10);
    put(text, " at ");
    put_number(text, row->address, 16);
    put(text, " by thread T");
    put_number(text, row->thread, 10);
}

static void put_wait(struct text *text, const struct ew_found_row *row) {
    put(text, "  thread T");
    put_number(text, row->thread, 10);
    put(text, " waits for ");
    put_number(text, row->address, 16);
}

static void put_side(struct text *text, const struct ew_found_row *row) {
    (row->kind == EW_FOUND_DEADLOCK ? put_wait : put_access)(text, row);
    put(text, ", in ");
    put_place(text, row->pc);
    put(text, "\n");
}

void ew_bare_tell(const struct ew_found_row *row) {
    struct text text = {.length = 0};
    told++;
    put(&text, "==================\nWARNING: EitherWay: ");
    put(&text, name_of(row->kind));
    put(&text, "\n");
    if (row->pc)
        put_side(&text, row);
    if (row->kind == EW_FOUND_RACE) {
        put(&text, "  nothing orders it with an earlier ");
        put(&text, word_of(row->past_op));
        put(&text, " by thread T");
        put_number(&text, row->past_thread, 10);
        put(&text, "\n");
    }
    put(&text, "==================\n");
    say(&text);
}

bool ew_bare_failed(void) {
    if (!told)
        return false;
    struct text text = {.length = 0};
    put(&text, "EitherWay: ");
    put_number(&text, told, 10);
    put(&text, told == 1 ? " warning" : " warnings");
    put(&text, " in this one schedule; for lines, stacks and others: eitherway check -- ");
    put(&text, program_invocation_name);
    put(&text, "\n");
    say(&text);
    told = 0;
    return true;
}
