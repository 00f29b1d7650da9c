// SPDX-License-Identifier: Apache-2.0
// Streams of stdio: who holds them, and what they wait for.
#ifndef EITHERWAY_STREAM_H
#define EITHERWAY_STREAM_H

#include "runtime.h"

#include <stdio.h>

// --- stdio.c: locks

// libc's function of that name behind ours.
void *ew_libc_function(const char *name);

void ew_stream_await(FILE *stream); // until nobody else holds it

// libc is inside a function on this stream, whose lock it holds, and waits.
void ew_stream_busy(FILE *stream);
void ew_stream_idle(FILE *stream);

// --- streams.c: what libc calls below its streams

void ew_streams_take_over(void);
int ew_flush_all(void); // fflush(NULL)

#endif
