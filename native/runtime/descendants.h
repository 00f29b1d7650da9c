// SPDX-License-Identifier: Apache-2.0
#ifndef EITHERWAY_DESCENDANTS_H
#define EITHERWAY_DESCENDANTS_H

// Kills them; who has lost its parent is taken to have become a child of this process.
void ew_descendants_end(void);

#endif
