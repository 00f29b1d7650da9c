// SPDX-License-Identifier: Apache-2.0
// replayed
// Data that moves between descriptors, through FIFOs and through message queues; locks on files.
#include "check.h"
#include "moment.h"

#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>

#define SIZE 150000

static char folder[64], *data;
static int ends[2];

static char *path_of(const char *name) {
    static char path[96];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static int make_file(void) {
    int fd = open(path_of("file"), O_RDWR | O_CREAT | O_TRUNC, 0600);
    CHECK(fd >= 0 && write(fd, data, SIZE) == SIZE && lseek(fd, 0, SEEK_SET) == 0);
    return fd;
}

static void *drain(void *descriptor) {
    char part[5000];
    size_t have = 0;
    ssize_t got;
    while (have < SIZE && (got = read(*(int *)descriptor, part, sizeof part)) > 0) {
        CHECK(memcmp(part, data + have, (size_t)got) == 0);
        have += (size_t)got;
    }
    CHECK(have == SIZE);
    return NULL;
}

// --- from a file

static void sends_files(void) {
    pthread_t thread;
    off_t offset = 0;
    int file = make_file();
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    CHECK(pthread_create(&thread, NULL, drain, &ends[1]) == 0);
    CHECK(sendfile(ends[0], file, &offset, 100000) == 100000 && offset == 100000);
    CHECK(lseek(file, 0, SEEK_CUR) == 0);
    CHECK(lseek(file, offset, SEEK_SET) == offset);
    CHECK(sendfile(ends[0], file, NULL, SIZE) == SIZE - 100000); // up to its end
    CHECK(lseek(file, 0, SEEK_CUR) == SIZE);
    CHECK(sendfile(ends[0], file, NULL, 1) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(sendfile(ends[0], -1, NULL, 1) == -1 && errno == EBADF);
    close(ends[0]);
    close(ends[1]);
    int copy = open(path_of("copy"), O_RDWR | O_CREAT | O_TRUNC, 0600);
    off64_t from = 10, to = 0;
    CHECK(copy_file_range(file, &from, copy, &to, 20, 0) == 20 && from == 30 && to == 20);
    char text[20];
    CHECK(pread(copy, text, 20, 0) == 20 && memcmp(text, data + 10, 20) == 0);
    struct iovec parts[2] = {{"ab", 2}, {"cd", 2}}, into[2] = {{text, 1}, {text + 1, 3}};
    CHECK(pwritev(copy, parts, 2, 5) == 4 && preadv2(copy, into, 2, 5, 0) == 4);
    CHECK(memcmp(text, "abcd", 4) == 0);
    CHECK(pwrite(copy, "x", 1, -1) == -1 && errno == EINVAL);
    close(copy);
    close(file);
}

// --- through pipes

static void *splice_all(void *descriptor) {
    off64_t offset = 0;
    while (offset < SIZE)
        CHECK(splice(*(int *)descriptor, &offset, ends[1], NULL, (size_t)(SIZE - offset), 0) > 0);
    return NULL;
}

static void splices(void) {
    pthread_t thread;
    int file = make_file(), other[2];
    char text[8] = "";
    CHECK(pipe(ends) == 0 && pipe(other) == 0);
    CHECK(pthread_create(&thread, NULL, splice_all, &file) == 0);
    drain(&ends[0]);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(splice(ends[0], NULL, other[1], NULL, 5, SPLICE_F_NONBLOCK) == -1 && errno == EAGAIN);
    CHECK(splice(file, NULL, file, NULL, 5, 0) == -1 && errno == EINVAL);
    CHECK(splice(ends[0], &(off64_t){0}, other[1], NULL, 5, 0) == -1 && errno == ESPIPE);
    struct iovec parts[2] = {{"hel", 3}, {"lo", 2}};
    CHECK(vmsplice(ends[1], parts, 2, 0) == 5);
    CHECK(tee(ends[0], other[1], 5, 0) == 5);
    CHECK(read(ends[0], text, 8) == 5 && memcmp(text, "hello", 5) == 0);
    CHECK(read(other[0], text, 8) == 5 && memcmp(text, "hello", 5) == 0);
    CHECK(tee(ends[0], other[1], 5, SPLICE_F_NONBLOCK) == -1 && errno == EAGAIN);
    CHECK(tee(file, other[1], 5, 0) == -1 && errno == EINVAL);
    for (int i = 0; i < 2; i++) {
        close(ends[i]);
        close(other[i]);
    }
    close(file);
}

// --- FIFOs

static void *write_to_fifo(void *unused) {
    (void)unused;
    int fd = open(path_of("fifo"), O_WRONLY);
    CHECK(fd >= 0 && !(fcntl(fd, F_GETFL) & O_NONBLOCK) && write(fd, "first", 5) == 5);
    close(fd);
    return NULL;
}

static void *read_from_fifo(void *unused) {
    (void)unused;
    char text[8] = "";
    FILE *stream = fopen(path_of("fifo"), "r");
    CHECK(stream && fgets(text, 7, stream) && strcmp(text, "second") == 0);
    fclose(stream);
    return NULL;
}

static void fifos(void) {
    pthread_t thread;
    char text[8] = "";
    CHECK(mkfifo(path_of("fifo"), 0600) == 0);
    CHECK(open(path_of("fifo"), O_WRONLY | O_NONBLOCK) == -1 && errno == ENXIO);
    CHECK(pthread_create(&thread, NULL, write_to_fifo, NULL) == 0);
    int fd = open(path_of("fifo"), O_RDONLY | O_CLOEXEC);
    CHECK(fd >= 0 && fcntl(fd, F_GETFD) == FD_CLOEXEC);
    CHECK(read(fd, text, 8) == 5 && memcmp(text, "first", 5) == 0 && read(fd, text, 8) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    close(fd);
    CHECK(pthread_create(&thread, NULL, read_from_fifo, NULL) == 0);
    fd = open(path_of("fifo"), O_WRONLY);
    CHECK(fd >= 0 && write(fd, "second", 6) == 6);
    close(fd);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(open(path_of("none"), O_RDONLY) == -1 && errno == ENOENT);
    CHECK(unlink(path_of("fifo")) == 0);
}

// --- message queues

static mqd_t queue;

static void *send_messages(void *unused) {
    (void)unused;
    for (int i = 0; i < 4; i++) // one more than there is room for
        CHECK(mq_send(queue, &"abcd"[i], 1, (unsigned)i) == 0);
    return NULL;
}

static void queues(void) {
    struct mq_attr wanted = {.mq_maxmsg = 3, .mq_msgsize = 8}, seen;
    char name[32], text[8];
    unsigned priority;
    pthread_t thread;
    snprintf(name, sizeof name, "/moving_data.%d", (int)getpid());
    queue = mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0600, &wanted);
    if (queue == (mqd_t)-1 && (errno == ENOSYS || errno == EACCES))
        return; // a kernel or a container without them
    CHECK(queue != (mqd_t)-1);
    struct timespec when = soon(CLOCK_REALTIME), wrong = {0, -1};
    CHECK(mq_timedreceive(queue, text, 8, NULL, &when) == -1 && errno == ETIMEDOUT);
    CHECK(mq_timedreceive(queue, text, 8, NULL, &wrong) == -1 && errno == EINVAL);
    CHECK(mq_receive(queue, text, 1, NULL) == -1 && errno == EMSGSIZE);
    CHECK(pthread_create(&thread, NULL, send_messages, NULL) == 0);
    int sum = 0;
    for (int i = 0; i < 4; i++) {
        CHECK(mq_receive(queue, text, 8, &priority) == 1);
        CHECK(text[0] == "abcd"[priority]);
        sum += text[0];
    }
    CHECK(sum == 'a' + 'b' + 'c' + 'd');
    CHECK(pthread_join(thread, NULL) == 0);
    for (int i = 0; i < 3; i++)
        CHECK(mq_send(queue, "x", 1, 0) == 0);
    when = soon(CLOCK_REALTIME);
    CHECK(mq_timedsend(queue, "x", 1, 0, &when) == -1 && errno == ETIMEDOUT);
    CHECK(mq_getattr(queue, &seen) == 0 && seen.mq_curmsgs == 3);
    CHECK(mq_setattr(queue, &(struct mq_attr){.mq_flags = O_NONBLOCK}, NULL) == 0);
    CHECK(mq_send(queue, "x", 1, 0) == -1 && errno == EAGAIN);
    CHECK(mq_close(queue) == 0 && mq_unlink(name) == 0);
    CHECK(mq_send(queue, "x", 1, 0) == -1 && errno == EBADF);
}

// --- locks on files

static void *take_lock(void *descriptor) {
    CHECK(flock(*(int *)descriptor, LOCK_EX) == 0);
    CHECK(flock(*(int *)descriptor, LOCK_UN) == 0);
    return NULL;
}

static void *take_range(void *descriptor) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 5};
    CHECK(fcntl(*(int *)descriptor, F_OFD_SETLKW, &lock) == 0);
    return NULL;
}

