// SPDX-License-Identifier: Apache-2.0
// Whether copies of this process, made by a fork in the middle of a run, are apart from each other:
// what one does must not be seen by the next.
#ifndef EITHERWAY_COPIES_H
#define EITHERWAY_COPIES_H

#include <stdbool.h>

// Why they would not be; NULL when they are. Where files are being read and which locks are held is
// remembered, and the locks are given up. `control` is a descriptor of our own; `files` that have
// names are put back by whoever asks for copies, and so may be written.
const char *ew_copies_meet(int control, bool files);
// In a copy, which others may have come before: everything is as it was when that was asked.
void ew_copy_begins(void);

#endif
