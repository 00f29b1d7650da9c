// SPDX-License-Identifier: Apache-2.0
#ifndef EITHERWAY_LIBRARIES_H
#define EITHERWAY_LIBRARIES_H

// Before a server forks its runs, and in each.
void ew_libraries_prepare(void);
void ew_libraries_begin(void);

// Notes those that have come since the last time.
void ew_libraries_tell(void);

#endif