static void locks(void) {
    pthread_t thread;
    int one = make_file(), other = open(path_of("file"), O_RDWR);
    CHECK(flock(one, LOCK_EX) == 0);
    CHECK(flock(other, LOCK_EX | LOCK_NB) == -1 && errno == EWOULDBLOCK);
    CHECK(pthread_create(&thread, NULL, take_lock, &other) == 0);
    CHECK(flock(one, LOCK_UN) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 5};
    CHECK(fcntl(one, F_OFD_SETLK, &lock) == 0);
    CHECK(fcntl(other, F_OFD_SETLK, &lock) == -1 && (errno == EAGAIN || errno == EACCES));
    CHECK(pthread_create(&thread, NULL, take_range, &other) == 0);
    close(one); // gives it back
    CHECK(pthread_join(thread, NULL) == 0);
    lock.l_type = F_UNLCK;
    CHECK(fcntl(other, F_OFD_SETLK, &lock) == 0);
    CHECK(lockf(other, F_TLOCK, 10) == 0 && lockf(other, F_TEST, 10) == 0);
    CHECK(lockf(other, F_ULOCK, 10) == 0 && lockf(other, 77, 10) == -1 && errno == EINVAL);
    CHECK(flock(-1, LOCK_EX) == -1 && errno == EBADF);
    close(other);
}

