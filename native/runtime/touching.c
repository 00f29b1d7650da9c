// SPDX-License-Identifier: Apache-2.0
// Functions whose accesses can be told before they are made.
#include "heap.h"
#include "libc.h"
#include "sync.h"

#include <ctype.h>
#include <string.h>
#include <time.h>
#include <wchar.h>

// --- what the functions keep between calls, one for all threads: names for people to read

static char environment, result_of_asctime, result_of_getgrnam, result_of_getpwnam,
    result_of_gmtime, state_of_drand48, state_of_strtok, table_of_hsearch;

// --- how far a function goes

static size_t until(const void *from, int wanted, size_t limit) {
    const char *found = memchr(from, wanted, limit);
    return found ? (size_t)(found - (const char *)from) + 1 : limit;
}

static size_t same(const char *one, const char *other, size_t limit, bool alike) {
    size_t i = 0;
    while (i < limit && one[i] &&
           (alike ? tolower((unsigned char)one[i]) == tolower((unsigned char)other[i])
                  : one[i] == other[i]))
        i++;
    return i < limit ? i + 1 : limit;
}

static size_t limited(const char *text, size_t limit) {
    size_t length = strnlen(text, limit);
    return length < limit ? length + 1 : limit;
}

static size_t wide(const wchar_t *text, size_t limit) {
    size_t i = 0;
    while (i < limit && text[i])
        i++;
    return (i < limit ? i + 1 : limit) * sizeof *text;
}

static size_t same_wide(const wchar_t *one, const wchar_t *other, size_t limit) {
    size_t i = 0;
    while (i < limit && one[i] && one[i] == other[i])
        i++;
    return (i < limit ? i + 1 : limit) * sizeof *one;
}

static size_t until_wide(const wchar_t *from, wchar_t wanted, size_t limit) {
    size_t i = 0;
    while (i < limit && from[i] != wanted)
        i++;
    return (i < limit ? i + 1 : limit) * sizeof *from;
}

static size_t span(const char *text, const char *set, bool of_set) {
    size_t i = 0;
    while (text[i] && (strchr(set, text[i]) != NULL) == of_set)
        i++;
    return i + 1;
}

static size_t number(const char *text, long base) {
    size_t i = 0;
    while (isspace((unsigned char)text[i]))
        i++;
    i += text[i] == '-' || text[i] == '+';
    while (base == 10 ? isdigit((unsigned char)text[i]) : isalnum((unsigned char)text[i]))
        i++;
    return i + 1;
}

// Of any form: with a fraction, an exponent, a prefix, or as a word ("inf").
static size_t floating(const char *text) {
    size_t i = 0;
    while (isspace((unsigned char)text[i]))
        i++;
    i += text[i] == '-' || text[i] == '+';
    bool is_hexadecimal = text[i] == '0' && (text[i + 1] == 'x' || text[i + 1] == 'X');
    const char *exponent = is_hexadecimal ? "pP" : "eE";
    for (; isalnum((unsigned char)text[i]) || text[i] == '.'; i++)
        if (strchr(exponent, text[i]) && (text[i + 1] == '-' || text[i + 1] == '+'))
            i++;
    return i + 1;
}

static size_t wide_number(const wchar_t *text) {
    size_t i = 0;
    while (text[i] < 128 && isspace((int)text[i]))
        i++;
    i += text[i] == '-' || text[i] == '+';
    while (text[i] < 128 && isalnum((int)text[i]))
        i++;
    return (i + 1) * sizeof *text;
}

static void add(struct ew_touched **list, unsigned op, const void *address, size_t size) {
    if (address)
        *(*list)++ = (struct ew_touched){op, address, size};
}

// A token is read up to what ends it, which is overwritten.
static void add_token(struct ew_touched **list, const char *text, const char *ends) {
    if (!text)
        return;
    size_t before = span(text, ends, true) - 1, size = span(text + before, ends, false);
    add(list, EW_OP_LOAD, text, before + size);
    if (text[before + size - 1])
        add(list, EW_OP_STORE, text + before + size - 1, 1);
}

// --- the table

