// SPDX-License-Identifier: Apache-2.0
// Which descriptors lead to the outside.
#ifndef EITHERWAY_DESCRIPTORS_H
#define EITHERWAY_DESCRIPTORS_H

#include "runtime.h"

#include <sys/stat.h>

// Whether what can be read from it depends on somebody else: sockets, terminals, devices, pipes
// that came from elsewhere or that another process has too, what the kernel tells in /proc and
// /sys. Files are part of the machine's state.
bool ew_is_outside(int descriptor);

// The same, and what it is; an st_mode of 0 is something without a name (an eventfd), or nothing.
bool ew_look_where(int descriptor, struct stat *status);
// A call for POSIX message queues is made on it: what lies where this one does leads outside,
// though it looks like a file.
void ew_queue_used(int descriptor);

// Whether it is where the program's output goes. It is taken as it comes, in a replay too, and by
// whatever: a pipe that is full for a moment, or a file.
bool ew_is_output(const struct stat *status);
unsigned ew_output_of(const struct stat *status); // 1 or 2: which; 0: none
bool ew_is_standard(const struct stat *status);   // the same, or where its input comes from

// Whether it is in a file system that says what the kernel thinks just now: /proc, /sys.
bool ew_tells_of_now(int descriptor);

// A pipe or the like that the program made for itself.
void ew_made_within(const int ends[2]);
bool ew_was_made(const struct stat *status); // by this process or one that it is a copy of

// What has no name and no number of its own in the file system is known by its descriptor, which
// whoever copies or closes one has to tell.
void ew_numbered_within(int descriptor);     // an eventfd, or an epoll instance that is empty yet
void ew_numbered_outside(int descriptor);    // whatever it is, others can change it
uint32_t ew_number_of(int descriptor);       // the same for all copies of one such; 0: not known
int ew_descriptor_numbered(uint32_t number); // one of those; -1: all were closed
// What is put in here comes out there: a number for both ends that were made; 0: not known.
uint32_t ew_channel_made(const struct stat *status);
void ew_number_copied(int from, int to);
bool ew_may_be_copied(int descriptor); // so that what it led to may outlive it
void ew_numbers_closed(unsigned first, unsigned last);

void ew_descriptors_prepare(void); // the same for all runs of a server
void ew_descriptors_begin(void);
void ew_descriptors_shared(void); // there is another process now that has all of them too
void ew_descriptor_shared(int descriptor);
bool ew_descriptors_are_shared(void); // some are, or were

// Moves a descriptor of our own to where the program does not expect one. Returns where to.
int ew_out_of_the_way(int descriptor);

// --- outside.c

// The program's own of these are about to be closed: threads that wait for one keep a copy, as the
// kernel would for them.
void ew_closing(unsigned first, unsigned last);

// --- closing.c
int ew_copy(int descriptor, int command, long lowest); // fcntl's F_DUPFD and F_DUPFD_CLOEXEC

#endif