// --- what the kernel tells through descriptors

static void told(void) {
    char text[4096];
    int watch = inotify_init1(IN_NONBLOCK), number;
    CHECK(inotify_add_watch(watch, folder, IN_CREATE) >= 0);
    CHECK(read(watch, text, sizeof text) == -1 && errno == EAGAIN);
    close(open(path_of("new"), O_CREAT | O_WRONLY, 0600));
    CHECK(read(watch, text, sizeof text) > 0);
    CHECK(strcmp(((struct inotify_event *)text)->name, "new") == 0);
    close(watch);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    CHECK(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
    int signals = signalfd(-1, &set, 0);
    CHECK(kill(getpid(), SIGUSR2) == 0);
    struct signalfd_siginfo info;
    CHECK(read(signals, &info, sizeof info) == sizeof info && info.ssi_signo == SIGUSR2);
    close(signals);
    FILE *stream = fopen("/proc/self/stat", "r");
    CHECK(stream && fscanf(stream, "%d", &number) == 1 && number == getpid());
    fclose(stream);
}

static void randoms(void) {
    unsigned char bytes[8], more[8];
    CHECK(getrandom(bytes, 8, 0) == 8 && getentropy(more, 8) == 0);
    CHECK(memcmp(bytes, more, 8) != 0);
    static unsigned char many[300];
    CHECK(getentropy(many, 257) == -1 && errno == EIO);
    int fd = open("/dev/urandom", O_RDONLY);
    CHECK(read(fd, more, 8) == 8 && memcmp(bytes, more, 8) != 0);
    close(fd);
    CHECK(getrandom(bytes, 8, 0xFFFF) == -1 && errno == EINVAL);
    for (int i = 0; i < 8; i++)
        printf("%02x", more[i]); // the same in a replay
    printf("\n");
}

static void clean(void) {
    const char *names[] = {"file", "copy", "new"};
    for (int i = 0; i < 3; i++)
        CHECK(unlink(path_of(names[i])) == 0);
    CHECK(rmdir(folder) == 0);
}

int main(void) {
    data = malloc(SIZE);
    for (int i = 0; i < SIZE; i++)
        data[i] = (char)(i * 13 + i / 500);
    unsigned long number;
    CHECK(getrandom(&number, sizeof number, 0) == sizeof number);
    snprintf(folder, sizeof folder, "/tmp/moving_%016lx", number);
    CHECK(mkdir(folder, 0700) == 0);
    sends_files();
    splices();
    fifos();
    queues();
    locks();
    told();
    randoms();
    clean();
    free(data);
    return 0;
}
