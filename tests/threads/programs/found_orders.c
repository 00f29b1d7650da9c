// SPDX-License-Identifier: Apache-2.0
// One thread puts something somewhere, another takes it: `data` is written before that, or only
// afterwards. The arguments say through what, and when.
#define _GNU_SOURCE
#include <fcntl.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int data;
static int ends[2], event, instance, id;
static struct epoll_event wanted = {.events = EPOLLIN};
static mqd_t queue;
static pthread_t taker;

static void check(int condition) {
    if (!condition)
        _exit(3);
}

static void put_byte(void) {
    check(write(ends[1], "x", 1) == 1);
}

static void take_byte(void) {
    char byte;
    check(read(ends[0], &byte, 1) >= 0);
}

static void make_pipe(void) {
    check(pipe(ends) == 0);
}

// --- a pipe: read, seen to be ready, seen to be closed, or as a stream

static void poll_it(void) {
    struct pollfd polled = {ends[0], POLLIN, 0};
    check(poll(&polled, 1, -1) == 1);
}

static void select_it(void) {
    fd_set set;
    FD_ZERO(&set);
    FD_SET(ends[0], &set);
    check(select(ends[0] + 1, &set, NULL, NULL, NULL) == 1);
}

static void close_it(void) {
    close(ends[1]);
}

static void put_line(void) {
    FILE *stream = fdopen(ends[1], "w");
    check(fputs("line\n", stream) >= 0);
    fflush(stream);
}

// --- a FIFO, each end opened by its name

static void make_fifo(void) {
    char folder[] = "/tmp/eitherway-fifo-XXXXXX", name[64];
    check(mkdtemp(folder) != NULL);
    snprintf(name, sizeof name, "%s/fifo", folder);
    check(mkfifo(name, 0600) == 0);
    ends[0] = open(name, O_RDONLY | O_NONBLOCK);
    ends[1] = open(name, O_WRONLY);
    check(ends[0] >= 0 && ends[1] >= 0 && fcntl(ends[0], F_SETFL, 0) == 0);
    unlink(name);
    rmdir(folder);
}

// --- socket pairs, eventfds, epoll

