// SPDX-License-Identifier: Apache-2.0
#ifndef EITHERWAY_DEVICES_H
#define EITHERWAY_DEVICES_H

#include "place.h"

// A /dev with what every program needs and `extra`; NULL, or the step that failed.
const char *devices_make(struct tree *tree, const char *const *extra);

#endif
