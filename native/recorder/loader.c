// SPDX-License-Identifier: Apache-2.0
// eitherway-loader SOCKET PROGRAMS...: loads the first of these files of programs that the kernel
// takes, and keeps them for whoever asks through the socket: '?' is answered by 'r' with the ring,
// its counts and its bell, 'a' with a handle of a process makes it and all that it will start
// members of the tree, and lets the programs run until 'd'. What it cannot do it says there too.
// Recorders are in sandboxes, where nothing can be loaded.
//
// libbpf is looked for when this runs: a machine without it can still trace.
#include <dlfcn.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CALL_TABLE_OTHERS
#include "../tracer/call_table.h"
#include "recorder.h"

struct bpf_object;
struct bpf_program;
struct bpf_link;

// As libbpf 1.x has them.
static struct {
    void *(*set_print)(int (*)(int, const char *, va_list));
    struct bpf_object *(*open)(const char *, const void *);
    int (*load)(struct bpf_object *);
    void (*close)(struct bpf_object *);
    struct bpf_program *(*next)(const struct bpf_object *, struct bpf_program *);
    struct bpf_link *(*attach)(const struct bpf_program *);
    int (*detach)(struct bpf_link *);
    int (*map)(const struct bpf_object *, const char *);
    struct bpf_program *(*program)(const struct bpf_object *, const char *);
    int (*descriptor)(const struct bpf_program *);
    int (*update)(int, const void *, const void *, uint64_t);
} libbpf;

enum { LINKS_MAX = 16 };

static int socket_of_recorder, others, counts, ring, bell;
static struct seen_place *places;
static struct seen_ring *records; // its first pages
static struct bpf_object *loaded;
static struct bpf_program *finds_memory; // the others run at tracepoints
static struct bpf_link *links[LINKS_MAX];
static size_t link_count;
static char first_complaint[256];

// The answer to whatever is asked first.
static noreturn void refuse(const char *format, ...) __attribute__((format(printf, 1, 2)));
static noreturn void refuse(const char *format, ...) {
    char text[512] = "BPF cannot be used: ", question;
    size_t head = strlen(text);
    va_list rest;
    va_start(rest, format);
    vsnprintf(text + head, sizeof text - head, format, rest);
    va_end(rest);
    if (recv(socket_of_recorder, &question, 1, 0) == 1)
        send(socket_of_recorder, text, strlen(text), MSG_NOSIGNAL);
    _exit(EXIT_UNAVAILABLE);
}

static void find(void *library, const char *name, void *function) {
    void *found = dlsym(library, name);
    if (!found)
        refuse("libbpf has no %s", name);
    memcpy(function, &found, sizeof found);
}

static void open_library(void) {
    void *library = dlopen("libbpf.so.1", RTLD_NOW);
    if (!library)
        refuse("there is no libbpf.so.1");
    find(library, "libbpf_set_print", &libbpf.set_print);
    find(library, "bpf_object__open_file", &libbpf.open);
    find(library, "bpf_object__load", &libbpf.load);
    find(library, "bpf_object__close", &libbpf.close);
    find(library, "bpf_object__next_program", &libbpf.next);
    find(library, "bpf_program__attach", &libbpf.attach);
    find(library, "bpf_link__destroy", &libbpf.detach);
    find(library, "bpf_object__find_map_fd_by_name", &libbpf.map);
    find(library, "bpf_object__find_program_by_name", &libbpf.program);
    find(library, "bpf_program__fd", &libbpf.descriptor);
    find(library, "bpf_map_update_elem", &libbpf.update);
}

// The first thing that libbpf complains about says most.
static int keep_complaint(int level, const char *format, va_list rest) {
    if (getenv("EITHERWAY_BPF_LOG"))
        return vfprintf(stderr, format, rest);
    if (level == 0 && !first_complaint[0]) {
        vsnprintf(first_complaint, sizeof first_complaint, format, rest);
        first_complaint[strcspn(first_complaint, "\n")] = '\0';
    }
    return 0;
}

