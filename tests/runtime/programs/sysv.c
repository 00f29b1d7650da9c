// SPDX-License-Identifier: Apache-2.0
// replayed
// Semaphores, messages and shared memory of System V, between threads and between processes.
#include "check.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <time.h>

static int semaphores, memory, messages;

static int change(int number, int by, int flags) {
    struct sembuf operation = {(unsigned short)number, (short)by, (short)flags};
    return semop(semaphores, &operation, 1);
}

// --- semaphores

static void *give(void *unused) {
    (void)unused;
    CHECK(change(0, 2, 0) == 0);
    return NULL;
}

static void among_threads(void) {
    pthread_t thread;
    unsigned short all[2] = {9, 9};
    struct semid_ds status;
    struct timespec limit = {0, 1000000}, wrong = {0, -1};
    struct sembuf one = {0, -1, 0}, both[2] = {{0, -1, 0}, {1, 0, 0}}, none = {5, -1, 0};
    CHECK(change(0, -1, IPC_NOWAIT) == -1 && errno == EAGAIN);
    CHECK(semtimedop(semaphores, &one, 1, &limit) == -1 && errno == EAGAIN);
    CHECK(semtimedop(semaphores, &one, 1, &wrong) == -1 && errno == EINVAL);
    CHECK(semop(semaphores, &none, 1) == -1 && errno == EFBIG);
    CHECK(pthread_create(&thread, NULL, give, NULL) == 0);
    CHECK(semop(semaphores, both, 2) == 0);
    CHECK(change(0, -1, 0) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(semctl(semaphores, 0, GETVAL) == 0);
    CHECK(semctl(semaphores, 1, SETVAL, 3) == 0);
    CHECK(semctl(semaphores, 0, GETALL, all) == 0 && all[0] == 0 && all[1] == 3);
    CHECK(semctl(semaphores, 0, IPC_STAT, &status) == 0 && status.sem_nsems == 2);
    CHECK(semctl(semaphores, 1, SETVAL, 0) == 0);
}

static volatile sig_atomic_t handled;

static void note(int number) {
    handled = number;
}

static pthread_t waiter;

static void *interrupt(void *unused) {
    (void)unused;
    while (!handled) {
        CHECK(pthread_kill(waiter, SIGUSR1) == 0);
        sched_yield();
    }
    return NULL;
}

// Even a handler with SA_RESTART ends the wait.
static void interrupted(void) {
    pthread_t thread;
    struct sigaction action = {.sa_handler = note, .sa_flags = SA_RESTART};
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    waiter = pthread_self();
    CHECK(pthread_create(&thread, NULL, interrupt, NULL) == 0);
    if (!handled)
        change(0, -1, IPC_NOWAIT);
    CHECK(pthread_join(thread, NULL) == 0 && handled == SIGUSR1);
}

// --- between processes: what is in the memory is ordered by the semaphore

static void add(int *count) {
    for (int i = 0; i < 5; i++) {
        CHECK(change(1, -1, SEM_UNDO) == 0);
        ++*count;
        CHECK(change(1, 1, SEM_UNDO) == 0);
    }
}

static void among_processes(void) {
    struct shmid_ds status;
    int result;
    int *count = shmat(memory, NULL, 0);
    CHECK(count != (void *)-1);
    CHECK(semctl(semaphores, 1, SETVAL, 1) == 0);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        add(count);
        _exit(0);
    }
    add(count);
    CHECK(waitpid(child, &result, 0) == child && result == 0);
    CHECK(*count == 10);
    CHECK(shmctl(memory, IPC_STAT, &status) == 0 && status.shm_nattch == 1);
    CHECK(shmdt(count) == 0);
    CHECK(shmat(-1, NULL, 0) == (void *)-1 && errno == EINVAL);
}

// --- messages

struct message {
    long type;
    char text[16];
};

static void *send_all(void *unused) {
    (void)unused;
    for (long i = 1; i <= 3; i++) {
        struct message message = {i, ""};
        snprintf(message.text, sizeof message.text, "number %ld", i);
        CHECK(msgsnd(messages, &message, sizeof message.text, 0) == 0);
    }
    return NULL;
}

static void passes_messages(void) {
    pthread_t thread;
    struct message message;
    struct msqid_ds status;
    const size_t size = sizeof message.text;
    CHECK(msgrcv(messages, &message, size, 0, IPC_NOWAIT) == -1 && errno == ENOMSG);
    CHECK(pthread_create(&thread, NULL, send_all, NULL) == 0);
    CHECK(msgrcv(messages, &message, size, 3, 0) == (ssize_t)size);
    CHECK(message.type == 3 && strcmp(message.text, "number 3") == 0);
    CHECK(msgrcv(messages, &message, size, 0, 0) == (ssize_t)size && message.type == 1);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(msgctl(messages, IPC_STAT, &status) == 0 && status.msg_qnum == 1);
    CHECK(msgrcv(messages, &message, 3, 0, 0) == -1 && errno == E2BIG);
    CHECK(msgrcv(messages, &message, 3, 0, MSG_NOERROR) == 3);
    message.type = 0;
    CHECK(msgsnd(messages, &message, size, 0) == -1 && errno == EINVAL);
}

int main(void) {
    semaphores = semget(IPC_PRIVATE, 2, 0600);
    memory = shmget(IPC_PRIVATE, 4096, 0600);
    messages = msgget(IPC_PRIVATE, 0600);
    CHECK(semaphores >= 0 && memory >= 0 && messages >= 0);
    among_threads();
    interrupted();
    among_processes();
    passes_messages();
    CHECK(semctl(semaphores, 0, IPC_RMID) == 0);
    CHECK(shmctl(memory, IPC_RMID, NULL) == 0);
    CHECK(msgctl(messages, IPC_RMID, NULL) == 0);
    CHECK(change(0, -1, 0) == -1 && (errno == EINVAL || errno == EIDRM));
    printf("%d %d %d\n", semaphores, memory, messages);
    return 0;
}
