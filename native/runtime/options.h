// SPDX-License-Identifier: Apache-2.0
// EITHERWAY_OPTIONS=name=value:name=value
#ifndef EITHERWAY_OPTIONS_H
#define EITHERWAY_OPTIONS_H

#include "schedulers/policy.h"
#include "trace.h"

#define EW_OPTIONS_WIDTH 512 // of the text, filled up with ':': a longer one would move the stack

#define EW_NO_RUN UINT64_MAX

struct ew_options {
    const char *scheduler;
    uint64_t seed;
    uint64_t run;       // the seed that names the run; EW_NO_RUN: that is this one's
    const char *family; // where the memory of the run is, or NULL
    const char *given;  // of a replay: that of the run to do again
    const char *guide;  // where the memory is that guides the scheduler, or NULL
    int guided;         // the same as a descriptor, of a process that serves; or -1
    struct ew_tuning tuning;
    uint32_t parent;  // slot of the process that made this one, or UINT32_MAX
    uint32_t ordinal; // which of that one's; 0: the run itself
    bool is_told;     // there were options at all
    int server;       // descriptor, or -1
    uint32_t threads; // to make ready before the program starts
    uint32_t tied;    // the process that started the run: whose child ends with it; 0: nobody
    bool detect;      // look for races
    struct ew_trace_request trace;
};

// Reads the text, which is kept; NULL is no options. An unknown name ends the program.
void ew_options_read(const char *text, struct ew_options *options);

#endif
