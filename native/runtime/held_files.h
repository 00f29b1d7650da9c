// SPDX-License-Identifier: Apache-2.0
// The files that this process has open or mapped, as they are at one moment, for its copies.
//
// A description is shared with all copies, and with it where it stands. A file that one of them has
// deleted or replaced is put back under its name by whoever asked for them, as another inode: what
// led to the old one is made to lead there.
#ifndef EITHERWAY_HELD_FILES_H
#define EITHERWAY_HELD_FILES_H

#include "raw.h"

#include <sys/stat.h>

void ew_held_files_forget(void);
// False: it cannot be as it is now again. `named`: it must have a name.
bool ew_held_file(int descriptor, const struct stat *status, bool named);
// Of a mapping of a file that others see too; `line` is what /proc/self/maps says of it, from its
// access on.
bool ew_held_mapping(uintptr_t from, uintptr_t to, const char *line);
// In a copy.
void ew_held_files_return(void);

#endif
