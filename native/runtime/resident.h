// SPDX-License-Identifier: Apache-2.0
#ifndef EITHERWAY_RESIDENT_H
#define EITHERWAY_RESIDENT_H

// In the server: before its first run, and after each.
void ew_resident_serve(void);
void ew_resident_ran(void);

// In a run: when it begins, and when it ends, or when it is about to forbid itself to look. Only
// the first of these counts.
void ew_resident_run(void);
void ew_resident_tell(void);

#endif
