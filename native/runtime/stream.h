// SPDX-License-Identifier: Apache-2.0
// Streams of stdio: who holds them, and what they wait for.
#ifndef EITHERWAY_STREAM_H
#define EITHERWAY_STREAM_H

#include "runtime.h"

#include <stdio.h>

// --- stdio.c: locks

// libc's function of that name behind ours.
void *ew_libc_function(const char *name);

// Until nobody else holds the stream, or any stream.
void ew_stream_await(FILE *stream);
void ew_stream_await_all(void);

void ew_stream_lock(FILE *stream);
void ew_stream_unlock(FILE *stream);

// --- stdio_wait.c: descriptors under streams
//
// libc reads and writes past our read and write, and would block the carrier in there. What these
// find in time is put into the stream's buffer by us, or waited for before libc comes to it.

// Until `needed` bytes are in the buffer, or one that ends what is asked for (-1: none does); or
// there is no more room or input.
void ew_stream_fill(FILE *stream, size_t needed, int end);

bool ew_stream_is_outside(FILE *stream); // not a plain file: reading may wait
bool ew_stream_lacks_line(FILE *stream); // and more may come
void ew_stream_until_readable(FILE *stream);
void ew_stream_until_writable(FILE *stream);  // if there is little room in the buffer
void ew_stream_until_flushable(FILE *stream); // if there is something in it

size_t ew_stream_read(void *to, size_t size, size_t count, FILE *stream);
size_t ew_stream_write(const void *from, size_t size, size_t count, FILE *stream);

#endif
