// SPDX-License-Identifier: Apache-2.0
// Connections that were accepted. What one is stays so until it is closed, and libc closes none
// that it was not given a stream of: so the kernel is asked once.
#ifndef EITHERWAY_CONNECTIONS_H
#define EITHERWAY_CONNECTIONS_H

#include "runtime.h"

#include <sys/stat.h>

void ew_connection_accepted(int descriptor);
bool ew_connection_known(int descriptor, struct stat *status); // which it then says

// Whether calls on a descriptor wait. Whoever else has the same connection can change that, so the
// kernel's answer is kept only while nobody has.
bool ew_descriptor_blocks(int descriptor);
void ew_connection_changes(int descriptor); // how it is, not what

void ew_connections_forget(unsigned first, unsigned last); // closed, or given to others

#endif
