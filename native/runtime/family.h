// SPDX-License-Identifier: Apache-2.0
// The processes of a run that carry this runtime, in memory that they share.
//
// Each has a slot: who made it, which schedule it follows, what came to it from outside. A fork
// takes its slot in the parent; a program that is started takes one itself, and knows by its
// options who made it, also when others that are not ours stand between (a shell, make). The memory
// is opened where whoever started the run holds it: a descriptor of ours would be seen by the
// program, and be closed by it or by those between.
#ifndef EITHERWAY_FAMILY_H
#define EITHERWAY_FAMILY_H

#include "options.h"

#include <sys/types.h>

// What the program was started with, before anything else.
void ew_family_start(struct ew_options *options, int count, char **arguments);

// Where others find what this process has open; into EW_FAMILY_PATH bytes.
#define EW_FAMILY_PATH 64
const char *ew_family_path(char *into, int descriptor);

// Maps the memory of runs that this process is going to fork.
void ew_family_hold(int descriptor);
// The first member's schedule so far.
const struct ew_schedule_head *ew_family_first(void);
void ew_family_rewind(void); // as if nobody had been there

// This process begins as a member: from here on it is recorded, and follows what it is given.
void ew_family_begin(struct ew_options *options);

bool ew_family_leads(void); // it is the run's own program, and no child of it

// Around a fork. False: there are as many processes as there may be, and errno says so.
bool ew_family_forking(void);
void ew_family_fork_made(pid_t child); // in the parent; or it failed
void ew_family_forked(void);           // in the child

// The environment of a program that is started. `into` has room for two more than `variables` has.
size_t ew_family_environment_room(char *const variables[]);
char *const *ew_family_environment(char *const variables[], char *into[]);
void ew_family_becoming(bool becomes); // another program, by exec; or it does not, after all

// A row to be filled with what was found, of this process; NULL: there is no more room.
struct ew_found_row *ew_family_row(void);
void ew_family_found_again(void);
void ew_family_forgot(void); // the past: see clocks.c

void ew_family_waiting(bool waits);            // this process, for nothing but the outside
bool ew_family_alone(void);                    // nobody outside has anything more to say
bool ew_family_busy(void);                     // whether some process of those held is at work
void ew_family_numbers(pid_t told, pid_t own); // of this process
void ew_family_ended(pid_t own, int status);   // that of a member, or this process if 0
pid_t ew_family_own(pid_t told);               // 0: no member
pid_t ew_family_told(pid_t own);               // the same

// In a replay: whether the process of that number is one of ours to its end, so that its recording
// says how it ends. One that became another program has to be waited for before it can be hit.
bool ew_family_follows(pid_t told);
void ew_family_until_became(pid_t own);

#endif
