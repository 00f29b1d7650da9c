// SPDX-License-Identifier: Apache-2.0
// One call, from where it begins to where it is over.
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "call_table.h"
#include "numbering.h"
#include "tracer.h"

enum { KEPT_EVERY = 256 }; // calls: what a kill can cost
enum { DATA_MAX = 1 << 16, PARTS_MAX = 64, MESSAGES_MAX = 1024 };

static uint32_t standard_output, standard_error; // objects, where they lead outside
static uint8_t data[DATA_MAX];

static size_t smaller(size_t one, size_t other) {
    return one < other ? one : other;
}

void calls_begin(void) {
    struct stat status;
    if (fstat(STDOUT_FILENO, &status) == 0)
        standard_output = object_of(&status);
    if (fstat(STDERR_FILENO, &status) == 0)
        standard_error = object_of(&status);
    end_note_number("standard_output", standard_output);
    end_note_number("standard_error", standard_error);
}

static int argument_that(const struct thread *thread, unsigned takes) {
    for (int i = 0; i < ARGUMENTS; i++)
        if (thread->shape->takes[i] == takes)
            return i;
    return -1;
}

static uint64_t *arguments(struct thread *thread) {
    return &thread->call.a0;
}

static void look_at_descriptor(struct thread *thread) {
    int which = argument_that(thread, TAKES_DESCRIPTOR);
    int second = argument_that(thread, TAKES_SECOND_DESCRIPTOR);
    if (second >= 0)
        thread->call.second =
            shared_object(thread, (int)arguments(thread)[second], &thread->second);
    if (which >= 0)
        thread->call.object = shared_object(thread, (int)arguments(thread)[which], &thread->mode);
}

void call_enter(struct thread *thread, const struct entry *entry) {
    thread->shape = call_shape_of(entry->number);
    thread->lookup_count = 0;
    thread->arrived = tick();
    thread->mode = thread->second = 0;
    thread->name = 0;
    thread->call = (struct ew_process_call){.position = UINT64_MAX,
                                            .thread = (uint32_t)thread->id,
                                            .index = thread->index,
                                            .number = (uint32_t)entry->number};
    memcpy(&thread->call.a0, entry->arguments, sizeof entry->arguments);
    if (entry->number == SYS_openat2) // how it is opened lies in memory
        memory_read(thread->id, entry->arguments[2], &thread->call.a2, sizeof thread->call.a2);
    look_at_descriptor(thread);
}

static bool never_waits(mode_t mode) {
    return S_ISREG(mode) || S_ISDIR(mode) || !mode;
}

bool call_may_wait(const struct thread *thread) {
    unsigned waits = thread->shape->waits;
    bool file = never_waits(thread->mode) && never_waits(thread->second);
    return waits == WAITS_ALWAYS || waits == WAITS_TIME || waits == WAITS_SIGNAL ||
           (waits == WAITS_STREAM && !file);
}

bool call_ends_process(const struct thread *thread) {
    return thread->call.number == SYS_exit_group;
}

bool call_waits_for_time(const struct thread *thread) {
    return thread->shape->waits == WAITS_TIME;
}

bool call_ran_out(const struct thread *thread, int64_t result) {
    switch (thread->call.number) {
    case SYS_poll:
    case SYS_ppoll:
    case SYS_select:
    case SYS_pselect6:
    case SYS_epoll_wait:
    case SYS_epoll_pwait:
    case SYS_epoll_pwait2:
        return result == 0;
    case SYS_mq_timedsend:
    case SYS_mq_timedreceive:
    case SYS_futex:
        return result == -ETIMEDOUT;
    case SYS_semtimedop:
    case SYS_rt_sigtimedwait:
        return result == -EAGAIN;
    default: // SO_RCVTIMEO
        return S_ISSOCK(thread->mode) && result == -EAGAIN;
    }
}

static bool is_output(const struct thread *thread) {
    uint32_t object = thread->call.object;
    return object && (object == standard_output || object == standard_error);
}

bool call_gives_output(const struct thread *thread) {
    return thread->where == IN_CALL && is_output(thread);
}

