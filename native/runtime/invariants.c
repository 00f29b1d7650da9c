// SPDX-License-Identifier: Apache-2.0
// What include/eitherway.h declares: a failure like that of an assertion.
#include "family_memory.h"
#include "signals.h"

#include <string.h>

static struct iovec words(const char *text) {
    return (struct iovec){(void *)text, strlen(text)};
}

EW_EXPORT _Noreturn void eitherway_invariant_broken(const char *expression, const char *file,
                                                    unsigned line) {
    char number[32];
    ew_write_number(number, ":", line);
    struct iovec parts[] = {words("eitherway: an invariant is broken: "),
                            words(expression),
                            words(" at "),
                            words(file),
                            words(number),
                            words("\n")};
    ew_say(parts, sizeof parts / sizeof *parts);
    ew_signal_of_call(SIGABRT);
    ew_end(128 + SIGABRT); // a handler has come back
}
