// SPDX-License-Identifier: Apache-2.0
// eitherway-sandbox [OPTIONS] -- COMMAND ARGUMENTS...   one command in a sandbox of its own
// eitherway-sandbox [OPTIONS] --control FD              a sandbox that stays until FD is closed
// eitherway-sandbox [OPTIONS] --enter FD,... --registry FD -- COMMAND   one more in such a sandbox
#include "sandbox.h"
#include "title.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] =
    "usage: eitherway-sandbox [OPTIONS] -- COMMAND ARGUMENTS...\n"
    "  --require KIND        end with 69 unless isolated: files, network, processes, privileges, "
    "all\n"
    "  --without KIND        do not isolate this, though it could be; all of them: a plain run\n"
    "  --report FD           write one line of JSON about the isolation in force\n"
    "  --device /dev/NAME    have this device inside too\n"
    "  --work DIRECTORY      the command will write here; for directories in those of others\n"
    "  --memory BYTES        private memory of each process\n"
    "  --address-space BYTES all mappings of each process\n"
    "  --cpu SECONDS         processor time of each process\n"
    "  --file-size BYTES     of each file written\n"
    "  --processes N         processes and threads inside, about\n"
    "  --disk BYTES          all that is written\n"
    "  --control FD          stay, report and reset on this socket\n"
    "  --enter FD,...        enter the namespaces of a sandbox that stays, whose\n"
    "  --registry FD         came with them, and tell the process number on\n"
    "  --started FD\n"
    "  --as-is FD            the command has this directory as it is outside\n";

enum {
    FIRST_LIMIT = 256,
    MEMORY = FIRST_LIMIT,
    ADDRESS_SPACE,
    CPU,
    FILE_SIZE,
    PROCESS_COUNT,
    DISK
};

static const struct option table[] = {
    {"require", required_argument, NULL, 'r'},
    {"without", required_argument, NULL, 'n'},
    {"report", required_argument, NULL, 'o'},
    {"control", required_argument, NULL, 'c'},
    {"enter", required_argument, NULL, 'e'},
    {"registry", required_argument, NULL, 'g'},
    {"as-is", required_argument, NULL, 'a'},
    {"started", required_argument, NULL, 's'},
    {"device", required_argument, NULL, 'd'},
    {"work", required_argument, NULL, 'w'},
    {"memory", required_argument, NULL, MEMORY},
    {"address-space", required_argument, NULL, ADDRESS_SPACE},
    {"cpu", required_argument, NULL, CPU},
    {"file-size", required_argument, NULL, FILE_SIZE},
    {"processes", required_argument, NULL, PROCESS_COUNT},
    {"disk", required_argument, NULL, DISK},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static uint64_t number(const char *text, uint64_t most, const char *what) {
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end || errno || value > most)
        die(EXIT_USAGE, "%s takes a whole number, not %s", what, text);
    return value;
}

static int descriptor(const char *text, const char *what) {
    int fd = (int)number(text, 1 << 20, what);
    if (fcntl(fd, F_SETFD, FD_CLOEXEC) < 0) // the command must not have it
        die(EXIT_USAGE, "%s: %d is not an open descriptor", what, fd);
    return fd;
}

static void choose(bool chosen[KINDS], const char *name, const char *option) {
    bool known = false;
    for (int kind = 0; kind < KINDS; kind++)
        if (strcmp(name, "all") == 0 || strcmp(name, kind_names[kind]) == 0)
            known = chosen[kind] = true;
    if (!known)
        die(EXIT_USAGE, "%s knows files, network, processes, privileges and all, not %s", option,
            name);
}

static void add(const char **list, int most, const char *text, const char *what) {
    int count = 0;
    while (list[count])
        count++;
    if (count == most - 1) // the last stays NULL
        die(EXIT_USAGE, "more than %d times %s", count, what);
    list[count] = text;
}

static void add_device(struct options *options, const char *path) {
    if (strncmp(path, "/dev/", 5) != 0 || strchr(path + 5, '/') || access(path, F_OK) < 0)
        die(EXIT_USAGE, "--device takes a device directly in /dev, not %s", path);
    add(options->devices, DEVICES_MAX, path, "--device");
}

static void check_numbers(const char *list) {
    if (list[strspn(list, "0123456789,")] != '\0' || (*list && list[strlen(list) - 1] == ','))
        die(EXIT_USAGE, "--enter takes descriptors with commas between them, not %s", list);
}

static void read_limit(struct limits *limits, int which, const char *text, const char *name) {
    uint64_t *const fields[] = {&limits->memory,    &limits->address_space, &limits->cpu_seconds,
                                &limits->file_size, &limits->processes,     &limits->disk};
    uint64_t most = which == PROCESS_COUNT ? 1000000 : UINT64_MAX / 2;
    *fields[which - FIRST_LIMIT] = number(text, most, name);
}

static void read_option(struct options *options, int which, const char *text, const char *name) {
    if (which >= FIRST_LIMIT)
        read_limit(&options->limits, which, text, name);
    else if (which == 'r')
        choose(options->required, text, "--require");
    else if (which == 'n')
        choose(options->without, text, "--without");
    else if (which == 'o')
        options->report = descriptor(text, "--report");
    else if (which == 'c')
        options->control = descriptor(text, "--control");
    else if (which == 'd')
        add_device(options, text);
    else if (which == 'w')
        add(options->work, WORK_MAX, text, "--work");
    else if (which == 'g')
        options->registry = descriptor(text, "--registry");
    else if (which == 's')
        options->started = descriptor(text, "--started");
    else if (which == 'a')
        options->as_is = (int)number(text, 1 << 20, "--as-is");
    else if (which == 'e')
        options->enter = text;
    else if (which == 'h')
        _exit(fputs(usage, stdout) < 0 || fflush(stdout) != 0);
    else
        die(EXIT_USAGE, "see eitherway-sandbox --help");
}

void options_read(int count, char **arguments, struct options *options) {
    *options =
        (struct options){.report = -1, .control = -1, .registry = -1, .started = -1, .as_is = -1};
    int which, index = 0;
    opterr = 0;
    while ((which = getopt_long(count, arguments, "+", table, &index)) != -1)
        read_option(options, which, optarg, table[index].name);
    for (int kind = 0; kind < KINDS; kind++)
        if (options->required[kind] && options->without[kind])
            die(EXIT_USAGE, "%s cannot be required and left out", kind_names[kind]);
    options->command = arguments[optind] ? arguments + optind : NULL;
    if (options->enter)
        check_numbers(options->enter);
    if (options->control >= 0 && (options->command || options->enter || options->report >= 0))
        die(EXIT_USAGE, "--control stands without a command, --enter and --report");
    if (options->control < 0 && !options->command)
        die(EXIT_USAGE, "what shall run? eitherway-sandbox [OPTIONS] -- COMMAND");
}

int main(int count, char **arguments) {
    struct options options;
    arguments = title_take(count, arguments);
    if (!arguments)
        die(EXIT_UNAVAILABLE, "there is not enough memory");
    options_read(count, arguments, &options);
    if (options.enter)
        enter_box(&options);
    keep(&options);
}
