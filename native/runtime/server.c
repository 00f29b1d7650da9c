// SPDX-License-Identifier: Apache-2.0
// The fork server: a program that is loaded and linked, and forks once for each run that is asked.
//
// It stands before the first constructor, so a run sees everything from its beginning. The fork is
// the bare system call: libc does not know of it, and its threads' control blocks stay as they are.
//
// A run may become such a server itself, where it stands: see ew_serve_here. Whoever has forked it
// waits meanwhile, so that one of them at a time listens to the socket.
#include "server.h"
#include "copies.h"
#include "crc32.h"
#include "descendants.h"
#include "family.h"
#include "guide.h"
#include "resident.h"
#include "servers.h"
#include "threads.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define DESCRIPTORS_MAX 6
#define SURVEY_DESCRIPTORS 5
#define ABOVE_THE_PROGRAM 700         // where no program looks for its own descriptors
#define PLACE_OF_ROWS 0x14000000000ul // see family.c

static int control = -1;
static struct {
    uint32_t sent; // messages, by all that serve on this socket
    uint32_t told; // the process that was last said to have started
} *shared;
static struct ew_options *options; // of the run
static bool stands;                // this is a run that serves

static void send_message(uint16_t type, const void *payload, uint32_t length) {
    struct ew_control_header header = {.magic = EW_CONTROL_MAGIC,
                                       .version = EW_CONTROL_VERSION,
                                       .type = type,
                                       .sequence = shared->sent++,
                                       .length = length};
    struct iovec parts[] = {{&header, sizeof header}, {(void *)payload, length}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = payload ? 2 : 1};
    // Small, on a socket that nobody else writes to: it goes out whole.
    if (raw3(SYS_sendmsg, control, (long)&message, MSG_NOSIGNAL) != (long)(sizeof header + length))
        raw1(SYS_exit_group, 0); // nobody is there any more
}

struct request {
    int descriptors[DESCRIPTORS_MAX];
    uint32_t descriptor_count;
    uint64_t first; // seed
    uint32_t count; // of runs of a survey; 0: one run
    char options[8192];
    char family[EW_FAMILY_PATH], given[EW_FAMILY_PATH], guide[EW_FAMILY_PATH];
};

static void receive(void *buffer, size_t size, struct request *request) {
    union {
        struct cmsghdr aligned;
        char bytes[CMSG_SPACE(DESCRIPTORS_MAX * sizeof(int))];
    } ancillary;
    for (size_t have = 0; have < size;) {
        struct iovec part = {(char *)buffer + have, size - have};
        struct msghdr message = {.msg_iov = &part,
                                 .msg_iovlen = 1,
                                 .msg_control = ancillary.bytes,
                                 .msg_controllen = sizeof ancillary.bytes};
        long got = raw3(SYS_recvmsg, control, (long)&message, MSG_CMSG_CLOEXEC);
        if (got == -EINTR)
            continue;
        if (got <= 0)
            raw1(SYS_exit_group, 0);
        have += (size_t)got;
        struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
        if (rights && rights->cmsg_type == SCM_RIGHTS) {
            size_t bytes = rights->cmsg_len - CMSG_LEN(0);
            memcpy(request->descriptors, CMSG_DATA(rights), bytes);
            request->descriptor_count = (uint32_t)(bytes / sizeof(int));
        }
    }
}

static void receive_options(uint32_t length, struct request *request) {
    if (length >= sizeof request->options)
        ew_bug("the control socket sends longer options than there can be");
    receive(request->options, length, request);
    request->options[length] = 0;
}

static void await_run(uint32_t length, struct request *request) {
    struct ew_control_run run;
    if (length < sizeof run)
        ew_bug("the control socket sends half a message");
    receive(&run, sizeof run, request);
    receive_options(length - (uint32_t)sizeof run, request);
    bool enough = stands ? !request->descriptor_count : request->descriptor_count >= 4;
    if (!enough || request->descriptor_count != run.descriptors)
        ew_bug("a run came without its descriptors");
    request->count = 0;
}

static void await_survey(uint32_t length, struct request *request) {
    struct ew_control_survey survey;
    if (length < sizeof survey)
        ew_bug("the control socket sends half a message");
    receive(&survey, sizeof survey, request);
    receive_options(length - (uint32_t)sizeof survey, request);
    if (request->descriptor_count != SURVEY_DESCRIPTORS)
        ew_bug("a survey came without its descriptors");
    request->first = survey.first;
    request->count = survey.count;
}

// Waits for a request; anything else on this socket is a bug of the other end.
static void await(struct request *request) {
    struct ew_control_header header;
    request->descriptor_count = 0;
    receive(&header, sizeof header, request);
    if (header.magic != EW_CONTROL_MAGIC || header.version != EW_CONTROL_VERSION)
        ew_bug("the control socket speaks another language");
    if (header.type == EW_MESSAGE_STOP)
        raw1(SYS_exit_group, 0);
    if (header.type == EW_MESSAGE_RUN)
        await_run(header.length, request);
    else if (header.type == EW_MESSAGE_SURVEY)
        await_survey(header.length, request);
    else
        ew_bug("the control socket asks for something that is not known");
}

