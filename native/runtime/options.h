// SPDX-License-Identifier: Apache-2.0
// EITHERWAY_OPTIONS=name=value:name=value
#ifndef EITHERWAY_OPTIONS_H
#define EITHERWAY_OPTIONS_H

#include "trace.h"

struct ew_options {
    const char *scheduler;
    uint64_t seed;
    int record, replay; // of schedules: descriptors, or -1
    int inputs, given;  // of what came from outside, likewise
    int server;
    uint32_t threads; // to make ready before the program starts
    uint64_t until;   // of a replay: the recording ends behind this step; 0: with the program
    bool tied;        // end when the parent does
    struct ew_trace_request trace;
};

// Reads the text, which is kept; NULL is no options. An unknown name ends the program.
void ew_options_read(const char *text, struct ew_options *options);

#endif