static bool read_message(const struct thread *thread, uint64_t which, struct mmsghdr *message) {
    uint64_t at = thread->call.a1 + which * sizeof *message;
    return memory_read(thread->id, at, message, sizeof *message) == (ssize_t)sizeof *message;
}

// Where several messages go, if it is one place.
static size_t address_of_all(const struct thread *thread, uint64_t *at) {
    struct sockaddr_un first = {0}, other;
    size_t length = 0;
    for (uint64_t i = 0; i < thread->call.a2 && i < MESSAGES_MAX; i++) {
        struct mmsghdr message;
        if (!read_message(thread, i, &message))
            return 0;
        uint64_t place = (uint64_t)(uintptr_t)message.msg_hdr.msg_name;
        size_t size = place ? message.msg_hdr.msg_namelen : 0;
        memset(&other, 0, sizeof other);
        if (size > sizeof other || memory_read(thread->id, place, &other, size) != (ssize_t)size)
            return 0;
        if (i == 0) {
            first = other;
            length = size;
            *at = place;
        } else if (size != length || memcmp(&first, &other, sizeof first) != 0) {
            return 0;
        }
    }
    return length;
}

// Where in memory the address of a call lies, and how long it is; 0: it has none.
static size_t address_at(const struct thread *thread, uint64_t *at) {
    struct msghdr message;
    switch (thread->call.number) {
    case SYS_bind:
    case SYS_connect:
        *at = thread->call.a1;
        return thread->call.a2;
    case SYS_sendto:
        *at = thread->call.a4;
        return thread->call.a4 ? thread->call.a5 : 0;
    case SYS_sendmsg:
        if (memory_read(thread->id, thread->call.a1, &message, sizeof message) !=
            (ssize_t)sizeof message)
            return 0;
        *at = (uint64_t)(uintptr_t)message.msg_name;
        return *at ? message.msg_namelen : 0;
    case SYS_sendmmsg:
        return address_of_all(thread, at);
    default:
        return 0;
    }
}

// Where a socket is or goes to: as bytes, the same for who listens and who comes.
static void take_address(struct thread *thread) {
    struct sockaddr_un address = {0}; // the longest
    uint64_t at;
    size_t length = address_at(thread, &at);
    length = length < sizeof address ? length : sizeof address;
    if (!length || memory_read(thread->id, at, &address, length) != (ssize_t)length)
        return;
    thread->call.value = text_number((const char *)&address, length);
    lookups_take_socket(thread, &address, length);
}

// Where what is meant by an offset begins; -1: it cannot be told.
static int64_t offset_of(struct thread *thread, short whence) {
    struct stat status = {0};
    uint64_t position, opened;
    if (whence == SEEK_SET)
        return 0;
    if (whence == SEEK_CUR)
        return descriptor_state(thread, (int)thread->call.a0, &position, &opened)
                   ? (int64_t)position
                   : -1;
    return object_of_descriptor(thread->id, (int)thread->call.a0, &status) ? status.st_size : -1;
}

// What is asked for, and of which bytes: in the places of the two arguments that fcntl has not.
static void take_lock(struct thread *thread) {
    struct flock lock = {0};
    memory_read(thread->id, thread->call.a2, &lock, sizeof lock);
    thread->call.value = (uint64_t)(uint16_t)lock.l_type;
    int64_t from = offset_of(thread, lock.l_whence);
    if (from < 0)
        return;
    int64_t first = from + lock.l_start, other = first + lock.l_len;
    thread->call.a3 = (uint64_t)(lock.l_len < 0 ? other : first);
    thread->call.a4 = lock.l_len == 0 ? INT64_MAX : (uint64_t)(lock.l_len < 0 ? first : other);
    thread->call.value |= LOCK_OF_BYTES;
}

