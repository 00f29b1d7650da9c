// SPDX-License-Identifier: Apache-2.0
// eitherway-recorder --into FD --loader FD [--facts FD] [--redact] -- COMMAND ARGUMENTS...
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../tracer/call_table.h"
#include "recorder.h"

enum { NUMBERS = 1 << 22 };         // pid_max cannot be more
enum { NAP = 2, LONGEST_NAP = 64 }; // ms
enum { QUIET = 1000 };              // ms without a record, and who is left is left
enum { LEFT_ASLEEP = 60 * QUIET };  // the same, in all: a daemon looks for work, again and again
enum event { MADE = 1, RUNS = 2, ENDED = 3, SIGNALLED = 4 };

static const char usage[] = "usage: eitherway-recorder --into FD --loader FD [--facts FD] "
                            "[--redact] -- COMMAND ARGUMENTS...";
static const struct option table[] = {
    {"into", required_argument, NULL, 'i'},
    {"loader", required_argument, NULL, 'l'},
    {"facts", required_argument, NULL, 'f'},
    {"redact", no_argument, NULL, 'r'},
    {NULL, 0, NULL, 0},
};

static uint32_t *made_calls;    // by thread
static unsigned char *is_there; // by thread
static size_t living;
static uint64_t began; // when the command ran
static pid_t first;

// ---- options

static int descriptor(const char *text) {
    char *end;
    long value = strtol(text, &end, 10);
    if (*end || value < 0 || fcntl((int)value, F_SETFD, FD_CLOEXEC) < 0)
        die(EXIT_USAGE, "not an open descriptor: %s", text);
    return (int)value;
}

static int read_options(int count, char **words, struct options *options) {
    int loader = -1, which;
    *options = (struct options){.into = -1, .recorder = "bpf", .plan = -1, .facts = -1};
    opterr = 0;
    while ((which = getopt_long(count, words, "+", table, NULL)) != -1) {
        if (which == 'i')
            options->into = descriptor(optarg);
        else if (which == 'f')
            options->facts = descriptor(optarg);
        else if (which == 'l')
            loader = descriptor(optarg);
        else if (which == 'r')
            redaction_begin();
        else
            die(EXIT_USAGE, "%s", usage);
    }
    options->command = words + optind;
    if (options->into < 0 || loader < 0 || !words[optind])
        die(EXIT_USAGE, "%s", usage);
    return loader;
}

// ---- records

static uint64_t when; // the record was written

static void log_life(const struct seen *seen, enum event kind, uint32_t other, uint64_t value,
                     uint32_t text) {
    log_event(&(struct ew_process_event){.when = when,
                                         .value = value,
                                         .thread = seen->thread,
                                         .index = made_calls[seen->thread % NUMBERS],
                                         .kind = kind,
                                         .other = other,
                                         .text = text,
                                         .process = seen->process});
}

static void log_program(const struct seen *seen) {
    if (!began)
        began = when;
    uint32_t words = command_line_number(seen->text, seen->length[0] % SEEN_PATH);
    log_life(seen, RUNS, object_of_seen(&seen->file), 0, words);
}

static void log_made(const struct seen *seen) {
    uint32_t child = (uint32_t)seen->result % NUMBERS;
    living += !is_there[child];
    is_there[child] = 1;
    made_calls[child] = 0;
    log_life(seen, MADE, (uint32_t)seen->result, 0, 0);
}

static void log_end(const struct seen *seen, uint64_t how) {
    uint32_t thread = seen->thread % NUMBERS;
    living -= is_there[thread];
    is_there[thread] = 0;
    log_life(seen, ENDED, 0, how, 0);
}

static uint64_t value_of(const struct thread *thread, const struct seen *seen) {
    if (thread->shape->gives == GIVES_TWO_DESCRIPTORS && seen->result == 0)
        return seen->pair[0] | (uint64_t)seen->pair[1] << 32;
    if (seen->number == SYS_bind || seen->number == SYS_connect)
        return text_number(seen->text, seen->length[0] % sizeof seen->text);
    if (seen->number == SYS_fcntl || seen->number == SYS_waitid)
        return seen->pair[0];
    return thread->call.value;
}

static void log_one_call(const struct seen *seen) {
    static struct thread thread;
    const struct call_shape *shape = call_shape_of(seen->number);
    if (!shape || !began || seen->entered < began)
        return; // before the command ran it was us
    uint32_t given = shape->gives ? object_of_seen(&seen->given) : 0;
    thread.id = (pid_t)seen->thread;
    thread.process = (pid_t)seen->process;
    thread.shape = shape;
    thread.mode = seen->file.mode;
    thread.call = (struct ew_process_call){.result = (uint64_t)seen->result,
                                           .position = UINT64_MAX,
                                           .entered = seen->entered,
                                           .left = when,
                                           .thread = seen->thread,
                                           .index = made_calls[seen->thread % NUMBERS]++,
                                           .number = seen->number,
                                           .object = object_of_seen(&seen->file),
                                           .second = given ? given : object_of_seen(&seen->second)};
    memcpy(&thread.call.a0, seen->arguments, sizeof seen->arguments);
    if (thread.call.object && (S_ISREG(thread.mode) || S_ISDIR(thread.mode)) &&
        position_matters(seen->number)) {
        thread.call.position = seen->position;
        thread.call.flags |= seen->open_flags & O_APPEND ? CALL_APPENDS : 0;
    }
    if (seen->kind != SEEN_CALL)
        thread.call.flags |= CALL_NEVER_RETURNED;
    entries_take(&thread, seen);
    thread.call.value = value_of(&thread, seen);
    log_call(&thread);
}