static noreturn void cannot(const char *what, int error) {
    if (error == -EPERM || error == -EACCES)
        refuse("%s needs root, or CAP_BPF and CAP_PERFMON", what);
    refuse("%s: %s%s%s", what, strerror(-error), first_complaint[0] ? "; " : "", first_complaint);
}

// ---- which calls

static unsigned char argument_that(const struct call_shape *shape, unsigned takes) {
    for (int i = 0; i < ARGUMENTS; i++)
        if (shape->takes[i] == takes)
            return (unsigned char)i;
    return SEEN_NO_ARGUMENT;
}

static void find_paths(const struct call_shape *shape, struct seen_shape *to) {
    unsigned char directory = SEEN_NO_ARGUMENT;
    int path = 0;
    for (int i = 0; i < ARGUMENTS && path < 2; i++) {
        unsigned takes = shape->takes[i];
        if (takes == TAKES_DIRECTORY)
            directory = (unsigned char)i;
        if (takes != TAKES_PATH && takes != TAKES_LINK && takes != TAKES_NEW_PATH)
            continue;
        to->path[path] = (unsigned char)i;
        to->directory[path++] = directory;
        directory = SEEN_NO_ARGUMENT;
    }
}

static struct seen_shape shape_for_kernel(uint32_t number, const struct call_shape *shape) {
    struct seen_shape to = {.wanted = SEEN_WANTED,
                            .descriptor = argument_that(shape, TAKES_DESCRIPTOR),
                            .second = argument_that(shape, TAKES_SECOND_DESCRIPTOR),
                            .gives_descriptor = shape->gives == GIVES_DESCRIPTOR,
                            .path = {SEEN_NO_ARGUMENT, SEEN_NO_ARGUMENT},
                            .directory = {SEEN_NO_ARGUMENT, SEEN_NO_ARGUMENT},
                            .two_descriptors = shape->gives == GIVES_TWO_DESCRIPTORS,
                            .if_given = number == SYS_rt_sigaction ? 1 : SEEN_NO_ARGUMENT};
    find_paths(shape, &to);
    if (number == SYS_symlink || number == SYS_symlinkat)
        to.path[1] = 0; // what the link says is no path of the call, and is kept like one
    to.is_short = to.path[0] == SEEN_NO_ARGUMENT && to.second == SEEN_NO_ARGUMENT &&
                  !to.gives_descriptor && !to.two_descriptors && number != SYS_bind &&
                  number != SYS_connect;
    if (number == SYS_mmap)
        to.unless_argument = 3, to.unless_bit = 0x20; // anonymous
    if (number == SYS_futex)
        to.unless_argument = 1, to.unless_bit = 0x80; // private
    return to;
}

static void tell_shapes(int map) {
    static const uint32_t only;
    static struct seen_shapes shapes;
    for (size_t i = 0; i < sizeof not_modelled / sizeof *not_modelled; i++)
        if (not_modelled[i] < SEEN_CALLS)
            shapes.of[not_modelled[i]].wanted = SEEN_TO_COUNT;
    for (uint32_t number = LAST_KNOWN_CALL + 1; number < SEEN_CALLS; number++)
        shapes.of[number].wanted = SEEN_TO_COUNT;
    for (uint32_t number = 0; number < SEEN_CALLS; number++) {
        const struct call_shape *shape = call_shape_of(number);
        if (shape)
            shapes.of[number] = shape_for_kernel(number, shape);
    }
    if (libbpf.update(map, &only, &shapes, 0) < 0)
        cannot("telling which calls", -errno);
}

// ---- questions

// The first that this kernel takes. Who may not load any is told so by the last.
static struct bpf_object *load_one(char **programs) {
    for (;; programs++) {
        first_complaint[0] = '\0';
        struct bpf_object *object = libbpf.open(*programs, NULL);
        if (!object)
            cannot("opening its programs", -errno);
        int error = libbpf.load(object);
        if (!error)
            return object;
        if (!programs[1])
            cannot("loading its programs", error);
        libbpf.close(object);
    }
}