void call_look(struct thread *thread) {
    uint64_t opened = 0, position;
    thread->call.flags = 0;
    bool file = S_ISREG(thread->mode) || S_ISDIR(thread->mode);
    if (file && position_matters(thread->call.number) && !thread->brief)
        descriptor_state(thread, (int)thread->call.a0, &thread->call.position, &opened);
    if (opened & O_APPEND)
        thread->call.flags |= CALL_APPENDS;
    if (thread->call.number == SYS_fcntl &&
        (thread->call.a1 == F_SETLK || thread->call.a1 == F_SETLKW ||
         thread->call.a1 == F_OFD_SETLK || thread->call.a1 == F_OFD_SETLKW))
        take_lock(thread);
    bool gives = thread->call.number == SYS_vmsplice &&
                 descriptor_state(thread, (int)thread->call.a0, &position, &opened) &&
                 (opened & O_ACCMODE) != O_RDONLY;
    if (gives || (argument_that(thread, TAKES_SECOND_DESCRIPTOR) >= 0 && never_waits(thread->mode)))
        thread->call.flags |= CALL_GIVES;
    polls_enter(thread);
    ipc_enter(thread);
    futexes_enter(thread);
    pidfds_enter(thread);
    lookups_take(thread);
    take_address(thread);
}

// ---- what it changes of what its process is known to have

static void forget_descriptors(struct thread *thread) {
    uint64_t number = thread->call.number;
    if (number == SYS_close)
        shared_closed(thread, (int)thread->call.a0);
    else if (number == SYS_dup2 || number == SYS_dup3)
        shared_closed(thread, (int)thread->call.a1);
    else if (number == SYS_close_range)
        shared_all_closed(thread);
    else if (number == SYS_chdir || number == SYS_fchdir)
        shared_directory_changed(thread);
}

// A close of what is open works, and what comes of a private mapping is the process's own matter.
// Where several threads have the descriptors, others may use the number before the close is over.
bool call_ends_for_sure(const struct thread *thread) {
    uint64_t number = thread->call.number;
    if (!thread->call.object)
        return false;
    if (number == SYS_close)
        return shared_by_one(thread);
    return number == SYS_mmap && S_ISREG(thread->mode) &&
           (thread->call.a3 & MAP_TYPE) == MAP_PRIVATE;
}

void call_wait_for(const struct thread *thread, pid_t child) {
    bool by_kind = thread->call.number == SYS_waitid;
    if (by_kind)
        stop_argument(thread->id, 0, P_PID);
    stop_argument(thread->id, by_kind, (uint64_t)child);
}

// ---- what it brought

static uint32_t new_object(struct thread *thread, int descriptor) {
    mode_t mode;
    shared_closed(thread, descriptor); // whatever it was before
    return shared_object(thread, descriptor, &mode);
}

static void take_descriptors(struct thread *thread, int64_t result) {
    int pair[2];
    uint64_t place = thread->call.number == SYS_socketpair ? thread->call.a3 : thread->call.a0;
    if (thread->shape->gives == GIVES_DESCRIPTOR && result >= 0)
        thread->call.second = new_object(thread, (int)result);
    if (thread->shape->gives == GIVES_TWO_DESCRIPTORS && result == 0 &&
        memory_read(thread->id, place, pair, sizeof pair) == (ssize_t)sizeof pair) {
        thread->call.value = (uint32_t)pair[0] | (uint64_t)(uint32_t)pair[1] << 32;
        thread->call.second = new_object(thread, pair[0]);
        thread->call.object = new_object(thread, pair[1]);
    }
}

// Also where it is named `.`, which is no entry of a directory.
static void take_watched(struct thread *thread, int64_t result) {
    char path[4096];
    struct stat status;
    if (thread->call.number != SYS_inotify_add_watch || result < 0 || !thread->call.value)
        return;
    const char *name = text_of_number((uint32_t)thread->call.value);
    int length = (int)text_length((uint32_t)thread->call.value);
    snprintf(path, sizeof path, "/proc/%d/%s/%.*s", (int)thread->id, *name == '/' ? "root" : "cwd",
             length, name);
    if (stat(path, &status) == 0)
        thread->call.second = object_of(&status);
}

// Which child it was: wait4 returns it, waitid tells it in memory.
static void take_child(struct thread *thread, int64_t result) {
    siginfo_t info;
    if (thread->call.number == SYS_waitid && result == 0 && thread->call.a2 &&
        memory_read(thread->id, thread->call.a2, &info, sizeof info) == (ssize_t)sizeof info)
        thread->call.value = (uint64_t)(unsigned)info.si_pid;
}

