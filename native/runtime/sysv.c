// SPDX-License-Identifier: Apache-2.0
// Semaphores, message queues and shared memory of System V: other threads run while one waits.
//
// Their numbers are the kernel's and other ones in every run, so a replay is told those of the
// recording. Semaphores and memory are really there in a replay too, because they order and hold
// what several processes do; of messages the recording knows all.
#include "asks.h"
#include "channels.h"
#include "input.h"
#include "sync.h"
#include "threads.h"
#include "transfer.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>

// --- numbers

enum kind { SEMAPHORES, MEMORY };

static struct pair {
    enum kind kind;
    int told, real;
} *pairs;
static uint32_t pair_count;
#define PAIRS 65536 // reserved, not used

static void remember(enum kind kind, int told, int real) {
    if (!pairs)
        pairs = ew_pages(PAIRS * sizeof *pairs);
    if (pair_count == PAIRS)
        ew_cannot("a replay with more than 65,536 objects of System V");
    pairs[pair_count++] = (struct pair){kind, told, real};
}

static int real_of(enum kind kind, int told) {
    for (uint32_t i = pair_count; i-- > 0;)
        if (pairs[i].kind == kind && pairs[i].told == told)
            return pairs[i].real;
    return told;
}

// An object that is made, or found, in every run.
static int named(enum kind kind, long real) {
    long told = real;
    ew_input(EW_INPUT_RESULT, &told, sizeof told, sizeof told);
    if (told >= 0 && real >= 0 && told != real)
        remember(kind, (int)told, (int)real);
    return (int)ew_result(told);
}

EW_EXPORT int semget(key_t key, int count, int flags) {
    return named(SEMAPHORES, raw3(SYS_semget, key, count, flags));
}

EW_EXPORT int shmget(key_t key, size_t size, int flags) {
    return named(MEMORY, raw3(SYS_shmget, key, (long)size, flags));
}

EW_EXPORT int msgget(key_t key, int flags) {
    return (int)ew_result(ew_input_call(SYS_msgget, key, flags, 0, 0, 0, 0));
}

// --- waiting

typedef long attempt_function(void *argument);

// Attempts that do not wait, until one does something; `full` is the error that means: not yet.
static long until_done(attempt_function *attempt, void *argument, long full, int64_t deadline,
                       bool waits) {
    enum ew_woken woken = EW_WOKEN;
    ew_self->life.interrupted = EW_UNDISTURBED;
    for (;;) {
        long done = attempt(argument);
        if (done != full || !waits)
            return done;
        if (woken == EW_TIMED_OUT)
            return -EAGAIN;
        woken = ew_wait_elsewhere(deadline);
        ew_testcancel();
        if (ew_interrupted(true)) // never begun again: signal(7)
            return -EINTR;
    }
}

// --- semaphores

#define OPERATIONS 500 // SEMOPM

struct operation {
    int id;
    struct sembuf now[OPERATIONS]; // as asked for, but not waiting
    size_t count;
    long error;
};

static bool operate(void *argument) {
    struct operation *operation = argument;
    operation->error = raw3(SYS_semop, real_of(SEMAPHORES, operation->id), (long)operation->now,
                            (long)operation->count);
    return operation->error == 0;
}

static long attempt_operation(void *argument) {
    struct operation *operation = argument;
    if (ew_try_elsewhere(operate, operation))
        return 0;
    struct ew_file_told told = {.ask = ew_ask(SYS_semop, operation->id, 0, NULL),
                                .is_file = true,
                                .result = operation->error};
    return ew_input_of_file(&told);
}

static bool gives(const struct operation *operation) {
    bool any = false;
    for (size_t i = 0; i < operation->count; i++)
        any |= operation->now[i].sem_op > 0;
    return any;
}

static long run(struct operation *operation, int64_t deadline, bool waits, const void *pc) {
    if (gives(operation))
        ew_common_put(EW_SEMAPHORE_SETS, pc);
    ew_testcancel();
    ew_point(EW_WHY_SYNC);
    long error = until_done(attempt_operation, operation, -EAGAIN, deadline, waits);
    if (error == 0)
        ew_common_took(EW_SEMAPHORE_SETS, pc);
    return error;
}

EW_EXPORT int semtimedop(int id, struct sembuf *operations, size_t count,
                         const struct timespec *limit) {
    struct operation operation = {.id = id, .count = count};
    if (count > OPERATIONS)
        return (int)ew_result(-E2BIG);
    if (limit && !ew_is_length(limit))
        return (int)ew_result(-EINVAL);
    bool waits = false;
    memcpy(operation.now, operations, count * sizeof *operations);
    for (size_t i = 0; i < count; i++) {
        waits |= !(operations[i].sem_flg & IPC_NOWAIT);
        operation.now[i].sem_flg |= IPC_NOWAIT;
    }
    int64_t deadline = limit ? ew_deadline_in(ew_nanoseconds(limit)) : EW_NEVER;
    return (int)ew_result(run(&operation, deadline, waits, PC));
}

