// SPDX-License-Identifier: Apache-2.0
// One way to race for each argument.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t came;

static void on_signal(int number) {
    (void)number;
    came = 1;
}

static int ended(void) {
    int status;
    wait(&status);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

// The child may be killed before it says what to do with the signal, and may wait for it too late.
static int signalled(void) {
    struct sigaction action = {.sa_handler = on_signal};
    pid_t child = fork();
    if (child == 0) {
        sigaction(SIGUSR1, &action, NULL);
        if (!came)
            pause();
        _exit(0);
    }
    kill(child, SIGUSR1);
    return ended();
}

// The signal is blocked until it is waited for, and what is done with it is said before the fork.
static int signalled_well(void) {
    struct sigaction action = {.sa_handler = on_signal};
    sigset_t blocked, before;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    sigprocmask(SIG_BLOCK, &blocked, &before);
    sigaction(SIGUSR1, &action, NULL);
    pid_t child = fork();
    if (child == 0) {
        while (!came)
            sigsuspend(&before);
        _exit(0);
    }
    kill(child, SIGUSR1);
    return ended();
}

// Two write to one pipe: who is first?
static int writers(void) {
    int ends[2];
    char first = 0;
    if (pipe(ends) < 0)
        return 1;
    for (const char *name = "ab"; *name; name++)
        if (fork() == 0)
            _exit(write(ends[1], name, 1) != 1);
    ended();
    ended();
    return read(ends[0], &first, 1) != 1 || first != 'a';
}

// Two read from one pipe: who gets what?
static int readers(void) {
    int ends[2], codes = 0;
    if (pipe(ends) < 0 || write(ends[1], "ab", 2) != 2)
        return 1;
    for (char wanted = 'a'; wanted <= 'b'; wanted++)
        if (fork() == 0) {
            char got = 0;
            _exit(read(ends[0], &got, 1) != 1 || got != wanted);
        }
    codes += ended();
    codes += ended();
    return codes;
}

// Two come to it; who is the first?
static int first_at(int listener, const struct sockaddr *address, socklen_t length) {
    char first = 0;
    for (const char *name = "ab"; *name; name++)
        if (fork() == 0) {
            int end = socket(address->sa_family, SOCK_STREAM, 0);
            if (connect(end, address, length) < 0)
                _exit(1);
            _exit(send(end, name, 1, 0) != 1);
        }
    int end = accept(listener, NULL, NULL);
    if (recv(end, &first, 1, 0) != 1)
        return 1;
    ended();
    ended();
    return first != 'a';
}

static int comers(void) {
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "s"};
    int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) < 0 || listen(listener, 2) < 0)
        return 1;
    return first_at(listener, (struct sockaddr *)&address, sizeof address);
}

// The same at a port that the kernel chooses: once in each run, of the same number in all.
static int ports(void) {
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t length = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&address, length) < 0 || address.sin_port != 0 ||
        listen(listener, 2) < 0 || getsockname(listener, (struct sockaddr *)&address, &length) < 0)
        return 1;
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);
    return first_at(listener, (struct sockaddr *)&address, length);
}

// Two are waited for together; the second alone may be ready.
static int ready_alone(bool by_epoll) {
    int ends[2][2], set = epoll_create1(0), timeout = -1;
    struct pollfd polled[2];
    struct epoll_event event = {.events = EPOLLIN};
    for (int i = 0; i < 2; i++) {
        if (pipe(ends[i]) < 0)
            return 2;
        polled[i] = (struct pollfd){.fd = ends[i][0], .events = POLLIN};
        event.data.fd = ends[i][0];
        if (epoll_ctl(set, EPOLL_CTL_ADD, ends[i][0], &event) < 0)
            return 2;
    }
    for (int i = 0; i < 2; i++)
        if (fork() == 0)
            _exit(write(ends[i][1], "x", 1) != 1);
    struct epoll_event found[2];
    int count = by_epoll ? epoll_wait(set, found, 2, timeout) : poll(polled, 2, timeout);
    bool alone =
        by_epoll ? count == 1 && found[0].data.fd == ends[1][0] : count == 1 && polled[1].revents;
    ended();
    ended();
    return alone;
}

