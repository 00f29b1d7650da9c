// SPDX-License-Identifier: Apache-2.0
// Calls that can matter to others and have no meaning here: they go free, and are counted.
#include <stdio.h>

#include "tracer.h"

enum { TEXT = 1024 };
static uint64_t counts[CALL_NUMBERS]; // the last: of it and all above

void unknown_count(uint64_t number) {
    counts[number < CALL_NUMBERS ? number : CALL_NUMBERS - 1]++;
}

void unknown_tell(void) {
    char text[TEXT] = "";
    int used = 0;
    for (int number = 0; number < CALL_NUMBERS && used < TEXT - 48; number++)
        if (counts[number])
            used += snprintf(text + used, sizeof text - (size_t)used, "%s%d %llu", used ? "," : "",
                             number, (unsigned long long)counts[number]);
    if (used)
        end_note("not_modelled", text);
}
