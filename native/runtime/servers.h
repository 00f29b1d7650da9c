// SPDX-License-Identifier: Apache-2.0
// Those who serve runs, seen from a run: its parent is one of them, and no affair of the program's.
//
// Bare, a program that ends its parent ends a shell and goes on. So what it sends to its parent, to
// that one's group or to everybody does not reach who serves, and is as if it had.
#ifndef EITHERWAY_SERVERS_H
#define EITHERWAY_SERVERS_H

#include "runtime.h"

#include <sys/types.h>

void ew_servers_add(void); // this process: all that it forks are to know

bool ew_is_server(pid_t process);
// The same of all that kill() would reach by this number: a process, a group or everybody.
bool ew_kill_reaches_server(pid_t process);
// kill() of a group or everybody, as far as they are of the run; the caller last, if it is one.
void ew_kill_all_but_servers(pid_t process, int number);

#endif