// How many bytes several messages had: in the place of a position, which sockets have not.
static void take_messages(struct thread *thread, int64_t result) {
    uint64_t number = thread->call.number, bytes = 0;
    struct mmsghdr message;
    if (number != SYS_sendmmsg && number != SYS_recvmmsg)
        return;
    for (int64_t i = 0; i < result && i < MESSAGES_MAX; i++)
        if (read_message(thread, (uint64_t)i, &message))
            bytes += message.msg_len;
    thread->call.position = bytes;
}

static bool reads_machine(const struct thread *thread, bool *random) {
    return thread->call.number == SYS_read && S_ISREG(thread->mode) &&
           object_is_of_machine(thread->call.object, thread->id, (int)thread->call.a0, random);
}

static bool reads_outside(const struct thread *thread) {
    bool random;
    return thread->call.number == SYS_read &&
           (S_ISCHR(thread->mode) || reads_machine(thread, &random));
}

// Where in the thread's memory the call has put what came from outside, and how much of it.
static bool filled(struct thread *thread, int64_t result, uint64_t *address, size_t *length) {
    const struct call_shape *shape = thread->shape;
    if (reads_outside(thread)) {
        *address = thread->call.a1;
        *length = result > 0 ? (size_t)result : 0;
    } else if (shape->fills >= 0) {
        *address = arguments(thread)[shape->fills];
        *length = shape->fills_bytes ? shape->fills_bytes : result > 0 ? (size_t)result : 0;
    } else {
        return false;
    }
    return *address && result >= 0;
}

// Random names must not make two branches differ: these depend on the process and its calls alone.
static void random_bytes(const struct thread *thread, uint8_t *bytes, size_t from, size_t length) {
    uint64_t key[3] = {(uint64_t)thread->id, thread->index, 0};
    for (size_t i = 0; i < length; i++) {
        key[2] = (from + i) / sizeof(uint64_t);
        bytes[i] = (uint8_t)(hash_of(key, sizeof key) >> 8 * (i % sizeof(uint64_t)));
    }
}

static void fill_with_random(struct thread *thread, uint64_t address, size_t length) {
    for (size_t from = 0, part; from < length; from += part) {
        part = smaller(length - from, DATA_MAX);
        random_bytes(thread, data, from, part);
        memory_write(thread->id, address + from, data, part);
    }
}

// Whatever gives them, they must be the same in all branches; of a name as digits.
static void make_random(struct thread *thread, uint64_t address, size_t length) {
    static const char digits[] = "0123456789abcdef";
    uint8_t bytes[64];
    bool name = false;
    if (reads_machine(thread, &name) && name && length <= sizeof bytes &&
        memory_read(thread->id, address, data, length) == (ssize_t)length) {
        random_bytes(thread, bytes, 0, length);
        for (size_t i = 0; i < length; i++)
            if (isxdigit((unsigned char)data[i]))
                data[i] = digits[bytes[i] % 16];
        memory_write(thread->id, address, data, length);
    } else if (thread->call.number == SYS_getrandom ||
               (thread->call.number == SYS_read && object_is_random(thread->call.object))) {
        fill_with_random(thread, address, length);
    }
}

// In as many parts as it needs, and in one where there is nothing.
static void log_memory(struct thread *thread, uint32_t kind, uint64_t address, size_t length) {
    size_t from = 0, part;
    do {
        part = smaller(length - from, DATA_MAX);
        if (memory_read(thread->id, address + from, data, part) != (ssize_t)part)
            return;
        log_data(kind, data, part);
        from += part;
    } while (from < length);
}

