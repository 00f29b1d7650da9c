/* SPDX-License-Identifier: Apache-2.0 */
/* Begins and completes the directory of a recording; stream.h fills it.
 *
 * The caller makes the directory (0700), holds a lock on it (flock) for as long as it writes, and
 * hands its descriptor in. Strings are any bytes up to a NUL. All functions return -errno, or 0 or
 * a descriptor; errno is never touched. */
#ifndef EITHERWAY_RECORDING_H
#define EITHERWAY_RECORDING_H

#include "stream.h"

struct ew_build_id {
    const char *path;
    const char *hex;
};

/* What the manifest says beside the streams, see docs/recording-format.md. */
struct ew_facts {
    const char *tool;
    const char *world;
    const char *recorded_by;
    const char *created; /* RFC 3339, UTC */
    const char *const *command;
    size_t command_count;
    const char *kernel;
    const char *machine;
    const char *cpu;
    const struct ew_build_id *build_ids;
    size_t build_id_count;
    int passing; /* whoever asked reads it at once and forgets it: the disk is not waited for */
};

struct ew_stream_file {
    const char *name; /* with EW_STREAM_SUFFIX */
    int descriptor;
    struct ew_stream *stream;
};

/* Says what is being recorded, before anything else is written. */
int ew_recording_begin(int directory, const struct ew_facts *facts);

/* The descriptor of a new stream file. */
int ew_recording_create(int directory, const char *name);

/* Flushes the streams, waits until they are on the disk unless the recording is a passing one, and
 * renames the manifest into place.
 * The descriptors stay the caller's. */
int ew_recording_finish(int directory, const struct ew_facts *facts,
                        const struct ew_stream_file *files, size_t count);

#endif