static void *mapped(int map, size_t size) {
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, map, 0);
    if (memory == MAP_FAILED)
        cannot("mapping what its programs write", -errno);
    return memory;
}

// Where the kernel has the memory of the machine, for those of its programs that read there: tried
// with two words of ours, until one place is right. Where none is, they ask the kernel.
static void find_memory(void) {
    enum { GIGABYTES = 4096 }; // of memory
    static uint64_t known[2] __attribute__((aligned(16)));
    uint64_t words[4] = {(uintptr_t)known};
    union bpf_attr about = {.test = {.prog_fd = (uint32_t)libbpf.descriptor(finds_memory),
                                     .ctx_size_in = sizeof words,
                                     .ctx_in = (uintptr_t)words}};
    if (getrandom(known, sizeof known, 0) != sizeof known)
        return;
    words[1] = known[0];
    words[2] = known[1];
    for (; words[3] < GIGABYTES && !about.test.retval; words[3]++)
        if (syscall(SYS_bpf, BPF_PROG_TEST_RUN, &about, sizeof about) < 0)
            return;
}

static void load(char **programs) {
    open_library();
    libbpf.set_print(keep_complaint);
    struct bpf_object *object = load_one(programs);
    others = libbpf.map(object, "others");
    counts = libbpf.map(object, "counts");
    ring = libbpf.map(object, "ring");
    bell = libbpf.map(object, "bell");
    places = mapped(libbpf.map(object, "places"), SEEN_PLACES * sizeof *places);
    records = mapped(ring, offsetof(struct seen_ring, records));
    tell_shapes(libbpf.map(object, "shapes"));
    finds_memory = libbpf.program(object, "finds_memory");
    if (finds_memory)
        find_memory();
    loaded = object;
}

// While they run, every call of every process on this machine takes a little longer.
static bool run_programs(void) {
    for (struct bpf_program *at = libbpf.next(loaded, NULL); at; at = libbpf.next(loaded, at)) {
        if (at == finds_memory)
            continue;
        struct bpf_link *link = link_count < LINKS_MAX ? libbpf.attach(at) : NULL;
        if (!link)
            return false;
        links[link_count++] = link;
    }
    return true;
}

static void stop_programs(void) {
    while (link_count)
        libbpf.detach(links[--link_count]);
}

// Those of a run before are nobody's: its recorder may have been killed, and its processes live.
static void forget_run(void) {
    for (size_t i = 0; i < SEEN_PLACES; i++)
        places[i].owner = 0;
    records->read = records->written;
}

static bool add(int handle) {
    static const struct seen_place nothing;
    static const uint32_t which = SEEN_OTHERS;
    static const uint64_t one = 1;
    stop_programs();
    forget_run();
    bool worked = handle >= 0 && libbpf.update(others, &handle, &nothing, 0) == 0 &&
                  libbpf.update(counts, &which, &one, 0) == 0;
    if (handle >= 0)
        close(handle);
    return worked && run_programs();
}

static void answer(char question, int handle) {
    int maps[3] = {ring, counts, bell};
    if (question == '?')
        message_send(socket_of_recorder, 'r', maps, 3);
    else if (question == 'd')
        stop_programs();
    else
        message_send(socket_of_recorder, add(handle) ? 'y' : 'n', NULL, 0);
}

int main(int count, char **words) {
    char question;
    int handle;
    if (count < 3)
        die(EXIT_USAGE, "usage: eitherway-loader SOCKET PROGRAMS...");
    socket_of_recorder = atoi(words[1]);
    load(words + 2);
    while (message_receive(socket_of_recorder, &question, 1, &handle, 1) > 0)
        answer(question, handle);
    return 0;
}