static int64_t take_input(struct thread *thread, int64_t result) {
    uint64_t address;
    size_t length, known;
    if (thread->shape->fills == -1) {
        result = thread->turn ? (int64_t)thread->turn->result : clock_seconds(result);
        stop_set_result(thread->id, result);
        if (thread->call.a0) // it is asked to be written there, too
            memory_write(thread->id, thread->call.a0, &result, sizeof result);
        return result;
    }
    if (!filled(thread, result, &address, &length))
        return result;
    if (thread->answered && !gate_is_ordered()) {
        log_data(CAME_FROM_OUTSIDE, &thread->told, sizeof thread->told);
        return result;
    }
    const void *given = thread->turn ? plan_data(thread->turn, CAME_FROM_OUTSIDE, &known) : NULL;
    if (!given && gate_is_ordered())
        make_random(thread, address, length);
    if (!given && gate_is_ordered())
        clock_put_on(thread, address);
    if (given) {
        clock_told(thread, given, known);
        length = known;
        memory_write(thread->id, address, given, length);
        stop_set_result(thread->id, (int64_t)thread->turn->result);
        result = (int64_t)thread->turn->result;
    }
    log_memory(thread, CAME_FROM_OUTSIDE, address, length);
    return result;
}

static void take_output(struct thread *thread, int64_t result) {
    if (result <= 0 || !is_output(thread))
        return;
    uint32_t kind = thread->call.object == standard_output ? STANDARD_OUTPUT : STANDARD_ERROR;
    size_t left = (size_t)result;
    if (thread->call.number == SYS_write)
        log_memory(thread, kind, thread->call.a1, left);
    if (thread->call.number != SYS_writev)
        return;
    struct iovec parts[PARTS_MAX];
    size_t count = thread->call.a2 < PARTS_MAX ? thread->call.a2 : PARTS_MAX;
    if (memory_read(thread->id, thread->call.a1, parts, count * sizeof *parts) < 0)
        return;
    for (size_t i = 0; i < count && left; i++) {
        size_t part = parts[i].iov_len < left ? parts[i].iov_len : left;
        if (part)
            log_memory(thread, kind, (uint64_t)(uintptr_t)parts[i].iov_base, part);
        left -= part;
    }
}

static void write_down(struct thread *thread) {
    static uint32_t since;
    thread->call.left = tick();
    log_call(thread);
    if (++since % KEPT_EVERY == 0)
        log_keep();
    thread->index++;
    thread->turn = NULL;
}

void call_leave(struct thread *thread, int64_t result) {
    if (thread->turn &&
        thread->turn->flags & TURN_WAITS_FOR) { // the program's registers are its own
        stop_argument(thread->id, 0, thread->call.a0);
        stop_argument(thread->id, 1, thread->call.a1);
    }
    forget_descriptors(thread);
    take_descriptors(thread, result);
    take_child(thread, result);
    take_watched(thread, result);
    take_messages(thread, result);
    polls_leave(thread, result);
    ipc_leave(thread, result);
    ports_leave(thread, result);
    file_times_leave(thread, result);
    result = take_input(thread, result);
    take_output(thread, result);
    thread->call.result = (uint64_t)result;
    signals_after(thread, result);
    write_down(thread);
}

// Others may have to know how these end, or what they bring.
static bool is_awaited(const struct thread *thread) {
    const struct call_shape *shape = thread->shape;
    return call_may_wait(thread) || is_output(thread) || reads_outside(thread) ||
           S_ISCHR(thread->mode) || shape->fills != FILLS_NOTHING ||
           shape->gives == GIVES_PROCESS || shape->gives == GIVES_TWO_DESCRIPTORS ||
           signals_sends(thread->call.number) || file_times_matter(thread) ||
           thread->call.number == SYS_bind || thread->call.number == SYS_execve ||
           thread->call.number == SYS_execveat || thread->call.number == SYS_exit ||
           thread->call.number == SYS_exit_group;
}

bool call_pass(struct thread *thread) {
    if (is_awaited(thread))
        return false;
    forget_descriptors(thread);
    thread->call.flags |= CALL_NOT_SEEN_TO_END;
    thread->call.result = thread->turn->result;
    write_down(thread);
    return true;
}

void call_cut_off(struct thread *thread) {
    if (thread->where != IN_CALL)
        return; // a call that was held has not begun
    thread->call.flags |= CALL_NEVER_RETURNED;
    if (call_waits_for_time(thread))
        thread->call.result = -EINTR; // in a replay it is not skipped either
    write_down(thread);
}
