// SPDX-License-Identifier: Apache-2.0
// System V: the type of a message, and what is done to semaphores. POSIX: the name of a queue.
#include <sys/sem.h>
#include <sys/syscall.h>

#include "tracer.h"

enum { MOST = 64 }; // operations of one call that are noted

static void note_type(struct thread *thread) {
    int64_t type = 0;
    memory_read(thread->id, thread->call.a1, &type, sizeof type);
    thread->call.value = (uint64_t)type;
}

// Who only gives is over at once, and others go on by it.
static void note_operations(struct thread *thread) {
    struct sembuf operations[MOST];
    size_t count = thread->call.a2 < MOST ? thread->call.a2 : MOST;
    size_t length = count * sizeof *operations;
    bool gives = count > 0;
    if (memory_read(thread->id, thread->call.a1, operations, length) != (ssize_t)length)
        return;
    for (size_t i = 0; i < count; i++)
        gives &= operations[i].sem_op > 0;
    if (gives)
        thread->call.flags |= CALL_GIVES;
    thread->call.value = text_number((const char *)operations, length);
}

static void note_name(struct thread *thread) {
    char name[256];
    ssize_t length = memory_text(thread->id, thread->call.a0, name, sizeof name);
    if (length > 0)
        thread->call.value = text_number(name, (size_t)length);
}

void ipc_enter(struct thread *thread) {
    if (thread->call.number == SYS_mq_open || thread->call.number == SYS_mq_unlink)
        note_name(thread);
    else if (thread->call.number == SYS_msgsnd)
        note_type(thread);
    else if (thread->call.number == SYS_semop || thread->call.number == SYS_semtimedop)
        note_operations(thread);
}

void ipc_leave(struct thread *thread, int64_t result) {
    if (thread->call.number == SYS_msgrcv && result >= 0)
        note_type(thread);
}
