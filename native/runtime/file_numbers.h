// SPDX-License-Identifier: Apache-2.0
// A file has another number in every run. A run that has left its recording gives each file the
// number that the recording has for it, or one that no other file has: programs tell files apart by
// them.
#ifndef EITHERWAY_FILE_NUMBERS_H
#define EITHERWAY_FILE_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>

// Both are a struct stat or a struct statx, by their size.
bool ew_is_status(size_t size);

// `told` was told of the file that `now` is about.
void ew_file_was_told(const void *now, const void *told, size_t size);

// Whether that may be what is told of it: no other file has that number, and it has no other.
bool ew_file_may_be(const void *now, const void *told, size_t size);

// Of a file of which nothing is told: puts another number there, if it has one.
void ew_file_renumber(void *now, size_t size);

#endif
