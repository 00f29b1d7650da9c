// SPDX-License-Identifier: Apache-2.0
#ifndef EITHERWAY_OPENMP_H
#define EITHERWAY_OPENMP_H

#include "runtime.h"

void ew_openmp_look(void); // libraries have come or gone
// Ends the program if the caller, who wants a thread, is a library whose threads would stop all.
void ew_openmp_refuse(const void *caller);

#endif
