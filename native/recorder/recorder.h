// SPDX-License-Identifier: Apache-2.0
// eitherway-recorder: writes down the calls of a command and of all that it starts as programs in
// the kernel see them. It stops nobody. What a log needs beside that it works out a moment later:
// which entries of directories a path went through.
#ifndef EITHERWAY_RECORDER_H
#define EITHERWAY_RECORDER_H

#include "../tracer/tracer.h"
#include "seen.h"

// ---- messages.c: between the recorder and the loader of the programs in the kernel

bool message_send(int socket, char word, const int *descriptors, size_t count);
// Bytes; 0 when nobody is there any more. Descriptors that did not come are -1.
ssize_t message_receive(int socket, char *text, size_t size, int *descriptors, size_t count);

// ---- kernel.c: what the programs in the kernel have seen

// Ends this process, with the loader's words, when they do not run.
void kernel_begin(int socket);
void kernel_add(pid_t process); // and all that it will make: from here on they are looked at
void kernel_done(void);         // nobody is, any more
// A record, and when it was written, by the clock of `entered`: what was seen to begin by then
// began before.
typedef void (*kernel_taker)(const struct seen *seen, uint64_t when);
int kernel_take(kernel_taker take);    // hands over what was seen since; how many records
int kernel_bell(void);                 // can be read from when much was seen; until the next take
uint64_t kernel_count(unsigned which); // since the programs run

// ---- mending.c

// Fills in the lookups of a call as they were before it, by what it did.
void entries_take(struct thread *thread, const struct seen *seen);

// ---- entries.c: what paths led to

void entries_begin(void);
uint32_t object_of_seen(const struct seen_inode *inode);
uint64_t entries_looked(void);  // how often a file was looked at that may be another's by now
uint64_t entries_unknown(void); // paths that could not be followed any more

#endif
