// SPDX-License-Identifier: Apache-2.0
// Ordered: who sleeps is not waited for. The clocks that programs ask go on by what was slept, and
// in a replay they are those of the recording; when that is over, the time of day goes on from
// there. So until when a program waits, by such a clock, is another moment of the machine's.
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>

#include "tracer.h"

enum { SECOND = 1000000000, A_REST = SECOND / 20 };

static uint64_t slept;   // nanoseconds
static uint64_t rested;  // the same, of no sleep more than A_REST: one long one is no reason to end
static int64_t ahead[2]; // nanoseconds, of what was last told of CLOCK_REALTIME and CLOCK_MONOTONIC

// The time of day of a run that follows another, by pieces: it is what the other was told, and in
// between almost stands still, so that nothing comes before what is told next however slow this
// one is. When all is followed, it goes on. Sleep is not in it, nor is it in the times of files.
struct piece {
    int64_t real, told; // nanoseconds since 1970
    int64_t slower;     // so many times
};
enum { ALMOST_STILL = 1024, APART = SECOND / 1000 };
// In which it goes on: as long as the kernel's for files. So a file has the same time in each
// branch, also where a program writes it down to the nanosecond, as git does.
enum { A_STEP = SECOND / 250 };

static struct piece *pieces; // none: it is the machine's
static size_t piece_count;
static bool goes_on_alone;

static int64_t nanoseconds(struct timespec time) {
    return (int64_t)time.tv_sec * SECOND + time.tv_nsec;
}

static struct timespec moment_of(int64_t nanoseconds) {
    return (struct timespec){nanoseconds / SECOND, nanoseconds % SECOND};
}

static int64_t real_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return nanoseconds(now);
}

// ---- the time of day

static void add_piece(struct piece piece) {
    if ((piece_count & (piece_count - 1)) == 0) { // twice the room when it is full
        size_t room = piece_count ? piece_count * 2 : 1;
        pieces = realloc(pieces, room * sizeof *pieces);
        if (!pieces)
            die(EXIT_UNAVAILABLE, "there is not enough memory");
    }
    pieces[piece_count++] = piece;
}

// By the clock that the kernel notes in files.
void clock_begin(uint64_t began) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME_COARSE, &now);
    end_note_number("began", began ? began : (uint64_t)nanoseconds(now));
    if (began)
        add_piece((struct piece){nanoseconds(now), (int64_t)began, ALMOST_STILL});
}

bool clock_is_followed(void) {
    return piece_count != 0;
}

static int64_t told_at(int64_t real) {
    size_t at = piece_count;
    while (at && pieces[at - 1].real > real)
        at--;
    if (!at)
        return real; // before this run
    const struct piece *piece = &pieces[at - 1];
    int64_t since = (real - piece->real) / piece->slower;
    return piece->told + (piece->slower > 1 ? since - since % A_STEP : since);
}

static int64_t time_of_day(int64_t real) {
    if (piece_count && !goes_on_alone && !plan_next()) {
        int64_t now = real_now();
        goes_on_alone = true;
        add_piece((struct piece){now, told_at(now), 1});
    }
    return told_at(real);
}

static void follow_time_of_day(struct timespec told) {
    int64_t now = real_now(), awake = nanoseconds(told) - (int64_t)slept;
    if (piece_count && !goes_on_alone && awake - told_at(now) > APART)
        add_piece((struct piece){now, awake, ALMOST_STILL});
}

bool clock_of_file(struct timespec *time) {
    int64_t real = nanoseconds(*time);
    bool ours = piece_count && real >= pieces[0].real;
    if (ours)
        *time = moment_of(time_of_day(real));
    return ours;
}

// ---- all clocks

static bool goes_on(uint64_t clock) {
    return clock != CLOCK_PROCESS_CPUTIME_ID && clock != CLOCK_THREAD_CPUTIME_ID && clock < 16;
}

static bool is_of_day(uint64_t clock) {
    return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
}

static struct timespec later(struct timespec time, uint64_t clock) {
    int64_t awake = nanoseconds(time);
    return moment_of((is_of_day(clock) ? time_of_day(awake) : awake) + (int64_t)slept);
}

// How long: until a moment of a clock that has gone on, if that is how it was asked for.
static struct timespec duration(const struct thread *thread, struct timespec asked) {
    bool by_clock = thread->call.number == SYS_clock_nanosleep;
    struct timespec now;
    if (!by_clock || !(thread->call.a1 & TIMER_ABSTIME) ||
        clock_gettime((clockid_t)thread->call.a0, &now) < 0)
        return asked;
    now = later(now, thread->call.a0);
    asked.tv_sec -= now.tv_sec;
    asked.tv_nsec -= now.tv_nsec;
    if (asked.tv_nsec < 0) {
        asked.tv_sec--;
        asked.tv_nsec += SECOND;
    }
    return asked;
}

int64_t clock_length(const struct thread *thread) {
    bool by_clock = thread->call.number == SYS_clock_nanosleep;
    uint64_t address = by_clock ? thread->call.a2 : thread->call.a0;
    struct timespec time;
    if (memory_read(thread->id, address, &time, sizeof time) != (ssize_t)sizeof time)
        return -1;
    time = duration(thread, time);
    return time.tv_sec < 0 || time.tv_sec >= INT32_MAX ? -1 : nanoseconds(time);
}

