// SPDX-License-Identifier: Apache-2.0
// Threads that lock, or hand over, by what the kernel keeps for all processes: how. It is right,
// but for a store of the same value by both.
#define _GNU_SOURCE
#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <unistd.h>

enum { MESSAGES = 3, NAME = 4096 };

static const char *how;
static char name[NAME];
static int object, count, made[MESSAGES];
static volatile int used;

static void fail_unless(int condition) {
    if (!condition)
        exit(3);
}

static int is_how(const char *word) {
    return strcmp(how, word) == 0;
}

// --- locks: each thread has the file open for itself

static void operate(int file, int takes) {
    struct flock lock = {.l_type = takes ? F_WRLCK : F_UNLCK, .l_len = 1};
    struct sembuf step = {0, takes ? -1 : 1, 0};
    if (is_how("flock"))
        fail_unless(flock(file, takes ? LOCK_EX : LOCK_UN) == 0);
    else if (is_how("fcntl"))
        fail_unless(fcntl(file, F_OFD_SETLKW, &lock) == 0);
    else
        fail_unless(semop(object, &step, 1) == 0);
}

static void count_locked(int uses_first) {
    int file = open(name, O_RDWR);
    if (uses_first)
        used = 1;
    operate(file, 1);
    int seen = count;
    if (!uses_first)
        used = 1;
    sched_yield();
    count = seen + 1;
    operate(file, 0);
    close(file);
}

static void *count_outside(void *unused) {
    count_locked(1);
    return unused;
}

static void *count_within(void *unused) {
    count_locked(0);
    return unused;
}

// --- messages

struct message {
    long type;
    int number;
};

static void *give(void *unused) {
    for (int i = 0; i < MESSAGES; i++) {
        struct message message = {1, i};
        used = 1;
        made[i] = 10 + i;
        fail_unless(is_how("messages") ? msgsnd(object, &message, sizeof i, 0) == 0
                                       : mq_send(object, (const char *)&i, sizeof i, 0) == 0);
    }
    return unused;
}

static void *take(void *unused) {
    for (int i = 0; i < MESSAGES; i++) {
        struct message message = {0, -1};
        void *number = &message.number;
        used = 1;
        ssize_t got = is_how("messages") ? msgrcv(object, &message, sizeof i, 0, 0)
                                         : mq_receive(object, number, sizeof i, NULL);
        fail_unless(got == sizeof i && message.number == i && made[i] == 10 + i);
    }
    return unused;
}

static int make(void) {
    struct mq_attr room = {.mq_maxmsg = MESSAGES, .mq_msgsize = sizeof(int)};
    struct sembuf gives = {0, 1, 0};
    if (is_how("messages"))
        return msgget(IPC_PRIVATE, 0600);
    if (is_how("queue")) {
        int made_queue = mq_open("/eitherway-kernel-objects", O_CREAT | O_RDWR, 0600, &room);
        mq_unlink("/eitherway-kernel-objects");
        return made_queue;
    }
    int set = semget(IPC_PRIVATE, 1, 0600);
    return semop(set, &gives, 1) == 0 ? set : -1;
}

static void destroy(void) {
    if (is_how("messages"))
        msgctl(object, IPC_RMID, NULL);
    else if (is_how("queue"))
        mq_close(object);
    else
        semctl(object, 0, IPC_RMID);
}

int main(int arguments, char **words) {
    pthread_t threads[2];
    if (arguments != 3)
        return 64;
    how = words[2];
    snprintf(name, sizeof name, "%s/lock", words[1]);
    close(open(name, O_RDWR | O_CREAT, 0600));
    fail_unless((object = make()) >= 0);
    int hands_over = is_how("messages") || is_how("queue");
    pthread_create(&threads[0], NULL, hands_over ? give : count_within, NULL);
    pthread_create(&threads[1], NULL, hands_over ? take : count_outside, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    destroy();
    fail_unless(hands_over || count == 2);
    puts("done");
    return 0;
}
