// SPDX-License-Identifier: Apache-2.0
// Functions that POSIX or glibc calls cancellation points: a thread that is cancelled already ends
// in each, before anything is done.
#include "check.h"

#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>

static int file, ends[2], pair[2];
static void *memory;
static char path[] = "/tmp/cancel_points.XXXXXX", byte;
static sem_t one;

static void in_close(void) {
    close(file);
}
static void in_open(void) {
    open(path, O_RDONLY);
}
static void in_openat(void) {
    openat(AT_FDCWD, path, O_RDONLY);
}
static void in_creat(void) {
    creat(path, 0600);
}
static void in_fsync(void) {
    fsync(file);
}
static void in_fdatasync(void) {
    fdatasync(file);
}
static void in_msync(void) {
    msync(memory, 4096, MS_SYNC);
}
static void in_range(void) {
    sync_file_range(file, 0, 0, 0);
}
static void in_fallocate(void) {
    CHECK(fallocate(file, 0, 0, 1) == 0);
}
static void in_vmsplice(void) {
    CHECK(vmsplice(ends[1], &(struct iovec){&byte, 1}, 1, 0) == 1);
}
static void in_read(void) {
    CHECK(read(file, &byte, 1) == 1);
}
static void in_pwrite(void) {
    CHECK(pwrite(file, &byte, 1, 0) == 1);
}
static void in_writev(void) {
    CHECK(writev(file, &(struct iovec){&byte, 1}, 1) == 1);
}
static void in_send(void) {
    send(pair[0], &byte, 1, MSG_DONTWAIT);
}
static void in_accept(void) {
    accept(pair[0], NULL, NULL);
}
static void in_sem_wait(void) {
    sem_wait(&one);
}
static void in_usleep(void) {
    usleep(0);
}
static void in_waitpid(void) {
    waitpid(-1, NULL, WNOHANG);
}

static void (*const calls[])(void) = {
    in_close,  in_open,  in_openat,    in_creat,    in_fsync,  in_fdatasync,
    in_msync,  in_range, in_fallocate, in_vmsplice, in_read,   in_pwrite,
    in_writev, in_send,  in_accept,    in_sem_wait, in_usleep, in_waitpid,
};

static void *run(void *call) {
    pthread_cancel(pthread_self());
    (*(void (*const *)(void))call)();
    return NULL;
}

int main(void) {
    file = mkstemp(path);
    memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(file >= 0 && memory != MAP_FAILED && write(file, "x", 1) == 1);
    CHECK(pipe(ends) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
    CHECK(sem_init(&one, 0, 1) == 0);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        pthread_t thread;
        void *result;
        CHECK(pthread_create(&thread, NULL, run, (void *)&calls[i]) == 0);
        CHECK(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
    }
    int left;
    CHECK(sem_getvalue(&one, &left) == 0 && left == 1);
    CHECK(lseek(file, 0, SEEK_END) == 1); // and it is open still
    CHECK(unlink(path) == 0);
    return 0;
}
