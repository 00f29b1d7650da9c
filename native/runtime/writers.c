// SPDX-License-Identifier: Apache-2.0
// What stdio keeps in a buffer goes out later, and by whomever. So for standard output and standard
// error it is noted who put how much there; it counts when it goes out, if it ever does.
#include "writers.h"
#include "guide.h"

#define RUNS 1024 // of a buffer, one after the other by different threads

static struct buffer {
    struct run {
        uint32_t thread;
        size_t length;
    } runs[RUNS];
    uint32_t count;
    uint32_t inside; // who entered last
    size_t noted;    // bytes: the length of all runs
} buffers[2] EW_LARGE;

static struct buffer *buffer_of(const FILE *stream) {
    if (stream == stdout)
        return &buffers[0];
    return stream == stderr ? &buffers[1] : NULL;
}

// The buffer has so many bytes now. Where there is no room for more runs, the last one takes them:
// by whom those are is told wrongly, but that is the same in each run of the same order.
static void note(struct buffer *buffer, size_t length) {
    if (length <= buffer->noted)
        return;
    size_t more = length - buffer->noted;
    buffer->noted = length;
    struct run *last = buffer->count ? &buffer->runs[buffer->count - 1] : NULL;
    if (last && (last->thread == buffer->inside || buffer->count == RUNS))
        last->length += more;
    else
        buffer->runs[buffer->count++] = (struct run){buffer->inside, more};
}

static void forget(struct buffer *buffer, uint32_t runs) {
    for (uint32_t i = runs; i < buffer->count; i++)
        buffer->runs[i - runs] = buffer->runs[i];
    buffer->count -= runs;
}

void ew_writers_enter(const FILE *stream) {
    struct buffer *buffer = buffer_of(stream);
    if (!buffer)
        return;
    const char *from = stream->_IO_write_base, *to = stream->_IO_write_ptr;
    size_t length = to > from ? (size_t)(to - from) : 0;
    if (length < buffer->noted) // thrown away
        buffer->count = buffer->noted = 0;
    note(buffer, length);
    buffer->inside = ew_self->id;
}

void ew_writers_flushed(unsigned output, const FILE *stream, const char *data, size_t size) {
    struct buffer *buffer = buffer_of(stream);
    if (!buffer) {
        const struct iovec part = {(void *)data, size};
        ew_writers_wrote(output, &part, 1, size);
        return;
    }
    note(buffer, size);
    buffer->noted -= size;
    uint32_t gone = 0;
    for (struct run *run = buffer->runs; size; run++) {
        size_t length = run->length < size ? run->length : size;
        if (output)
            ew_guide_wrote(run->thread, output, data, length);
        data += length;
        size -= length;
        run->length -= length;
        gone += run->length == 0;
    }
    forget(buffer, gone);
}

void ew_writers_wrote(unsigned output, const struct iovec *parts, size_t count, size_t length) {
    for (size_t i = 0; i < count && length && output; i++) {
        size_t size = parts[i].iov_len < length ? parts[i].iov_len : length;
        ew_guide_wrote(ew_self->id, output, parts[i].iov_base, size);
        length -= size;
    }
}
