// SPDX-License-Identifier: Apache-2.0
// A program that calls itself: it connects or sends to an address that it has bound, as servers and
// clients in one process do. Known from what the program says and was told, so the same in a
// replay.
#ifndef EITHERWAY_OWN_ADDRESSES_H
#define EITHERWAY_OWN_ADDRESSES_H

#include "runtime.h"

#include <sys/socket.h>

void ew_address_bound(const struct sockaddr *address, socklen_t length);
void ew_address_called(const struct sockaddr *address, socklen_t length);
EW_DATA bool ew_calls_itself; // it has, at least once

#endif
