// SPDX-License-Identifier: Apache-2.0
// Who wrote what to the outputs of the program (1: standard output, 2: standard error).
#ifndef EITHERWAY_WRITERS_H
#define EITHERWAY_WRITERS_H

#include "runtime.h"

#include <stdio.h>
#include <sys/uio.h>

// The thread that runs has written so many of these bytes.
void ew_writers_wrote(unsigned output, const struct iovec *parts, size_t count, size_t length);

// It enters a function of stdio: what comes into the stream's buffer from here on is its own.
void ew_writers_enter(const FILE *stream);
// Bytes of the stream have gone out: of its buffer, or those of who has entered it last.
void ew_writers_flushed(unsigned output, const FILE *stream, const char *data, size_t size);

#endif
