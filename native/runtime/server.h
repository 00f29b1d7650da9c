// SPDX-License-Identifier: Apache-2.0
#ifndef EITHERWAY_SERVER_H
#define EITHERWAY_SERVER_H

#include "options.h"

// Serves runs on the socket; returns in each forked process, with the options of its run.
void ew_serve(int socket, struct ew_options *options);

#endif
