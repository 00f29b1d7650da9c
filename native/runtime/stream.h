// SPDX-License-Identifier: Apache-2.0
// Streams of stdio: who holds them, and what they wait for.
#ifndef EITHERWAY_STREAM_H
#define EITHERWAY_STREAM_H

#include "runtime.h"

#include <stdarg.h>
#include <stdio.h>
#include <sys/types.h>

// --- stdio.c: locks

// libc's function of that name behind ours.
void *ew_libc_function(const char *name);

void ew_stream_await(FILE *stream); // until nobody else holds it
bool ew_stream_is_free(FILE *stream);

// libc is inside a function on this stream, whose lock it holds, and waits.
void ew_stream_busy(FILE *stream);
void ew_stream_idle(FILE *stream);

// --- stdio_enter.S: libc's functions, when nobody else holds the stream

int ew_enter_vfprintf(FILE *, const char *, va_list);
int ew_enter___vfprintf_chk(FILE *, int, const char *, va_list);
int ew_enter_vfscanf(FILE *, const char *, va_list);
int ew_enter___isoc99_vfscanf(FILE *, const char *, va_list);
int ew_enter___isoc23_vfscanf(FILE *, const char *, va_list);
size_t ew_enter_fread(void *, size_t, size_t, FILE *);
size_t ew_enter___fread_chk(void *, size_t, size_t, size_t, FILE *);
size_t ew_enter_fwrite(const void *, size_t, size_t, FILE *);
char *ew_enter_fgets(char *, int, FILE *);
char *ew_enter___fgets_chk(char *, size_t, int, FILE *);
ssize_t ew_enter_getline(char **, size_t *, FILE *);
ssize_t ew_enter_getdelim(char **, size_t *, int, FILE *);
ssize_t ew_enter___getdelim(char **, size_t *, int, FILE *);
int ew_enter_fputs(const char *, FILE *);
int ew_enter_puts(const char *);

// --- streams.c: what libc calls below its streams

void ew_streams_take_over(void);
int ew_flush_all(void); // fflush(NULL)

#endif