static void make_pair(void) {
    check(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
}

static void send_byte(void) {
    check(send(ends[1], "x", 1, 0) == 1);
}

static void receive_byte(void) {
    char byte;
    check(recv(ends[0], &byte, 1, 0) == 1);
}

static void shut(void) {
    check(shutdown(ends[1], SHUT_WR) == 0);
}

// --- sockets by which the program calls itself

static struct sockaddr_storage address;
static socklen_t address_length;
static int listening;

static void bind_to(int type, const void *to, socklen_t length) {
    listening = socket(((const struct sockaddr *)to)->sa_family, type, 0);
    check(bind(listening, to, length) == 0);
    address_length = sizeof address;
    check(getsockname(listening, (struct sockaddr *)&address, &address_length) == 0);
}

static const struct sockaddr_in anywhere = {.sin_family = AF_INET};

static void listen_tcp(void) {
    bind_to(SOCK_STREAM, &anywhere, sizeof anywhere);
    check(listen(listening, 1) == 0);
}

static void listen_unix(void) {
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    snprintf(to.sun_path + 1, sizeof to.sun_path - 1, "eitherway-%d", (int)getpid());
    bind_to(SOCK_STREAM, &to, sizeof to);
    check(listen(listening, 1) == 0);
}

static void bind_udp(void) {
    bind_to(SOCK_DGRAM, &anywhere, sizeof anywhere);
    ends[0] = listening;
}

static void call(void) {
    int caller = socket(address.ss_family, SOCK_STREAM, 0);
    check(connect(caller, (struct sockaddr *)&address, address_length) == 0);
}

static void answer(void) {
    check(accept(listening, NULL, NULL) >= 0);
}

static void call_and_send(void) {
    ends[1] = socket(address.ss_family, SOCK_STREAM, 0);
    check(connect(ends[1], (struct sockaddr *)&address, address_length) == 0);
    send_byte();
}

static void answer_and_receive(void) {
    ends[0] = accept(listening, NULL, NULL);
    receive_byte();
}

static void send_datagram(void) {
    int caller = socket(AF_INET, SOCK_DGRAM, 0);
    const struct sockaddr *to = (struct sockaddr *)&address;
    check(sendto(caller, "x", 1, 0, to, address_length) == 1);
}

static void make_event(void) {
    event = eventfd(0, 0);
    instance = epoll_create1(0);
    check(epoll_ctl(instance, EPOLL_CTL_ADD, event, &wanted) == 0);
}

static void count_up(void) {
    check(eventfd_write(event, 1) == 0);
}

static void count_down(void) {
    eventfd_t value;
    check(eventfd_read(event, &value) == 0);
}

static void await_event(void) {
    struct epoll_event got;
    check(epoll_wait(instance, &got, 1, -1) == 1);
}

static void make_ready_event(void) {
    event = eventfd(1, 0);
    instance = epoll_create1(0);
}

static void register_event(void) {
    check(epoll_ctl(instance, EPOLL_CTL_ADD, event, &wanted) == 0);
}

// --- messages, semaphores of System V, locks of files

static void make_queue(void) {
    struct mq_attr attributes = {.mq_maxmsg = 2, .mq_msgsize = 8};
    char name[32];
    snprintf(name, sizeof name, "/eitherway-%d", (int)getpid());
    queue = mq_open(name, O_CREAT | O_RDWR | O_EXCL, 0600, &attributes);
    check(queue >= 0 && mq_unlink(name) == 0);
}

static void send_message(void) {
    check(mq_send(queue, "x", 1, 0) == 0);
}

static void receive_message(void) {
    char message[8];
    check(mq_receive(queue, message, sizeof message, NULL) == 1);
}

static struct message {
    long type;
    char text[8];
} sent = {1, "x"};

static void make_messages(void) {
    id = msgget(IPC_PRIVATE, 0600);
    check(id >= 0);
}

static void put_message(void) {
    check(msgsnd(id, &sent, sizeof sent.text, 0) == 0);
}

static void take_message(void) {
    struct message got;
    check(msgrcv(id, &got, sizeof got.text, 0, 0) == sizeof got.text);
    msgctl(id, IPC_RMID, NULL);
}

static void make_semaphore(void) {
    id = semget(IPC_PRIVATE, 1, 0600);
    check(id >= 0);
}

static void add_one(void) {
    struct sembuf up = {0, 1, 0};
    check(semop(id, &up, 1) == 0);
}

static void subtract_one(void) {
    struct sembuf down = {0, -1, 0};
    check(semop(id, &down, 1) == 0);
    semctl(id, 0, IPC_RMID);
}

static atomic_int locked; // relaxed: it orders nothing

static void make_locks(void) {
    for (int i = 0; i < 2; i++)
        ends[i] = open("/proc/self/exe", O_RDONLY);
    check(flock(ends[1], LOCK_EX) == 0);
}

static void unlock_file(void) {
    check(flock(ends[1], LOCK_UN) == 0);
}

static void close_locked(void) {
    check(close(ends[1]) == 0);
}

static void close_locked_stream(void) {
    FILE *stream = fdopen(ends[1], "r");
    check(stream != NULL && fclose(stream) == 0);
}

static void lock_file(void) {
    check(flock(ends[0], LOCK_EX) == 0);
}

// --- signals

static sigset_t set;

static void block_signal(void) {
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    taker = pthread_self();
}

static void send_signal(void) {
    check(pthread_kill(taker, SIGUSR1) == 0);
}

static void send_to_all(void) {
    check(kill(getpid(), SIGUSR1) == 0);
}

static void take_signal(void) {
    int number;
    check(sigwait(&set, &number) == 0);
}

static int signals;

static void make_signal_descriptor(void) {
    block_signal();
    signals = signalfd(-1, &set, 0);
}

static void read_signal(void) {
    struct signalfd_siginfo told;
    check(read(signals, &told, sizeof told) == sizeof told && told.ssi_signo == SIGUSR1);
}

static atomic_int handled;

static void handle(int number) {
    (void)number;
    atomic_store_explicit(&handled, 1, memory_order_relaxed);
}

static void set_handler(void) {
    block_signal();
    signal(SIGUSR1, handle);
}

static void suspend(void) {
    sigset_t none;
    sigemptyset(&none);
    while (!atomic_load_explicit(&handled, memory_order_relaxed))
        sigsuspend(&none);
}

// --- timers, and the end of a thread that another asks for

static void handle_alarm(void) {
    set_handler();
    sigaddset(&set, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    signal(SIGALRM, handle);
}

static void set_alarm(void) {
    alarm(1);
}

static void make_timer(void) {
    event = timerfd_create(CLOCK_MONOTONIC, 0);
}

static void set_timer(void) {
    struct itimerspec soon = {.it_value = {.tv_nsec = 1000}};
    check(timerfd_settime(event, 0, &soon, NULL) == 0);
}

static void clean_up(void *unused) {
    (void)unused;
    data++;
}

static void *sleeps(void *unused) {
    pthread_cleanup_push(clean_up, NULL);
    for (;;)
        pause();
    pthread_cleanup_pop(0);
    return unused;
}

static void make_sleeper(void) {
    pthread_create(&taker, NULL, sleeps, NULL);
}

static void cancel_sleeper(void) {
    pthread_cancel(taker);
}

static void join_sleeper(void) {
    pthread_join(taker, NULL);
}

// --- atomic variables: two stores of one thread are one release sequence

static atomic_int word;

static void store_twice(void) {
    atomic_store_explicit(&word, 1, memory_order_release);
    atomic_store_explicit(&word, 2, memory_order_relaxed);
}

static void await_second(void) {
    while (atomic_load_explicit(&word, memory_order_acquire) != 2)
        ;
}

// --- a wait for something else that ends after a wake-up nobody waited for

static sem_t semaphore;
static pthread_cond_t unheard = PTHREAD_COND_INITIALIZER;

static void *signal_and_write(void *unused) {
    pthread_cond_signal(&unheard);
    put_byte();
    return unused;
}

static void make_both(void) {
    make_pipe();
    sem_init(&semaphore, 0, 0);
}

static void post(void) {
    sem_post(&semaphore);
}

static void wait_for_both(void) {
    pthread_t other;
    pthread_create(&other, NULL, signal_and_write, NULL);
    take_byte();
    while (sem_trywait(&semaphore))
        sched_yield();
    pthread_join(other, NULL);
}

// --- what a forked child takes was given back before

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void hold(void) {
    atomic_store_explicit(&locked, 0, memory_order_relaxed);
}

static void give_lock(void) {
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    atomic_store_explicit(&locked, 1, memory_order_relaxed);
}

static void take_in_child(void) {
    while (!atomic_load_explicit(&locked, memory_order_relaxed))
        sched_yield();
    pid_t child = fork();
    if (child == 0) {
        pthread_mutex_lock(&lock);
        data++;
        _exit(0);
    }
    waitpid(child, NULL, 0);
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
}

// --- two of a kind: what goes through one says nothing of the other

static int more_ends[2];

static void make_two(void) {
    make_pipe();
    check(pipe(more_ends) == 0 && write(more_ends[1], "x", 1) == 1);
}

// By a number that led to the other before.
static void put_by_copy(void) {
    check(write(more_ends[1], "y", 1) == 1);
    check(dup2(ends[1], more_ends[1]) == more_ends[1] && write(more_ends[1], "x", 1) == 1);
}

static void take_from_other(void) {
    char byte;
    check(read(more_ends[0], &byte, 1) == 1);
}

static const struct {
    const char *name;
    void (*make)(void), (*put)(void), (*take)(void);
} cases[] = {
#define CASE(name, make, put, take) {#name, make, put, take}
    CASE(pipe_read, make_pipe, put_byte, take_byte),
    CASE(pipe_poll, make_pipe, put_byte, poll_it),
    CASE(pipe_select, make_pipe, put_byte, select_it),
    CASE(pipe_closed, make_pipe, close_it, take_byte),
    CASE(stream, make_pipe, put_line, take_byte),
    CASE(fifo_read, make_fifo, put_byte, take_byte),
    CASE(fifo_poll, make_fifo, put_byte, poll_it),
    CASE(fifo_closed, make_fifo, close_it, take_byte),
    CASE(socket_pair, make_pair, send_byte, receive_byte),
    CASE(socket_shut, make_pair, shut, take_byte),
    CASE(tcp_call, listen_tcp, call, answer),
    CASE(tcp, listen_tcp, call_and_send, answer_and_receive),
    CASE(unix_call, listen_unix, call, answer),
    CASE(udp, bind_udp, send_datagram, receive_byte),
    CASE(event, make_event, count_up, count_down),
    CASE(epoll, make_event, count_up, await_event),
    CASE(epoll_data, make_ready_event, register_event, await_event),
    CASE(message_queue, make_queue, send_message, receive_message),
    CASE(messages, make_messages, put_message, take_message),
    CASE(semaphore_set, make_semaphore, add_one, subtract_one),
    CASE(file_lock, make_locks, unlock_file, lock_file),
    CASE(file_lock_closed, make_locks, close_locked, lock_file),
    CASE(file_lock_stream, make_locks, close_locked_stream, lock_file),
    CASE(signal_thread, block_signal, send_signal, take_signal),
    CASE(signal_process, block_signal, send_to_all, take_signal),
    CASE(signal_read, make_signal_descriptor, send_to_all, read_signal),
    CASE(handler, set_handler, send_signal, suspend),
    CASE(alarm, handle_alarm, set_alarm, suspend),
    CASE(timer, make_timer, set_timer, count_down),
    CASE(cancelled, make_sleeper, cancel_sleeper, join_sleeper),
    CASE(release_sequence, hold, store_twice, await_second),
    CASE(woken_by_another, make_both, post, wait_for_both),
    CASE(forked, hold, give_lock, take_in_child),
    CASE(copied_number, make_two, put_by_copy, take_byte),
    CASE(other_pipe, make_two, put_byte, take_from_other),
};

static void (*put)(void);
static int late;

static void *puts_it(void *unused) {
    if (!late)
        data = 1; // A
    put();
    if (late)
        data = 1; // A
    return unused;
}

int main(int count, char **arguments) {
    late = count > 2 && strcmp(arguments[2], "late") == 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (count > 1 && strcmp(arguments[1], cases[i].name) == 0) {
            pthread_t thread;
            cases[i].make();
            put = cases[i].put;
            pthread_create(&thread, NULL, puts_it, NULL);
            cases[i].take();
            data = 2; // B
            pthread_join(thread, NULL);
            return 0;
        }
    return 64;
}
