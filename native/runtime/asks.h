// SPDX-License-Identifier: Apache-2.0
// What a program asks of the outside, in a few bits: so that one question is not taken for another.
#ifndef EITHERWAY_ASKS_H
#define EITHERWAY_ASKS_H

#include "runtime.h"

#include <sys/stat.h>

//   15 14 13 12 11     0
//  +--+--+--+--+--------+
//  |h |t |l |f | hash   |  h: the outside hears of it
//  +--+--+--+--+--------+  t: the answer may depend on what the outside has heard
//                          l: 0 is the answer that nothing has come
//                          f: it is about a file, a lock or a semaphore, which are there in
//                             other runs too
#define EW_ASK_HEARD 0x8000u
#define EW_ASK_TAKES 0x4000u
#define EW_ASK_LOOKS 0x2000u
#define EW_ASK_FILE 0x1000u // never of `ew_ask`: see ew_input_of_file

// A system call with its first arguments; never 0. `known`: what a descriptor among them leads to,
// unless NULL.
uint32_t ew_ask(long number, long a, long b, const struct stat *known);

// How many bytes a call of the kind of write is to send; -1: it is none.
long ew_ask_sends(long number, long b, long c);

#endif