// Its last call, then its end.
static void log_leaving(const struct seen *seen) {
    log_one_call(seen);
    when++;
    log_end(seen, seen->open_flags);
}

static void take(const struct seen *seen, uint64_t written) {
    when = written;
    if (seen->kind == SEEN_CALL || seen->kind == SEEN_UNFINISHED)
        log_one_call(seen);
    else if (seen->kind == SEEN_LEFT)
        log_leaving(seen);
    else if (seen->kind == SEEN_RUNS)
        log_program(seen);
    else if (seen->kind == SEEN_MADE)
        log_made(seen);
    else if (seen->kind == SEEN_ENDED)
        log_end(seen, (uint64_t)seen->result);
    else if (seen->kind == SEEN_SIGNALLED)
        log_life(seen, SIGNALLED, seen->number, (uint64_t)seen->result, 0);
}

// ---- the command

static noreturn void become(char **command, int go) {
    char byte;
    if (read(go, &byte, 1) != 1)
        _exit(EXIT_OUR_BUG);
    execvp(command[0], command);
    die(errno == ENOENT ? 127 : 126, "cannot run %s: %s", command[0], strerror(errno));
}

static void start(char **command) {
    int go[2];
    if (pipe2(go, O_CLOEXEC) < 0)
        die(EXIT_UNAVAILABLE, "there are no pipes: %s", strerror(errno));
    first = fork();
    if (first == 0)
        become(command, go[0]);
    if (first < 0)
        die(EXIT_UNAVAILABLE, "no process can be made: %s", strerror(errno));
    kernel_add(first);
    is_there[first % NUMBERS] = 1;
    living = 1;
    if (write(go[1], "", 1) != 1)
        die(EXIT_OUR_BUG, "the command cannot be let go");
    close(go[0]);
    close(go[1]);
}

// Who is left when the command has ended and nobody does anything any more.
static void end_left(void) {
    size_t left = 0;
    for (pid_t id = 1; id < NUMBERS && living; id++)
        if (is_there[id]) {
            left++;
            living--;
            kill(id, SIGKILL);
        }
    end_note("left_behind", "true");
    end_note_number("left", left);
}

// What was not told by calls must be looked at soon.
static int next_nap(int nap) {
    static uint64_t looked;
    bool has_looked = entries_looked() != looked;
    looked = entries_looked();
    return has_looked ? NAP : 2 * nap < LONGEST_NAP ? 2 * nap : LONGEST_NAP;
}

// A kill costs what lies in the ring, and this much.
static void keep(int taken) {
    enum { KEPT_EVERY = 1024 }; // records, or when none has come
    static int since;
    since += taken;
    if (taken && since < KEPT_EVERY)
        return;
    log_keep();
    since = 0;
}

// Nobody tells us that there are records, which would cost those who are looked at: we look, and
// are told only when a part of the ring is full.
static int follow(int loader) {
    int status = 0, quiet = 0, nap = NAP;
    int asleep = 0; // ms, who is left when the command has ended, as far as can be told
    bool ended = false;
    struct pollfd ends[] = {{.fd = (int)syscall(SYS_pidfd_open, first, 0), .events = POLLIN},
                            {.fd = loader}, // only its end is told of
                            {.fd = kernel_bell(), .events = POLLIN}};
    while (!ended || living) {
        poll(ends, 3, nap);
        if (ends[1].revents)
            die(EXIT_UNAVAILABLE, "BPF cannot be used any more: the loader of its programs ended");
        int taken = kernel_take(take);
        keep(taken);
        quiet = taken > 0 ? 0 : quiet + nap;
        asleep += ended && taken == 0 ? nap : 0;
        nap = ended ? NAP : next_nap(nap);
        if (!ended && ends[0].revents && waitpid(first, &status, WNOHANG) == first) {
            ended = true;
            close(ends[0].fd);
            ends[0].fd = -1; // from here on only time is waited for
            nap = NAP;
        }
        if (ended && living && (quiet > QUIET || asleep > LEFT_ASLEEP)) {
            end_left();
            break;
        }
    }
    kernel_take(take);
    return status;
}

static void *table_of(size_t size) {
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void *memory = mmap(NULL, NUMBERS * size, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (memory == MAP_FAILED)
        die(EXIT_UNAVAILABLE, "there is not enough memory for a table of processes");
    return memory;
}

static void note_outside(const char *name, int number) {
    struct stat status;
    end_note_number(name, fstat(number, &status) == 0 ? object_of(&status) : 0);
}

int main(int count, char **words) {
    struct options options;
    int loader = read_options(count, words, &options);
    made_calls = table_of(sizeof *made_calls);
    is_there = table_of(sizeof *is_there);
    kernel_begin(loader);
    log_begin(&options);
    entries_begin();
    note_outside("standard_output", STDOUT_FILENO);
    note_outside("standard_error", STDERR_FILENO);
    uint64_t before[SEEN_COUNTS];
    for (unsigned i = 0; i < SEEN_COUNTS; i++)
        before[i] = kernel_count(i);
    start(options.command);
    int status = follow(loader);
    kernel_done();
    end_note("forced", "as asked");
    end_note_number("turns", 0);
    end_note_number("status", (unsigned)status);
    end_note_number("lost", kernel_count(SEEN_LOST) - before[SEEN_LOST]);
    for (unsigned i = 0; i < SEEN_CALLS; i++)
        for (uint64_t n = before[SEEN_COUNTED + i]; n < kernel_count(SEEN_COUNTED + i); n++)
            unknown_count(i);
    unknown_tell();
    end_note_number("not_followed", entries_unknown());
    log_finish();
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
