// SPDX-License-Identifier: Apache-2.0
// What a program says to whoever reports: kept with the run's input, where Python finds it.
#ifndef EITHERWAY_TSAN_REPORTS_H
#define EITHERWAY_TSAN_REPORTS_H

// Asks the program for its __tsan_default_suppressions and the like.
void ew_reports_begin(void);

#endif
