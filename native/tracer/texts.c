// SPDX-License-Identifier: Apache-2.0
// Texts and objects have numbers: each is written once. Open addressing, doubled when half full.
#include <stdlib.h>
#include <string.h>

#include "numbering.h"
#include "tracer.h"

static struct numbering texts;

uint32_t text_number(const char *text, size_t length) {
    if (length == 0)
        return 0;
    bool is_new;
    uint32_t number = numbering_of(&texts, text, length, &is_new);
    if (is_new)
        log_text(text, length);
    return number;
}

size_t text_length(uint32_t number) {
    return number ? numbering_length(&texts, number) : 0;
}

const char *text_of_number(uint32_t number) {
    return number ? numbering_key(&texts, number) : "";
}