static void close_all(const struct request *request) {
    for (uint32_t i = 0; i < request->descriptor_count; i++)
        raw1(SYS_close, request->descriptors[i]);
}

static void tie(void) {
    ew_signals_release();
    raw6(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0, 0);
    raw3(SYS_setpgid, 0, 0, 0);
}

// A run that is to stand still needs the socket later, and the program must not see it.
static void leave_control(void) {
    bool is_needed = options->tuning.branch.stop;
    int kept = is_needed ? (int)raw3(SYS_fcntl, control, F_DUPFD_CLOEXEC, ABOVE_THE_PROGRAM) : -1;
    raw1(SYS_close, control);
    control = kept;
}

static void become(const struct request *request) {
    static char guide[EW_FAMILY_PATH];
    tie();
    for (int i = 0; i < 3; i++)
        raw3(SYS_dup3, request->descriptors[i], i, 0);
    int guided = options->guided;
    ew_options_read(request->options, options);
    leave_control();
    // A run that is traced has the directory for it as its last descriptor.
    uint32_t traces = options->trace.directory >= 0, count = request->descriptor_count - traces;
    if (traces)
        options->trace.directory =
            (int)raw3(SYS_fcntl, request->descriptors[count], F_DUPFD_CLOEXEC, ABOVE_THE_PROGRAM);
    close_all(request);
    ew_resident_run();
    options->family = request->family;
    options->guide = guided < 0 ? NULL : strcpy(guide, request->guide);
    if (guided >= 0)
        raw1(SYS_close, guided);
    bool replays = !request->count && count == 5;
    options->given = replays ? request->given : NULL;
}

#define PATIENCE 5 // seconds that those have who are still at work
#define QUIET 5    // looks in a row: who starts a program may seem to rest for a moment

#define AT_ONCE 1000 // that have ended, before others are looked at: more may come all the time

static bool none_is_left(void) {
    long ended = 1;
    for (int i = 0; i < AT_ONCE && ended > 0; i++)
        ended = raw6(SYS_wait4, -1, 0, WNOHANG, 0, 0, 0);
    return ended == -ECHILD;
}

static long seconds(void) {
    struct timespec now;
    raw3(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&now, 0);
    return now.tv_sec;
}

// What a run left behind has become ours. Those who are at work may finish; then all are ended.
static void end_family(uint32_t pid) {
    long until = seconds() + PATIENCE;
    int quiet = 0;
    while (!none_is_left()) {
        quiet = ew_family_busy() ? 0 : quiet + 1;
        if (quiet >= QUIET || seconds() >= until) {
            raw3(SYS_kill, -(long)pid, SIGKILL, 0);
            ew_descendants_end();
        }
        raw3(SYS_poll, 0, 0, 1);
    }
}

// A run may ask to be traced by who started it (PTRACE_TRACEME), and then stops at every signal:
// it goes on with that signal, untraced.
static void let_go(uint32_t pid, uint32_t status) {
    uint32_t number = WSTOPSIG(status);
    raw6(SYS_ptrace, PTRACE_DETACH, pid, 0, number == SIGTRAP ? 0 : number, 0, 0);
}

static uint32_t wait_for(uint32_t pid, struct rusage *usage) {
    uint32_t status = 0;
    for (bool ended = false; !ended;) {
        long got = raw6(SYS_wait4, pid, (long)&status, 0, (long)usage, 0, 0);
        ended = got != -EINTR && !(got > 0 && WIFSTOPPED(status));
        if (got > 0 && !ended)
            let_go(pid, status);
    }
    end_family(pid);
    if (!stands)
        ew_resident_ran();
    return status;
}

static void tell_end(uint32_t pid) {
    struct rusage usage;
    uint32_t status = wait_for(pid, &usage);
    struct ew_control_ended ended = {
        .pid = pid,
        .status = status,
        .user = (uint64_t)(usage.ru_utime.tv_sec * 1000000 + usage.ru_utime.tv_usec),
        .system = (uint64_t)(usage.ru_stime.tv_sec * 1000000 + usage.ru_stime.tv_usec),
        .memory = (uint64_t)usage.ru_maxrss};
    send_message(EW_MESSAGE_ENDED, &ended, sizeof ended);
}

static uint32_t fork_run(void) {
    long pid = raw6(SYS_clone, SIGCHLD, 0, 0, 0, 0, 0);
    if (pid < 0)
        ew_cannot("the fork server cannot fork");
    return (uint32_t)pid;
}

// Returns true in the forked process.
static bool serve_one(void) {
    uint32_t pid = fork_run();
    if (pid == 0)
        return true;
    struct ew_control_started started = {.pid = pid};
    send_message(EW_MESSAGE_STARTED, &started, sizeof started);
    __atomic_store_n(&shared->told, pid, __ATOMIC_RELEASE);
    tell_end(pid);
    return false;
}

