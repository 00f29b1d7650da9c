// SPDX-License-Identifier: Apache-2.0
#ifndef EITHERWAY_SERVER_H
#define EITHERWAY_SERVER_H

#include "options.h"

// Serves runs on the socket; returns in each forked process, with the options of its run.
void ew_serve(int socket, struct ew_options *options);

// A run that was asked to stand still has come there: from now on it serves, on the same socket,
// and each run that is asked for is a copy of it, with its output, its memory and its family's set
// back by whoever asks. Returns in each copy, with the options of its own. The run ends where
// copies would not be apart.
const struct ew_options *ew_serve_here(void);

#endif
