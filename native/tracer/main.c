// SPDX-License-Identifier: Apache-2.0
// eitherway-tracer --into FD [OPTIONS] -- COMMAND ARGUMENTS...
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../sandbox/title.h"
#include "tracer.h"

static const char usage[] = "usage: eitherway-tracer --into FD [OPTIONS] -- COMMAND ARGUMENTS...\n"
                            "  --into FD           directory that becomes the recording\n"
                            "  --facts FD          bytes that the recording is to hold\n"
                            "  --redact            no words of commands, no data\n"
                            "  --ordered           one call at a time, by priorities\n"
                            "  --seed N            of the priorities\n"
                            "  --plan FD           turns that come first\n"
                            "  --began NANOSECONDS since 1970: the run that they are of\n"
                            "  --brief             of these only what the run writes is kept\n"
                            "  --patience SECONDS  of sleep of all, until they are taken to hang\n"
                            "  --most CALLS        until they are ended\n"
                            "  --seconds N         the same, by time\n"
                            "  --rest SECONDS      the same, by time in which all slept\n"
                            "  --apart             nobody outside can wake one\n";

static const struct option table[] = {
    {"into", required_argument, NULL, 'i'}, {"facts", required_argument, NULL, 'f'},
    {"redact", no_argument, NULL, 'r'},     {"ordered", no_argument, NULL, 'o'},
    {"seed", required_argument, NULL, 's'}, {"plan", required_argument, NULL, 'p'},
    {"brief", no_argument, NULL, 'b'},      {"patience", required_argument, NULL, 'w'},
    {"most", required_argument, NULL, 'm'}, {"seconds", required_argument, NULL, 't'},
    {"rest", required_argument, NULL, 'l'}, {"began", required_argument, NULL, 'n'},
    {"apart", no_argument, NULL, 'a'},      {NULL, 0, NULL, 0},
};

static unsigned long long number(const char *text) {
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || errno)
        die(EXIT_USAGE, "not a whole number: %s", text);
    return value;
}

static int descriptor(const char *text) {
    unsigned long long value = number(text);
    if (value > 1 << 20 || fcntl((int)value, F_SETFD, FD_CLOEXEC) < 0)
        die(EXIT_USAGE, "not an open descriptor: %s", text);
    return (int)value;
}

static void read_option(struct options *options, int which) {
    if (which == 'i')
        options->into = descriptor(optarg);
    else if (which == 'f')
        options->facts = descriptor(optarg);
    else if (which == 'p')
        options->plan = descriptor(optarg);
    else if (which == 's')
        options->seed = number(optarg);
    else if (which == 'w')
        options->limits.patience = (double)number(optarg);
    else if (which == 'm')
        options->limits.calls = number(optarg);
    else if (which == 't')
        options->limits.seconds = (double)number(optarg);
    else if (which == 'l')
        options->limits.rest = (double)number(optarg);
    else if (which == 'n')
        options->began = number(optarg);
    else if (which == 'r')
        redaction_begin();
    else if (which == 'o')
        options->ordered = true;
    else if (which == 'b')
        options->brief = true;
    else if (which == 'a')
        options->apart = true;
    else
        die(EXIT_USAGE, "%s", usage);
}

static void read_options(int count, char **words, struct options *options) {
    int which;
    *options = (struct options){.into = -1,
                                .recorder = "ptrace",
                                .plan = -1,
                                .facts = -1,
                                .limits = {FOR_EVER, UINT64_MAX, FOR_EVER, FOR_EVER}};
    opterr = 0;
    while ((which = getopt_long(count, words, "+", table, NULL)) != -1)
        read_option(options, which);
    options->command = words + optind;
    if (options->into < 0 || !words[optind])
        die(EXIT_USAGE, "%s", usage);
}

// Ordered, stops are waited for with a time limit, so the signal that tells of them must be
// pending. Else it is not sent for each of them.
static void hold_signals(bool ordered) {
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    struct sigaction action = {.sa_handler = SIG_DFL, .sa_flags = ordered ? 0 : SA_NOCLDSTOP};
    sigaction(SIGCHLD, &action, NULL);
    sigprocmask(SIG_BLOCK, &child, NULL);
}

static int shell_status(int status) {
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int main(int count, char **words) {
    struct options options;
    words = title_take(count, words);
    if (!words)
        die(EXIT_UNAVAILABLE, "there is not enough memory");
    read_options(count, words, &options);
    hold_signals(options.ordered);
    log_begin(&options);
    calls_begin();
    clock_begin(options.began);
    if (options.plan >= 0)
        plan_read(options.plan);
    gate_begin(&options);
    hangs_begin(options.apart);
    int status = loop_run(start_command(options.command), &options.limits);
    start_check();
    gate_tell();
    unknown_tell();
    end_note_number("status", (unsigned)status);
    log_finish();
    return shell_status(status);
}