EW_EXPORT int semop(int id, struct sembuf *operations, size_t count) {
    return semtimedop(id, operations, count, NULL);
}

// How much a command writes: the status of one object, or what the kernel tells of all. MSG_, SHM_
// and SEM_STAT and _INFO have numbers of their own.
static size_t told_by(int command, int stat, int info, size_t of_one, size_t of_all) {
    if (command == IPC_STAT || command == stat)
        return of_one;
    return command == IPC_INFO || command == info ? of_all : 0;
}

static size_t all_of(int id) {
    struct semid_ds status;
    if (raw6(SYS_semctl, real_of(SEMAPHORES, id), 0, IPC_STAT, (long)&status, 0, 0) < 0)
        return 0;
    return status.sem_nsems * sizeof(unsigned short);
}

static int told(long result, void *buffer, size_t size) {
    ew_input(EW_INPUT_RESULT, &result, sizeof result, sizeof result);
    if (result >= 0 && size)
        ew_input(EW_INPUT_DATA, buffer, size, size);
    return (int)ew_result(result);
}

// What tells one number of a set, or changes it: not who did so last, of which the number is
// another in each run.
static bool is_plain(int command) {
    return command == GETVAL || command == SETVAL || command == SETALL || command == GETNCNT ||
           command == GETZCNT || command == IPC_RMID;
}

static int told_of_set(int id, long result) {
    struct ew_file_told told = {.ask = ew_ask(SYS_semctl, id, 0, NULL),
                                .is_file = true,
                                .result = result < 0 ? result : 0,
                                .data = &result,
                                .size = sizeof result,
                                .room = sizeof result};
    long error = ew_input_of_file(&told);
    return (int)ew_result(error < 0 ? error : result);
}

EW_EXPORT int semctl(int id, int number, int command, ...) {
    va_list rest;
    va_start(rest, command);
    long argument = va_arg(rest, long);
    va_end(rest);
    ew_point(EW_WHY_SYNC);
    size_t size = command == GETALL ? all_of(id)
                                    : told_by(command, SEM_STAT, SEM_INFO, sizeof(struct semid_ds),
                                              sizeof(struct seminfo));
    long result = raw6(SYS_semctl, real_of(SEMAPHORES, id), number, command, argument, 0, 0);
    return is_plain(command) ? told_of_set(id, result) : told(result, (void *)argument, size);
}

// --- memory

EW_EXPORT void *shmat(int id, const void *address, int flags) {
    ew_report("shmat", "what other processes write there is not recorded");
    return (void *)ew_result(raw3(SYS_shmat, real_of(MEMORY, id), (long)address, flags));
}

EW_EXPORT int shmctl(int id, int command, struct shmid_ds *buffer) {
    ew_point(EW_WHY_SYNC);
    size_t info = command == IPC_INFO ? sizeof(struct shminfo) : sizeof(struct shm_info);
    long result = raw3(SYS_shmctl, real_of(MEMORY, id), command, (long)buffer);
    return told(result, buffer, told_by(command, SHM_STAT, SHM_INFO, sizeof *buffer, info));
}

// --- messages

struct message {
    long number;
    int id, flags;
    void *data;
    size_t size;
    long type;
};

static long attempt_message(void *argument) {
    struct message *message = argument;
    bool receives = message->number == SYS_msgrcv;
    int flags = message->flags | IPC_NOWAIT;
    long done = ew_input_call(message->number, message->id, (long)message->data,
                              (long)message->size, receives ? message->type : flags, flags, 0);
    if (receives && done >= 0)
        ew_input(EW_INPUT_DATA, message->data, sizeof(long) + (size_t)done,
                 sizeof(long) + message->size);
    return done;
}

static long pass_on(struct message *message, long full) {
    ew_testcancel();
    ew_point_asking(-1);
    return until_done(attempt_message, message, full, EW_NEVER, !(message->flags & IPC_NOWAIT));
}

EW_EXPORT int msgsnd(int id, const void *data, size_t size, int flags) {
    struct message message = {SYS_msgsnd, id, flags, (void *)data, size, 0};
    ew_common_put(EW_MESSAGE_QUEUES, PC);
    return (int)ew_result(pass_on(&message, -EAGAIN));
}

EW_EXPORT ssize_t msgrcv(int id, void *data, size_t size, long type, int flags) {
    struct message message = {SYS_msgrcv, id, flags, data, size, type};
    long got = pass_on(&message, -ENOMSG);
    if (got >= 0)
        ew_common_took(EW_MESSAGE_QUEUES, PC);
    return ew_result(got);
}

EW_EXPORT int msgctl(int id, int command, struct msqid_ds *buffer) {
    ew_point(EW_WHY_SYNC);
    size_t size = told_by(command, MSG_STAT, MSG_INFO, sizeof *buffer, sizeof(struct msginfo));
    long result = ew_input_call(SYS_msgctl, id, command, (long)buffer, 0, 0, 0);
    if (result >= 0 && size)
        ew_input(EW_INPUT_DATA, buffer, size, size);
    return (int)ew_result(result);
}