void clock_skip(uint64_t length) {
    slept += length;
    ahead[CLOCK_REALTIME] += (int64_t)length;
    ahead[CLOCK_MONOTONIC] += (int64_t)length;
    rested += length < A_REST ? length : A_REST;
}

void clock_slept(const struct thread *thread) {
    int64_t length = clock_length(thread);
    if (length >= 0)
        clock_skip((uint64_t)length);
}

double clock_rested(void) {
    return (double)rested / SECOND;
}

static void note_told(uint64_t clock, struct timespec told) {
    struct timespec now;
    if (clock <= CLOCK_MONOTONIC && clock_gettime((clockid_t)clock, &now) == 0)
        ahead[clock] = nanoseconds(told) - nanoseconds(now);
}

static void told_of_day(const void *given, size_t length) {
    struct timeval older;
    if (length != sizeof older)
        return;
    memcpy(&older, given, sizeof older);
    follow_time_of_day((struct timespec){older.tv_sec, older.tv_usec * 1000});
}

void clock_told(const struct thread *thread, const void *given, size_t length) {
    struct timespec time;
    if (thread->call.number == SYS_gettimeofday)
        told_of_day(given, length);
    if (thread->call.number != SYS_clock_gettime || length != sizeof time)
        return;
    memcpy(&time, given, sizeof time);
    note_told(thread->call.a0, time);
    if (is_of_day(thread->call.a0))
        follow_time_of_day(time);
}

// ---- until when

static bool has_deadline(uint64_t operation, uint64_t *clock) {
    uint64_t command = operation & FUTEX_CMD_MASK;
    *clock = operation & FUTEX_CLOCK_REALTIME ? CLOCK_REALTIME : CLOCK_MONOTONIC;
    if (command == FUTEX_LOCK_PI)
        *clock = CLOCK_REALTIME;
    return command == FUTEX_WAIT_BITSET || command == FUTEX_LOCK_PI ||
           command == FUTEX_WAIT_REQUEUE_PI;
}

static bool is_put_on(uint64_t clock) {
    return clock <= CLOCK_MONOTONIC && ahead[clock];
}

void clock_shift_to(struct thread *thread, uint64_t address, uint64_t clock) {
    struct timespec moment;
    if (!is_put_on(clock) ||
        memory_read(thread->id, address, &moment, sizeof moment) != (ssize_t)sizeof moment)
        return;
    int64_t real = nanoseconds(moment) - ahead[clock];
    thread->deadline = moment;
    moment = moment_of(real < 1 ? 1 : real); // to a timer 0 is none
    if (memory_write(thread->id, address, &moment, sizeof moment) == (ssize_t)sizeof moment)
        thread->shifted = address;
}

int64_t clock_until(uint64_t clock, struct timespec moment) {
    struct timespec now;
    if (clock_gettime((clockid_t)clock, &now) < 0)
        return 0;
    int64_t left = nanoseconds(moment) - (is_put_on(clock) ? ahead[clock] : 0) - nanoseconds(now);
    return left < 1 ? 1 : left;
}

void clock_shift(struct thread *thread, const uint64_t arguments[]) {
    uint64_t clock;
    if (arguments[3] && has_deadline(arguments[1], &clock))
        clock_shift_to(thread, arguments[3], clock);
}

void clock_put_back(struct thread *thread) {
    if (thread->shifted)
        memory_write(thread->id, thread->shifted, &thread->deadline, sizeof thread->deadline);
    thread->shifted = 0;
}

bool clock_put_on(const struct thread *thread, uint64_t address) {
    struct timespec time;
    struct timeval older;
    if (!slept && !piece_count)
        return false;
    if (thread->call.number == SYS_clock_gettime && goes_on(thread->call.a0) &&
        memory_read(thread->id, address, &time, sizeof time) == (ssize_t)sizeof time) {
        time = later(time, thread->call.a0);
        note_told(thread->call.a0, time);
        return memory_write(thread->id, address, &time, sizeof time) == (ssize_t)sizeof time;
    }
    if (thread->call.number == SYS_gettimeofday &&
        memory_read(thread->id, address, &older, sizeof older) == (ssize_t)sizeof older) {
        time = later((struct timespec){older.tv_sec, older.tv_usec * 1000}, CLOCK_REALTIME);
        older = (struct timeval){time.tv_sec, time.tv_nsec / 1000};
        return memory_write(thread->id, address, &older, sizeof older) == (ssize_t)sizeof older;
    }
    return false;
}

// ---- answers

static bool several_times; // some may be in another namespace of times than the tracer

void clock_other_times(void) {
    several_times = true;
}

// Those clocks say the same to all.
bool clock_answers(struct thread *thread) {
    const size_t size = sizeof thread->told;
    uint64_t clock = thread->call.a0;
    thread->answered =
        thread->call.number == SYS_clock_gettime && goes_on(clock) && !several_times &&
        clock_gettime((clockid_t)clock, &thread->told) == 0 &&
        memory_write(thread->id, thread->call.a1, &thread->told, size) == (ssize_t)size &&
        stop_skip(thread->id, 0) == 0;
    return thread->answered;
}

int64_t clock_seconds(int64_t seconds) {
    if (!piece_count && !slept)
        return seconds;
    return (time_of_day(real_now()) + (int64_t)slept) / SECOND;
}
