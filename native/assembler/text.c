// SPDX-License-Identifier: Apache-2.0
// The text as gcc and clang write it: a label, a directive or an instruction a line, the operation
// between two tabs. What does not look so is left as it is, and nothing is concluded from it: every
// call of a hook may be replaced, or not.
#include "assembler.h"

#include <stdlib.h>
#include <string.h>

bool add_text(struct text *text, const char *start, size_t size) {
    if (size >= text->room - text->size) {
        size_t room = 2 * (text->size + size + (1 << 15));
        char *moved = realloc(text->start, room);
        if (!moved)
            return false;
        text->start = moved;
        text->room = room;
    }
    memcpy(text->start + text->size, start, size);
    text->size += size;
    return true;
}

// --- lines

struct line {
    const char *start;
    size_t size; // without its end
};

static bool next_line(struct text text, size_t *at, struct line *line) {
    if (*at >= text.size)
        return false;
    const char *start = text.start + *at, *end = memchr(start, '\n', text.size - *at);
    *line = (struct line){start, end ? (size_t)(end - start) : text.size - *at};
    *at += line->size + 1;
    return true;
}

static bool starts(struct line line, const char *with) {
    size_t size = strlen(with);
    return line.size >= size && memcmp(line.start, with, size) == 0;
}

static struct line after(struct line line, const char *start) {
    size_t size = strlen(start);
    return (struct line){line.start + size, line.size - size};
}

static bool is_gap(char character) {
    return character == '\t' || character == ' ';
}

// A comment may follow: gcc's with -fverbose-asm, clang's always.
static struct line first_word(struct line line) {
    size_t size = 0;
    while (size < line.size && !is_gap(line.start[size]))
        size++;
    return (struct line){line.start, size};
}

// --- hooks

#define HOOK "__tsan_"

// gcc writes "call", clang "callq".
static bool is_call(struct line line, struct line *of) {
    if (!starts(line, "\tcall"))
        return false;
    *of = after(line, starts(line, "\tcallq") ? "\tcallq" : "\tcall");
    if (!of->size || of->start[0] != '\t')
        return false;
    *of = first_word(after(*of, "\t"));
    return true;
}

static const struct hook {
    const char *name;
    const char *macro;
    bool everywhere; // as short as a call, or nearly
} hooks[] = {
    {"func_entry", "eitherway_entry", true},
    {"func_exit", "eitherway_exit", true},
    {"read1", "eitherway_access read1, 1, 1, -8", false},
    {"read2", "eitherway_access read2, 1, 1, -5", false},
    {"read4", "eitherway_access read4, 1, 1, -1", false},
    {"read8", "eitherway_access read8, 2, 1, -1", false},
    {"write1", "eitherway_access write1, 1, 0, -8", false},
    {"write2", "eitherway_access write2, 1, 0, -5", false},
    {"write4", "eitherway_access write4, 1, 0, -1", false},
    {"write8", "eitherway_access write8, 2, 0, -1", false},
};

static const struct hook *hook_of(struct line line) {
    struct line name;
    if (!is_call(line, &name) || !starts(name, HOOK))
        return NULL;
    name = after(name, HOOK);
    for (size_t i = 0; i < sizeof hooks / sizeof *hooks; i++) {
        if (!starts(name, hooks[i].name))
            continue;
        struct line rest = after(name, hooks[i].name);
        if (rest.size == 0 || (rest.size == 4 && starts(rest, "@PLT")))
            return &hooks[i];
    }
    return NULL;
}

// --- labels

struct label {
    struct line name;
    uint32_t block; // that begins there
};
struct labels {
    struct label *entries; // at most half of them are taken
    size_t mask;
};

// Where it is, or would be.
static struct label *label_of(const struct labels *labels, struct line name) {
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < name.size; i++)
        hash = (hash ^ (unsigned char)name.start[i]) * 1099511628211u;
    for (hash ^= hash >> 32;; hash++) {
        struct label *label = &labels->entries[hash & labels->mask];
        if (!label->name.start || (label->name.size == name.size &&
                                   memcmp(label->name.start, name.start, name.size) == 0))
            return label;
    }
}

// --- blocks

static bool is_label(struct line line, struct line *name) {
    *name = first_word(line);
    bool is = name->size > 3 && starts(line, ".L") && line.start[name->size - 1] == ':';
    name->size -= is;
    return is;
}

static bool is_jump(struct line line, struct line *to) {
    const char *tab = starts(line, "\tj") ? memchr(line.start + 1, '\t', line.size - 1) : NULL;
    if (tab)
        *to = first_word((struct line){tab + 1, line.size - (size_t)(tab + 1 - line.start)});
    return tab;
}

static bool goes_on(struct line line) { // behind it
    return !starts(line, "\tjmp\t") && !starts(line, "\tret") && !starts(line, "\tnotrack jmp\t");
}