// What goes through a socket or an eventfd puts two uses of a file in order.
static int told(int by_socket) {
    int ends[2];
    uint64_t one = 1;
    char byte;
    if (by_socket ? socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0 : (ends[0] = eventfd(0, 0)) < 0)
        return 1;
    if (fork() == 0) {
        close(open("f", O_CREAT | O_WRONLY, 0600));
        _exit(by_socket ? send(ends[0], "x", 1, 0) != 1 : write(ends[0], &one, 8) != 8);
    }
    if (by_socket ? recv(ends[1], &byte, 1, 0) != 1 : read(ends[0], &one, 8) != 8)
        return 1;
    int there = access("f", F_OK) == 0;
    return ended() || !there;
}

enum way { POLL, SELECT, EPOLL, SPLICE, TEE, VMSPLICE, MESSAGE, SEMAPHORE, PIDFD };
static const char *const ways[] = {"poll",     "select",  "epoll",     "splice", "tee",
                                   "vmsplice", "message", "semaphore", "pidfd"};

static int until_ready(enum way way, int end) {
    struct pollfd polled = {.fd = end, .events = POLLIN};
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = 4711};
    fd_set set;
    FD_ZERO(&set);
    FD_SET(end, &set);
    if (way == POLL || way == PIDFD)
        return poll(&polled, 1, -1);
    if (way == SELECT)
        return select(end + 1, &set, NULL, NULL, NULL);
    int epoll = epoll_create1(0);
    return epoll_ctl(epoll, EPOLL_CTL_ADD, end, &event) ? -1 : epoll_wait(epoll, &event, 1, -1);
}

static int gives(enum way way, int end, int ipc) {
    struct {
        long type;
        char text[1];
    } message = {.type = 7};
    if (way == MESSAGE)
        return msgsnd(ipc, &message, 1, 0);
    if (way == SEMAPHORE)
        return semop(ipc, &(struct sembuf){.sem_op = 1}, 1);
    return way == PIDFD ? 0 : -(write(end, "x", 1) != 1);
}

static int takes(enum way way, int end, int ipc) {
    struct {
        long type;
        char text[1];
    } message;
    int other[2];
    if (way == MESSAGE)
        return -(msgrcv(ipc, &message, 1, 7, 0) != 1);
    if (way == SEMAPHORE)
        return semop(ipc, &(struct sembuf){.sem_op = -1}, 1);
    if (way == VMSPLICE)
        return -(vmsplice(end, &(struct iovec){message.text, 1}, 1, 0) != 1);
    if (way != SPLICE && way != TEE)
        return -(until_ready(way, end) != 1);
    if (pipe(other) < 0)
        return -1;
    return -((way == TEE ? tee(end, other[1], 1, 0) : splice(end, NULL, other[1], NULL, 1, 0)) !=
             1);
}

// The parent learns in one of many ways that the file is there; of some it reads nothing.
static int told_by(enum way way) {
    int ends[2];
    int ipc = way == MESSAGE ? msgget(IPC_PRIVATE, 0600) : semget(IPC_PRIVATE, 1, 0600);
    if (ipc < 0 || pipe(ends) < 0)
        return 1;
    pid_t child = fork();
    if (child == 0) {
        close(open("f", O_CREAT | O_WRONLY, 0600));
        _exit(gives(way, ends[1], ipc) < 0);
    }
    if (takes(way, way == PIDFD ? (int)syscall(SYS_pidfd_open, child, 0) : ends[0], ipc) < 0)
        return 1;
    int there = access("f", F_OK) == 0;
    return ended() || !there;
}

// The same, by who watches the directory.
static int told_by_inotify(void) {
    char event[sizeof(struct inotify_event) + 256];
    int watch = inotify_init1(0);
    if (mkdir("d", 0700) < 0 || inotify_add_watch(watch, "d", IN_CREATE) < 0)
        return 1;
    if (fork() == 0)
        _exit(open("d/f", O_CREAT | O_WRONLY, 0600) < 0);
    if (read(watch, event, sizeof event) <= 0)
        return 1;
    int there = access("d/f", F_OK) == 0;
    return ended() || !there;
}

// Nobody knows whether it is ready yet.
static int too_early(void) {
    int ends[2];
    if (pipe(ends) < 0)
        return 1;
    if (fork() == 0)
        _exit(write(ends[1], "x", 1) != 1);
    int ready = poll(&(struct pollfd){.fd = ends[0], .events = POLLIN}, 1, 0);
    return ended() || ready;
}

// A signal interrupts the wait; it may as well come when that is over.
static int interrupted(void) {
    struct sigaction action = {.sa_handler = on_signal};
    int ends[2];
    char byte;
    sigaction(SIGUSR1, &action, NULL);
    if (pipe(ends) < 0)
        return 1;
    pid_t parent = getpid();
    if (fork() == 0)
        _exit(kill(parent, SIGUSR1) < 0);
    if (fork() == 0)
        _exit(write(ends[1], "x", 1) != 1);
    int stopped = read(ends[0], &byte, 1) < 0;
    while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
        ;
    return came ? !stopped : 2;
}

