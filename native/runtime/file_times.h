// SPDX-License-Identifier: Apache-2.0
// What a run does to files it does at another time than the recorded run. A run that has left its
// recording is told its times as if it were that one: which of two is the later stays as it is.
#ifndef EITHERWAY_FILE_TIMES_H
#define EITHERWAY_FILE_TIMES_H

#include <stdbool.h>
#include <stddef.h>

// Both are a struct stat or a struct statx, by their size. `told` was told of the file that `now`
// is about; what does not fit to what is known already is left out.
void ew_file_times_were_told(const void *now, const void *told, size_t size);

// Whether all times of `told` fit to what was told of others.
bool ew_file_times_may_be(const void *now, const void *told, size_t size);

// Puts those there that the recorded run would have been told.
void ew_file_times_put(void *now, size_t size);

#endif
