// SPDX-License-Identifier: Apache-2.0
// What programs beside us read of our command line.
#ifndef EITHERWAY_TITLE_H
#define EITHERWAY_TITLE_H

// The words, copied. From now on /proc tells the program's name alone: the words say descriptors
// and moments, which are others in each run, and the words of the command, which is no other's.
// NULL: there is not enough memory.
char **title_take(int count, char **words);

#endif