// Two send to one queue: who is first?
static int senders(void) {
    struct {
        long type;
        char text[1];
    } message = {.type = 1};
    int queue = msgget(IPC_PRIVATE, 0600);
    for (const char *name = "ab"; *name; name++)
        if (fork() == 0) {
            message.text[0] = *name;
            _exit(msgsnd(queue, &message, 1, 0) < 0);
        }
    ended();
    ended();
    return msgrcv(queue, &message, 1, 0, 0) != 1 || message.text[0] != 'a';
}

// Who asks for its parent when that has ended is told another one.
static int orphan(void) {
    if (fork() == 0) {
        pid_t parent = getppid();
        if (fork() == 0)
            _exit(getppid() == parent);
        _exit(0);
    }
    return ended();
}

static void *touch(void *name) {
    close(open(name, O_CREAT | O_WRONLY, 0600));
    return NULL;
}

// Threads of one process: a mutex that nobody sees may put them in order.
static int threads(void) {
    static char name[] = "f";
    pthread_t one, other;
    pthread_create(&one, NULL, touch, name);
    pthread_create(&other, NULL, touch, name);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    return 0;
}

static void *sleeps(void *at) {
    char byte;
    sem_t never;
    if (at)
        return read(*(int *)at, &byte, 1) == 1 ? at : NULL;
    sem_init(&never, 0, 0);
    sem_wait(&never);
    return NULL;
}

// One thread waits for another, which waits for ever: at a pipe, or at nothing but memory.
static int asleep(bool at_pipe) {
    int ends[2];
    pthread_t other;
    if (pipe(ends) < 0)
        return 1;
    pthread_create(&other, NULL, sleeps, at_pipe ? &ends[0] : NULL);
    return pthread_join(other, NULL);
}

static int slept(void) {
    struct timespec before, after, time = {.tv_sec = 100};
    clock_gettime(CLOCK_MONOTONIC, &before);
    nanosleep(&time, NULL);
    clock_gettime(CLOCK_MONOTONIC, &after);
    return after.tv_sec - before.tv_sec < 100;
}

// Until when is told by a clock that is ahead of the machine's by what was slept.
static int deadlines(void) {
    struct timespec time = {.tv_sec = 100}, until, before;
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    sem_t *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED || sem_init(shared, 1, 0) < 0)
        return 1;
    nanosleep(&time, NULL);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 20000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    before = until;
    int late = sem_timedwait(shared, &until) < 0 && errno == ETIMEDOUT;
    pthread_mutex_lock(&mutex);
    late += pthread_cond_timedwait(&condition, &mutex, &until) == ETIMEDOUT;
    return late != 2 || memcmp(&before, &until, sizeof until) != 0;
}

int main(int count, char **words) {
    const char *what = count > 1 ? words[1] : "";
    if (!strcmp(what, "signalled"))
        return signalled();
    if (!strcmp(what, "signalled well"))
        return signalled_well();
    if (!strcmp(what, "writers"))
        return writers();
    if (!strcmp(what, "readers"))
        return readers();
    if (!strcmp(what, "comers"))
        return comers();
    if (!strcmp(what, "deadlines"))
        return deadlines();
    if (!strcmp(what, "ports"))
        return ports();
    if (!strcmp(what, "told by socket") || !strcmp(what, "told by eventfd"))
        return told(!strcmp(what, "told by socket"));
    if (!strcmp(what, "inotify"))
        return told_by_inotify();
    if (!strcmp(what, "poll alone") || !strcmp(what, "epoll alone"))
        return ready_alone(!strcmp(what, "epoll alone"));
    if (!strcmp(what, "too early"))
        return too_early();
    if (!strcmp(what, "interrupted"))
        return interrupted();
    if (!strcmp(what, "senders"))
        return senders();
    for (int i = 0; i <= PIDFD; i++)
        if (!strcmp(what, ways[i]))
            return told_by((enum way)i);
    if (!strcmp(what, "orphan"))
        return orphan();
    if (!strcmp(what, "asleep at a pipe") || !strcmp(what, "asleep in memory"))
        return asleep(!strcmp(what, "asleep at a pipe"));
    if (!strcmp(what, "threads"))
        return threads();
    return strcmp(what, "slept") ? 2 : slept();
}