// Whether another block begins behind it. A label is the end of the block before, where it does no
// harm.
static bool ends_block(struct line line) {
    struct line name;
    return is_label(line, &name) || is_jump(line, &name) || !goes_on(line);
}

static uint32_t count_blocks(struct text text) {
    struct line line;
    uint32_t count = 1;
    for (size_t at = 0; next_line(text, &at, &line);)
        count += ends_block(line);
    return count;
}

static void look_at(struct line line, struct block *block, uint32_t number,
                    const struct labels *labels, struct line *jump) {
    struct line name;
    if (is_call(line, &name) && starts(name, HOOK))
        block->hooks++;
    else if (is_call(line, &name))
        block->calls = true;
    else if (is_label(line, &name))
        *label_of(labels, name) = (struct label){name, number + 1};
    else if (is_jump(line, &name))
        *jump = name;
    block->next[0] = goes_on(line) ? number + 1 : NO_BLOCK;
}

static void link_blocks(struct text text, struct block *blocks, struct line *jumps,
                        const struct labels *labels, uint32_t count) {
    struct line line;
    uint32_t number = 0;
    for (size_t at = 0; next_line(text, &at, &line); number += ends_block(line))
        look_at(line, &blocks[number], number, labels, &jumps[number]);
    for (uint32_t i = 0; i < count; i++) {
        const struct label *to = jumps[i].start ? label_of(labels, jumps[i]) : NULL;
        blocks[i].next[1] = to && to->name.start ? to->block : NO_BLOCK;
    }
    blocks[count - 1].next[0] = NO_BLOCK;
}

// The blocks with those in loops marked; NULL: there is no memory for them.
static struct block *blocks_of(struct text text) {
    uint32_t count = count_blocks(text);
    struct labels labels = {.mask = 15};
    while (labels.mask < 2ul * count)
        labels.mask = labels.mask << 1 | 1;
    labels.entries = calloc(labels.mask + 1, sizeof *labels.entries);
    struct line *jumps = calloc(count, sizeof *jumps);
    struct block *blocks = calloc(count, sizeof *blocks);
    bool enough = labels.entries && jumps && blocks;
    if (enough)
        link_blocks(text, blocks, jumps, &labels, count);
    enough = enough && find_loops(blocks, count);
    free(labels.entries);
    free(jumps);
    if (!enough)
        free(blocks);
    return enough ? blocks : NULL;
}

// --- the text

#define INTEL ".intel_syntax"

// The macros are written in the usual syntax.
static bool may_change(struct text text) {
    return memmem(text.start, text.size, HOOK, strlen(HOOK)) &&
           !memmem(text.start, text.size, INTEL, strlen(INTEL));
}

static bool add_line(struct text *to, struct line line, const struct hook *hook) {
    bool added = hook ? add_text(to, "\t", 1) && add_text(to, hook->macro, strlen(hook->macro))
                      : add_text(to, line.start, line.size);
    return added && add_text(to, "\n", 1);
}

static bool add_changed(struct text *to, struct text text, const struct block *blocks) {
    struct line line;
    uint32_t number = 0;
    bool enough = true;
    for (size_t at = 0; enough && next_line(text, &at, &line); number += ends_block(line)) {
        const struct hook *hook = hook_of(line);
        enough = add_line(to, line, hook && (hook->everywhere || blocks[number].hot) ? hook : NULL);
    }
    return enough;
}

struct text with_hooks(struct text compiled) {
    struct text changed = {0};
    struct block *blocks = may_change(compiled) ? blocks_of(compiled) : NULL;
    bool done = blocks && add_changed(&changed, compiled, blocks);
    free(blocks);
    return done ? changed : (struct text){0};
}

// --- the syntax of pieces of inline assembly

static bool contains(struct line line, const char *word) {
    return memmem(line.start, line.size, word, strlen(word));
}

// As clang marks them, in functions and outside.
static bool begins_piece(struct line line) {
    return starts(line, "\t#APP") || contains(line, "# Start of file scope inline assembly");
}

static bool ends_piece(struct line line) {
    return starts(line, "\t#NO_APP") || contains(line, "# End of file scope inline assembly");
}

static bool add_set_back(struct text *to, struct text text) {
    static const struct line usual = {"\t.att_syntax", 12};
    struct line line;
    bool inside = false, changed = false, enough = true;
    for (size_t at = 0; enough && next_line(text, &at, &line);) {
        enough = add_line(to, line, NULL);
        inside |= begins_piece(line);
        changed |= contains(line, INTEL);
        if (changed && !inside)
            return false; // all of it is written so
        if (inside && ends_piece(line)) {
            enough = enough && (!changed || add_line(to, usual, NULL));
            inside = changed = false;
        }
    }
    return enough;
}

struct text with_syntax_set_back(struct text compiled) {
    struct text changed = {0};
    if (memmem(compiled.start, compiled.size, INTEL, strlen(INTEL)) &&
        add_set_back(&changed, compiled))
        return changed;
    free(changed.start);
    return (struct text){0};
}