#define A(n) ((size_t)a[n])
#define AT(n) (a[n] ? *(const size_t *)a[n] : 0)
#define POINTS(n) ((const char *)a[n])
#define TEXT(n) (strlen(POINTS(n)) + 1)
#define LIMITED(n, limit) limited(POINTS(n), limit)
#define LENGTH(n, limit) strnlen(POINTS(n), limit)
#define UNTIL(n, wanted, limit) until(POINTS(n), (int)(wanted), limit)
#define FOUND(n, wanted) until(POINTS(n), (int)(wanted), TEXT(n))
#define SAME(limit) same(POINTS(0), POINTS(1), limit, false)
#define ALIKE(limit) same(POINTS(0), POINTS(1), limit, true)
#define WIDE(n, limit) wide((const wchar_t *)a[n], limit)
#define WIDE_TEXT(n) WIDE(n, SIZE_MAX)
#define WIDE_SAME(limit) same_wide((const wchar_t *)a[0], (const wchar_t *)a[1], limit)
#define WIDE_UNTIL(n, wanted, limit) until_wide((const wchar_t *)a[n], (wchar_t)(wanted), limit)
#define SPAN(n, set, of_set) span(POINTS(n), POINTS(set), of_set)
#define NUMBER(base) number(POINTS(0), (long)(base))
#define FLOATING floating(POINTS(0))
#define WIDE_NUMBER wide_number((const wchar_t *)a[0])
#define R(n, size) a[n] ? add(&next, EW_OP_LOAD, POINTS(n), size) : (void)0;
#define W(n, size) a[n] ? add(&next, EW_OP_STORE, POINTS(n), size) : (void)0;
#define W_BEHIND(n, size) add(&next, EW_OP_STORE, POINTS(n) + strlen(POINTS(n)), size);
#define W_BEHIND_WIDE(n, size)                                                                     \
    add(&next, EW_OP_STORE, POINTS(n) + WIDE_TEXT(n) - sizeof(wchar_t), size);
#define r(object) add(&next, EW_OP_LOAD, &(object), 1);
#define w(object) add(&next, EW_OP_STORE, &(object), 1);
#define w_token(text, ends) add_token(&next, (const char *)(text), (const char *)(ends));

#define TOUCHES(name, what)                                                                        \
    static size_t list_##name(struct ew_touched *list, const long *a) {                            \
        struct ew_touched *next = list;                                                            \
        (void)a;                                                                                   \
        what return (size_t)(next - list);                                                         \
    }
#include "touching.h"
#undef TOUCHES

static struct entry {
    struct ew_real real;
    ew_lister *lister;
} entries[] = {
#define TOUCHES(name, what) {{#name, NULL}, list_##name},
#include "touching.h"
};

enum { RETURN = 7 }; // behind the registers that `enter` has saved

__attribute__((used)) void *ew_touching_enter(const long *arguments, uint32_t number) {
    struct entry *entry = &entries[number];
    bool decided = ew_touches();
    if (UNLIKELY(ew_watched) &&
        !ew_listed_pass(entry->lister, arguments, (const void *)arguments[RETURN]))
        ew_touch_listed(decided, entry->lister, arguments, (const void *)arguments[RETURN]);
    return ew_real_of(&entry->real);
}

void ew_touching_start(void) {
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
        ew_real_look(&entries[i].real);
}

// --- copies on the heap

static char *copy(const char *text, size_t length, const void *pc) {
    char *result = ew_allocate(length + 1, pc);
    if (result) {
        memcpy(result, text, length);
        result[length] = 0;
    }
    return result;
}

static size_t list_copied(struct ew_touched *list, const long *arguments) {
    const char *text = (const char *)arguments[0];
    list[0] = (struct ew_touched){EW_OP_LOAD, text, limited(text, (size_t)arguments[1])};
    return 1;
}

static char *duplicate(const char *text, size_t limit, const void *pc) {
    bool decided = ew_touches();
    if (UNLIKELY(ew_watched))
        ew_touch_listed(decided, list_copied, (const long[]){(long)text, (long)limit}, pc);
    return copy(text, strnlen(text, limit), pc);
}

EW_EXPORT char *ew_takes_strdup(const char *text) {
    return duplicate(text, SIZE_MAX, PC);
}

EW_EXPORT char *ew_takes_strndup(const char *text, size_t limit) {
    return duplicate(text, limit, PC);
}

EW_ALIAS(ew_takes___strdup, ew_takes_strdup);
EW_ALIAS(ew_takes___strndup, ew_takes_strndup);
