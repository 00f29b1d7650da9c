// SPDX-License-Identifier: Apache-2.0
// The locks that this process holds on files. They are its own: a copy of it has none of them, and
// would find them taken.
#ifndef EITHERWAY_HELD_LOCKS_H
#define EITHERWAY_HELD_LOCKS_H

#include "raw.h"

void ew_held_locks_forget(void);
// Remembers those that were taken through a descriptor, and gives them up. False: not all can be,
// or one is not the process's but of what is open, which copies share.
bool ew_held_locks_give_up(int descriptor);
// In a copy: takes all of them again; what copies before it took of what is open is free.
void ew_held_locks_take(void);
void ew_held_locks_free(int descriptor);

// FOLDER/N, of which the path has room for 40 bytes.
void ew_descriptor_path(char *path, const char *folder, int descriptor);

#endif
