// SPDX-License-Identifier: Apache-2.0
// What comes from outside: noted as it comes, and given again in a replay.
#ifndef EITHERWAY_INPUT_H
#define EITHERWAY_INPUT_H

#include "runtime.h"

#include <signal.h>
#include <sys/stat.h>

// Numbers of the `input` block of the threads world.
enum ew_input_kind {
    EW_INPUT_START = 1,    // clocks at the start
    EW_INPUT_READY,        // whether descriptors were ready: revents of each
    EW_INPUT_RESULT,       // what a system call returned
    EW_INPUT_DATA,         // and what it wrote into memory
    EW_INPUT_SUPPRESSIONS, // no input: what the program says to whoever reports
    EW_INPUT_OPTIONS,
    EW_INPUT_PROGRAM, // the file and the arguments, each ended by a zero
    EW_INPUT_LIBRARY, // a file that was loaded
    EW_INPUT_PASSED,  // time, beside the outside: see pace.c
    EW_INPUT_WAITED,  // struct ew_input_wait
    EW_INPUT_SIGNAL,  // struct ew_input_signal; of nobody
    EW_INPUT_TURN,    // among processes: see shared.c
    EW_INPUT_WENT_ON, // somebody let the program go on that had stopped itself
};

// Of `kind`: the lower half is one of these, the upper one tells what was asked, see asks.h.
#define EW_INPUT_KIND 0xFFFFu
#define EW_INPUT_ASK 16

#define EW_INPUT_NOBODY UINT32_MAX // no thread has asked for it

// The end of a wait for the outside.
struct ew_input_wait {
    int64_t when; // on the virtual clock
    uint64_t how; // enum ew_wait_end
};
enum ew_wait_end {
    EW_WAIT_LET_GO = 1, // noted when it is
    EW_WAIT_LATE,       // noted when the thread goes on; so is
    EW_WAIT_OTHERWISE,
};

struct ew_input_signal {
    siginfo_t info;
    int64_t when;
};

EW_DATA bool ew_replaying;

void ew_input_record(struct ew_inputs_head *memory, char *items);
void ew_input_replay(const struct ew_inputs_head *old, const char *items);

// From here on the run is another one: what is left goes to who got it, see script.h.
void ew_input_leave(void);

// In a recording run notes `size` bytes of `data`; in a replay puts there what was noted instead.
// Returns how many bytes there are; more than `room` is a divergence.
size_t ew_input(enum ew_input_kind kind, void *data, size_t size, size_t room);

// The same of what comes only at times; in a replay what was noted says whether it did.
bool ew_input_perhaps(enum ew_input_kind kind, bool came, void *data, size_t size);

// Something was done that the outside may hear of, though it does not answer. Only once the program
// talks to it: somebody has waited for it.
EW_DATA bool ew_talks;
void ew_input_heard(long number, int descriptor);

// A thread waits for the outside no more.
void ew_input_wait(uint32_t thread, struct ew_input_wait *wait);
// A signal has come from outside; in a replay the recorded one instead.
void ew_input_signal(struct ew_input_signal *signal);
// Which turn among processes it is, as the process itself knows when it is another run.
void ew_input_turn(long *turn);

// The program has stopped itself and was let go on; in a replay whether it was.
bool ew_input_went_on(void);

// Notes what the program says about itself; in a replay what it said then.
void ew_input_tell(enum ew_input_kind kind, const char *text, size_t size);

// What is told of a file, of a lock on one or of a semaphore of System V: a run that has left its
// recording asks itself. It may come to other files than the recorded one, or find them otherwise.
// The caller makes the call where files are asked, and tells whether it is about such a file, and
// not about what leads outside; the result is negative or the length of `data`, unless that is told
// by `size`.
bool ew_files_are_asked(void);
struct ew_file_told {
    uint32_t ask; // of ew_ask
    bool is_file;
    long result;
    void *data;
    size_t size, room;
};
long ew_input_of_file(struct ew_file_told *told);

// A system call whose result depends on the outside: made, or its result taken from the replay.
long ew_input_call(long number, long a, long b, long c, long d, long e, long f);
// The same on a descriptor of which the caller knows what it leads to.
long ew_input_call_on(const struct stat *known, long number, long a, long b, long c, long d, long e,
                      long f);

// pace.c: the outside was touched, and some real time may have passed since the last time
void ew_pace(void);

// random.c: what the kernel has given the program at its start
void ew_random_prepare(void);
void ew_random_begin(void);

#endif
