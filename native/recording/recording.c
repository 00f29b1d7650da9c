/* SPDX-License-Identifier: Apache-2.0 */
#include "recording.h"

#include "json.h"
#include "syscalls.h"

int ew_recording_create(int directory, const char *name) {
    int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;
    long descriptor = ew_sys_openat(directory, name, flags, 0600);
    if (descriptor < 0)
        return (int)descriptor;
    long error = ew_sys_fchmod((int)descriptor, 0600); /* whatever the umask is */
    if (error) {
        ew_sys_close((int)descriptor);
        return (int)error;
    }
    return (int)descriptor;
}

static void field(struct ew_json *json, const char *key, const char *text) {
    ew_json_key(json, key);
    ew_json_string(json, text);
}

static void version(struct ew_json *json) {
    ew_json_key(json, "version");
    ew_json_open(json, '[');
    ew_json_number(json, EW_FORMAT_MAJOR);
    ew_json_number(json, EW_FORMAT_MINOR);
    ew_json_close(json, ']');
}

static void command(struct ew_json *json, const struct ew_facts *facts) {
    ew_json_key(json, "command");
    ew_json_open(json, '[');
    for (size_t i = 0; i < facts->command_count; i++)
        ew_json_string(json, facts->command[i]);
    ew_json_close(json, ']');
}

static void host(struct ew_json *json, const struct ew_facts *facts) {
    ew_json_key(json, "host");
    ew_json_open(json, '{');
    field(json, "kernel", facts->kernel);
    field(json, "machine", facts->machine);
    field(json, "cpu", facts->cpu);
    ew_json_close(json, '}');
}

static void build_ids(struct ew_json *json, const struct ew_facts *facts) {
    ew_json_key(json, "build_ids");
    ew_json_open(json, '{');
    for (size_t i = 0; i < facts->build_id_count; i++)
        field(json, facts->build_ids[i].path, facts->build_ids[i].hex);
    ew_json_close(json, '}');
}

static void holds(struct ew_json *json, const struct ew_stream *stream) {
    ew_json_key(json, "holds");
    ew_json_open(json, '[');
    for (uint32_t type = 0; type < 64; type++)
        if (stream->holds >> type & 1)
            ew_json_string(json, ew_block_name(type));
    ew_json_close(json, ']');
}

static void stream_file(struct ew_json *json, const struct ew_stream_file *file) {
    ew_json_open(json, '{');
    field(json, "name", file->name);
    ew_json_key(json, "size");
    ew_json_number(json, file->stream->size);
    ew_json_key(json, "blocks");
    ew_json_number(json, file->stream->blocks);
    ew_json_key(json, "crc");
    ew_json_number(json, file->stream->crc);
    holds(json, file->stream);
    ew_json_close(json, '}');
}

/* The keys in the order of format/recording.toml. */
static int write_manifest(int descriptor, const struct ew_facts *facts, int complete,
                          const struct ew_stream_file *files, size_t count) {
    struct ew_json json;
    ew_json_begin(&json, descriptor);
    ew_json_open(&json, '{');
    field(&json, "format", EW_FORMAT_NAME);
    version(&json);
    field(&json, "tool", facts->tool);
    ew_json_key(&json, "complete");
    ew_json_boolean(&json, complete);
    field(&json, "world", facts->world);
    field(&json, "recorded_by", facts->recorded_by);
    field(&json, "created", facts->created);
    command(&json, facts);
    host(&json, facts);
    build_ids(&json, facts);
    ew_json_key(&json, "streams");
    ew_json_open(&json, '[');
    for (size_t i = 0; i < count; i++)
        stream_file(&json, &files[i]);
    ew_json_close(&json, ']');
    ew_json_close(&json, '}');
    return ew_json_end(&json);
}

static int on_the_disk(int descriptor, const struct ew_facts *facts) {
    return facts->passing ? 0 : (int)ew_sys_fsync(descriptor);
}

/* A manifest that is there with all its bytes or not at all, also after a power cut. */
static int put_manifest(int directory, const char *draft, const char *name,
                        const struct ew_facts *facts, int complete,
                        const struct ew_stream_file *files, size_t count) {
    int descriptor = ew_recording_create(directory, draft);
    if (descriptor < 0)
        return descriptor;
    int error = write_manifest(descriptor, facts, complete, files, count);
    if (!error)
        error = on_the_disk(descriptor, facts);
    ew_sys_close(descriptor);
    if (!error)
        error = (int)ew_sys_rename(directory, draft, name);
    return error ? error : on_the_disk(directory, facts);
}

int ew_recording_begin(int directory, const struct ew_facts *facts) {
    return put_manifest(directory, EW_BEGUN ".new", EW_BEGUN, facts, 0, NULL, 0);
}

int ew_recording_finish(int directory, const struct ew_facts *facts,
                        const struct ew_stream_file *files, size_t count) {
    int error = 0;
    for (size_t i = 0; i < count && !error; i++) {
        error = ew_stream_flush(files[i].stream);
        if (!error)
            error = on_the_disk(files[i].descriptor, facts);
    }
    if (!error)
        error = on_the_disk(directory, facts);
    if (!error)
        error = put_manifest(directory, EW_MANIFEST ".new", EW_MANIFEST, facts, 1, files, count);
    return error ? error : (int)ew_sys_unlink(directory, EW_BEGUN);
}
