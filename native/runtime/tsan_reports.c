// SPDX-License-Identifier: Apache-2.0
// What a program says to whoever reports, and asks about reports: these are made outside of it.
#include "tsan_reports.h"
#include "bare.h"
#include "input.h"
#include "stream.h"

#include <string.h>

#define OURS __attribute__((weak)) EW_EXPORT // the program may bring its own

OURS const char *__tsan_default_suppressions(void) {
    return "";
}

OURS const char *__tsan_default_options(void) {
    return "";
}

OURS void __tsan_on_initialize(void) {}

OURS int __tsan_on_finalize(int failed) {
    return failed;
}

OURS void __tsan_on_report(void *report) {
    (void)report;
}

static void tell(enum ew_input_kind kind, const char *text) {
    if (text && *text)
        ew_input_tell(kind, text, strlen(text));
}

void ew_reports_begin(void) {
    tell(EW_INPUT_SUPPRESSIONS, __tsan_default_suppressions());
    tell(EW_INPUT_OPTIONS, __tsan_default_options());
    __tsan_on_initialize();
}

// Streams are flushed later than this, by libc.
__attribute__((destructor)) static void finalize(void) {
    if (__tsan_on_finalize(ew_bare_failed())) {
        ew_flush_all();
        ew_trace_finish();
        raw1(SYS_exit_group, EW_BARE_STATUS);
    }
}

EW_EXPORT void __tsan_flush_memory(void) {} // what there is, is what a trace needs

// --- there is no report in here that could be asked about

EW_EXPORT void *__tsan_get_current_report(void) {
    return NULL;
}

#define NO_REPORT(name)                                                                            \
    EW_EXPORT int __tsan_get_report_##name(void *report) {                                         \
        (void)report;                                                                              \
        return 0;                                                                                  \
    }
NO_REPORT(data)
NO_REPORT(tag)
NO_REPORT(stack)
NO_REPORT(mop)
NO_REPORT(loc)
NO_REPORT(loc_object_type)
NO_REPORT(mutex)
NO_REPORT(thread)
NO_REPORT(unique_tid)
