// SPDX-License-Identifier: Apache-2.0
// The recording, as it is written: one stream for each sort of record.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "recording.h"
#include "tracer.h"

// What is written over and over stays in a cache.
enum { BUFFER = 1 << 16, LARGE_BUFFER = 1 << 17, FACTS = 1 << 20 };
enum { INPUT_FACTS = 256, INPUT_ENDING = 257 }; // worlds/processes/recorded.py has them too

enum stream { CALLS, OBJECTS, LOOKUPS, TEXTS, EVENTS, DATA, INPUT, STREAMS };
static const char *const names[STREAMS] = {
    "calls" EW_STREAM_SUFFIX, "objects" EW_STREAM_SUFFIX, "lookups" EW_STREAM_SUFFIX,
    "texts" EW_STREAM_SUFFIX, "events" EW_STREAM_SUFFIX,  "data" EW_STREAM_SUFFIX,
    "input" EW_STREAM_SUFFIX,
};
static struct ew_stream streams[STREAMS];
static struct ew_stream_file files[STREAMS];
static int directory;
static struct ew_facts facts;
static uint32_t calls;

static void must(int error) {
    if (error < 0)
        die(EXIT_UNAVAILABLE, "the recording cannot be written: %s", strerror(-error));
}

// What calls refer to is written before them: what a killed tracer leaves makes sense.
static long write_calls(void *descriptor, const void *data, size_t length) {
    for (int i = OBJECTS; i < STREAMS; i++) {
        int error = ew_stream_flush(&streams[i]);
        if (error)
            return error;
    }
    return ew_write_to_fd(descriptor, data, length);
}

static void open_stream(int which) {
    bool large = which == CALLS || which == LOOKUPS || which == DATA;
    size_t size = large ? LARGE_BUFFER : BUFFER;
    int descriptor = ew_recording_create(directory, names[which]);
    must(descriptor);
    void *buffer = malloc(size);
    if (!buffer)
        die(EXIT_UNAVAILABLE, "there is not enough memory");
    must(ew_stream_init(&streams[which], which == CALLS ? write_calls : ew_write_to_fd,
                        (void *)(intptr_t)descriptor, buffer, size));
    files[which] = (struct ew_stream_file){names[which], descriptor, &streams[which]};
}

static void take_facts(const char *recorder, char **command) {
    static struct utsname host;
    static char created[32];
    time_t now = time(NULL);
    struct tm parts;
    uname(&host);
    strftime(created, sizeof created, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &parts));
    size_t count = 0;
    while (command[count])
        count++;
    if (redaction_is_on())
        command = redaction_of_command(command, count);
    facts = (struct ew_facts){.tool = EITHERWAY_VERSION,
                              .world = "processes",
                              .recorded_by = recorder,
                              .created = created,
                              .command = (const char *const *)command,
                              .command_count = count,
                              .kernel = host.release,
                              .machine = host.machine,
                              .cpu = ""};
}

// Bytes that whoever started this wants to have in the recording.
static void copy_facts(int from) {
    static char buffer[FACTS];
    ssize_t length = 0, part;
    while ((part = read(from, buffer + length, sizeof buffer - (size_t)length)) > 0)
        length += part;
    must(ew_stream_input(&streams[INPUT], INPUT_FACTS, 0, buffer, (size_t)length));
    must(ew_stream_flush(&streams[INPUT]));
    close(from);
}

void log_begin(const struct options *options) {
    directory = options->into;
    take_facts(options->recorder, options->command);
    must(ew_recording_begin(directory, &facts));
    for (int i = 0; i < STREAMS; i++)
        open_stream(i);
    if (options->facts >= 0)
        copy_facts(options->facts);
    log_text("", 0);
    log_object(&(struct ew_process_object){0});
}

void log_object(const struct ew_process_object *row) {
    must(ew_stream_rows(&streams[OBJECTS], EW_BLOCK_PROCESS_OBJECTS, row, 1));
}

void log_text(const char *text, size_t length) {
    struct ew_process_text head = {(uint32_t)length};
    must(ew_stream_tailed(&streams[TEXTS], EW_BLOCK_PROCESS_TEXTS, &head, text, length));
}

void log_event(const struct ew_process_event *event) {
    must(ew_stream_rows(&streams[EVENTS], EW_BLOCK_PROCESS_EVENTS, event, 1));
}

void log_data(uint32_t kind, const void *data, size_t length) {
    if (redaction_is_on())
        return;
    struct ew_process_data head = {.call = calls, .kind = kind, .length = (uint32_t)length};
    must(ew_stream_tailed(&streams[DATA], EW_BLOCK_PROCESS_DATA, &head, data, length));
}

void log_call(struct thread *thread) {
    size_t count = thread->lookup_count;
    for (size_t i = 0; i < count; i++)
        thread->lookups[i].call = calls;
    if (count)
        must(ew_stream_rows(&streams[LOOKUPS], EW_BLOCK_PROCESS_LOOKUPS, thread->lookups, count));
    must(ew_stream_rows(&streams[CALLS], EW_BLOCK_PROCESS_CALLS, &thread->call, 1));
    calls++;
}

void log_keep(void) {
    must(ew_stream_flush(&streams[CALLS]));
}

void log_finish(void) {
    char ending[4200];
    int length = snprintf(ending, sizeof ending, "{%s}", end_notes());
    must(ew_stream_input(&streams[INPUT], INPUT_ENDING, 0, ending, (size_t)length));
    must(ew_recording_finish(directory, &facts, files, STREAMS));
}
