// SPDX-License-Identifier: Apache-2.0
// MySQL 3596: the pointer is looked at and then followed; in between another thread clears it.
// EXPECT: data-race proc_info A B
// EXPECT: failure SIGSEGV
#include "together.h"

static const char *proc_info = "waiting";
static char shown;

static void *show_processes(void *unused) {
    if (proc_info)            // A
        shown = proc_info[0]; // A
    return unused;
}

static void *end_query(void *unused) {
    proc_info = NULL; // B
    return unused;
}

int main(void) {
    TOGETHER(show_processes, end_query);
    return 0;
}
