// SPDX-License-Identifier: Apache-2.0
// Objects of a library that was not compiled by us, whose uses it tells itself: __tsan_external_*.
#include "runtime.h"

// A tag is a kind of object with a name; told apart by address, as the caller keeps it.
struct tag {
    const char *type, *header;
};

#define TAGS 256
EW_LARGE static struct tag tags[TAGS];
static uint32_t count;

EW_EXPORT void *__tsan_external_register_tag(const char *type) {
    if (count == TAGS) {
        ew_report("__tsan_external_register_tag", "more than 256 tags: the rest have one together");
        return &tags[TAGS - 1];
    }
    tags[count].type = type;
    return &tags[count++];
}

EW_EXPORT void __tsan_external_register_header(void *tag, const char *header) {
    if (tag)
        ((struct tag *)tag)->header = header;
}

EW_EXPORT void __tsan_external_assign_tag(void *address, void *tag) {
    (void)address; // a trace names memory by variable and place, not by tag
    (void)tag;
}

EW_EXPORT void __tsan_external_read(void *address, void *caller, void *tag) {
    (void)tag;
    ew_access(EW_OP_LOAD, address, 1, caller);
}

EW_EXPORT void __tsan_external_write(void *address, void *caller, void *tag) {
    (void)tag;
    ew_access(EW_OP_STORE, address, 1, caller);
}