static bool serve_run(const struct request *request) {
    ew_family_hold(request->descriptors[3]);
    if (!serve_one())
        return false;
    become(request);
    return true;
}

// --- surveys

// What the next run reads and writes is as it was before the first.
static void rewind_all(const struct request *request) {
    ew_family_rewind();
    for (int i = 0; i < 3; i++)
        raw3(SYS_lseek, request->descriptors[i], 0, SEEK_SET);
}

// Size and hash of what was written, which is then forgotten.
static void take_output(int descriptor, uint64_t *size, uint64_t *hash) {
    EW_LARGE static uint8_t buffer[1 << 16];
    *size = *hash = 0;
    for (long got;
         (got = raw6(SYS_pread64, descriptor, (long)buffer, sizeof buffer, (long)*size, 0, 0)) > 0;
         *size += (uint64_t)got)
        *hash = ew_crc32((uint32_t)*hash, buffer, (size_t)got);
    if (*size)
        raw3(SYS_ftruncate, descriptor, 0, 0);
}

static struct ew_survey_row surveyed(const struct request *request, uint32_t pid, uint64_t seed) {
    struct rusage usage;
    struct ew_survey_row row = {.seed = seed, .status = wait_for(pid, &usage)};
    row.steps = ew_family_first()->steps;
    row.schedule = ew_family_first()->hash;
    take_output(request->descriptors[1], &row.out_size, &row.out_hash);
    take_output(request->descriptors[2], &row.err_size, &row.err_hash);
    return row;
}

static struct ew_survey_head *map_rows(const struct request *request, size_t size) {
    long address = raw6(SYS_mmap, PLACE_OF_ROWS, (long)size, PROT_READ | PROT_WRITE, MAP_SHARED,
                        request->descriptors[4], 0);
    if (address < 0 && address > -4096)
        ew_cannot("memory for the rows of a survey cannot be mapped");
    raw3(SYS_madvise, address, (long)size, MADV_DONTFORK);
    return (struct ew_survey_head *)address;
}

static bool serve_survey(const struct request *request) {
    size_t size = sizeof(struct ew_survey_head) + request->count * sizeof(struct ew_survey_row);
    struct ew_survey_head *head = map_rows(request, size);
    struct ew_survey_row *rows = (struct ew_survey_row *)(head + 1);
    ew_family_hold(request->descriptors[3]);
    for (uint32_t i = 0; i < request->count; i++) {
        rewind_all(request);
        uint32_t pid = fork_run();
        if (pid == 0) {
            become(request);
            options->seed = request->first + i;
            return true;
        }
        head->pid = pid;
        rows[i] = surveyed(request, pid, request->first + i);
        head->done = i + 1;
    }
    raw3(SYS_munmap, (long)head, (long)size, 0);
    send_message(EW_MESSAGE_SURVEYED, NULL, 0);
    return false;
}

static void say_hello(void) {
    struct ew_control_hello hello = {.pid = (uint32_t)raw1(SYS_getpid, 0), .world = 1};
    raw6(SYS_prctl, PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0, 0);
    ew_servers_add();
    ew_signals_hold(); // what was noted here would be each run's
    send_message(EW_MESSAGE_HELLO, &hello, sizeof hello);
}

EW_LARGE static struct request request;

void ew_serve(int socket, struct ew_options *own) {
    control = socket;
    options = own;
    shared = ew_shared_pages(sizeof *shared);
    ew_resident_serve();
    if (options->guided >= 0) {
        ew_guide_hold(options->guided);
        ew_family_path(request.guide, options->guided);
    }
    say_hello();
    for (;;) {
        await(&request);
        ew_family_path(request.family, request.descriptors[3]);
        ew_family_path(request.given, request.descriptors[4]);
        if ((request.count ? serve_survey : serve_run)(&request))
            return;
        close_all(&request);
    }
}

// --- in the middle of a run

// What was told at its start stays so; the rest is the copy's own.
static void begin_copy(void) {
    struct ew_options before = *options;
    tie();
    stands = false;
    ew_options_read(request.options, options);
    options->family = before.family;
    options->given = before.given;
    options->guide = before.guide;
    options->run = options->seed;
    leave_control();
    ew_copy_begins();
}

const struct ew_options *ew_serve_here(void) {
    if (control < 0)
        ew_bad_options("only a run that is served can stand still");
    const char *why = ew_copies_meet(control, options->tuning.branch.files);
    if (why)
        ew_cannot_follow(why);
    stands = true;
    // It may have been quicker than who forked it.
    while (__atomic_load_n(&shared->told, __ATOMIC_ACQUIRE) != (uint32_t)raw1(SYS_getpid, 0))
        raw1(SYS_sched_yield, 0);
    say_hello();
    do
        await(&request);
    while (!serve_one());
    begin_copy();
    return options;
}
