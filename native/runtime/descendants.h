// SPDX-License-Identifier: Apache-2.0
#ifndef EITHERWAY_DESCENDANTS_H
#define EITHERWAY_DESCENDANTS_H

#include <sys/types.h>

// Kills them; who has lost its parent is taken to have become a child of this process.
void ew_descendants_end(void);

// Each that comes from a process, as long as there are new ones.
void ew_descendants_of(pid_t process, void (*each)(pid_t));

#endif
