// SPDX-License-Identifier: Apache-2.0
#ifndef EITHERWAY_LIBRARIES_H
#define EITHERWAY_LIBRARIES_H

// Notes those that have come since the last time.
void ew_libraries_tell(void);

#endif
