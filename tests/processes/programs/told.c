// SPDX-License-Identifier: Apache-2.0
// Ways in which one process learns from another that a file is there; and ways to race by them.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static struct shared {
    sem_t semaphore;
    pthread_mutex_t mutex;
    pthread_cond_t condition;
    bool there;
} *shared;

static void share(void) {
    pthread_mutexattr_t of_mutex;
    pthread_condattr_t of_condition;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    sem_init(&shared->semaphore, 1, 0);
    pthread_mutexattr_init(&of_mutex);
    pthread_mutexattr_setpshared(&of_mutex, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&shared->mutex, &of_mutex);
    pthread_condattr_init(&of_condition);
    pthread_condattr_setpshared(&of_condition, PTHREAD_PROCESS_SHARED);
    pthread_cond_init(&shared->condition, &of_condition);
}

static void make_file(void) {
    close(open("f", O_CREAT | O_WRONLY, 0600));
}

static int looked(void) {
    int status, there = access("f", F_OK) == 0;
    wait(&status);
    return !there || status;
}

static int by_semaphore(void) {
    if (fork() == 0) {
        make_file();
        _exit(sem_post(&shared->semaphore) < 0);
    }
    return sem_wait(&shared->semaphore) ? 1 : looked();
}

// Each has it at an address of its own.
static int by_name(void) {
    if (fork() == 0) {
        mmap(NULL, 1 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        sem_t *theirs = sem_open("/told", O_CREAT, 0600, 0);
        make_file();
        _exit(theirs == SEM_FAILED || sem_post(theirs) < 0);
    }
    sem_t *ours = sem_open("/told", O_CREAT, 0600, 0);
    return ours == SEM_FAILED || sem_wait(ours) ? 1 : looked();
}

static int by_condition(void) {
    if (fork() == 0) {
        make_file();
        pthread_mutex_lock(&shared->mutex);
        shared->there = true;
        pthread_mutex_unlock(&shared->mutex);
        _exit(pthread_cond_signal(&shared->condition));
    }
    pthread_mutex_lock(&shared->mutex);
    while (!shared->there)
        pthread_cond_wait(&shared->condition, &shared->mutex);
    pthread_mutex_unlock(&shared->mutex);
    return looked();
}

static mqd_t queue(void) {
    struct mq_attr attributes = {.mq_maxmsg = 4, .mq_msgsize = 8};
    return mq_open("/told", O_RDWR | O_CREAT, 0600, &attributes);
}

static int by_queue(void) {
    char message[8];
    mqd_t told = queue();
    if (fork() == 0) {
        make_file();
        _exit(mq_send(told, "x", 1, 3) < 0);
    }
    return mq_receive(told, message, sizeof message, NULL) != 1 || looked();
}

// Two send to one queue: who is first?
static int senders(void) {
    char message[8] = "";
    mqd_t told = queue();
    for (const char *name = "ab"; *name; name++)
        if (fork() == 0)
            _exit(mq_send(told, name, 1, 0) < 0);
    wait(NULL);
    wait(NULL);
    return mq_receive(told, message, sizeof message, NULL) != 1 || message[0] != 'a';
}

static void on_signal(int number) {
    (void)number;
}

// Who asks to be told of a message when it is there already is never told.
static int asks_too_late(void) {
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    sigset_t wanted;
    mqd_t told = queue();
    sigemptyset(&wanted);
    sigaddset(&wanted, SIGUSR1);
    sigprocmask(SIG_BLOCK, &wanted, NULL);
    if (fork() == 0) {
        make_file();
        _exit(mq_send(told, "x", 1, 0) < 0);
    }
    return mq_notify(told, &event) < 0 || sigwaitinfo(&wanted, NULL) != SIGUSR1 || looked();
}

// Who opens a queue that nobody has made yet finds none.
static int opened_too_early(void) {
    int status;
    if (fork() == 0)
        _exit(queue() < 0);
    bool found = mq_open("/told", O_RDWR) >= 0;
    wait(&status);
    return found || status;
}

// That a child has ended is nothing to who has not asked for it.
static int by_epoll(void) {
    int ends[2], all = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN};
    if (pipe(ends) < 0 || epoll_ctl(all, EPOLL_CTL_ADD, ends[0], &event) < 0)
        return 1;
    if (fork() == 0)
        _exit(0);
    if (fork() == 0) {
        make_file();
        _exit(write(ends[1], "x", 1) != 1);
    }
    return epoll_wait(all, &event, 1, -1) != 1 || looked();
}

static int by_inotify(void) {
    char event[sizeof(struct inotify_event) + 256];
    int watch = inotify_init1(0);
    if (inotify_add_watch(watch, ".", IN_CREATE) < 0)
        return 1;
    if (fork() == 0) {
        make_file();
        _exit(0);
    }
    return read(watch, event, sizeof event) <= 0 || looked();
}

// Who begins to watch when all is done is told nothing, and gives up.
static int watches_too_late(void) {
    struct pollfd poller = {.fd = inotify_init1(0), .events = POLLIN};
    if (fork() == 0) {
        make_file();
        _exit(0);
    }
    if (inotify_add_watch(poller.fd, ".", IN_CREATE) < 0)
        return 1;
    return poll(&poller, 1, 1000) != 1;
}

// Who has the same working directory goes to another one: for both.
static int goes_elsewhere(void) {
    int status;
    mkdir("d", 0700);
    make_file();
    if (syscall(SYS_clone, CLONE_FS | SIGCHLD, 0, 0, 0, 0) == 0)
        _exit(chdir("d") < 0);
    bool there = access("f", F_OK) == 0;
    wait(&status);
    return !there || status;
}

// ---- by datagrams

static int receiver(bool internet, struct sockaddr_storage *address, socklen_t *length) {
    struct sockaddr_in port = {.sin_family = AF_INET, .sin_port = htons(4711)};
    struct sockaddr_un name = {.sun_family = AF_UNIX, .sun_path = "s"};
    port.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    *length = internet ? sizeof port : sizeof name;
    memcpy(address, internet ? (void *)&port : (void *)&name, *length);
    return socket(internet ? AF_INET : AF_UNIX, SOCK_DGRAM, 0);
}

static bool sends(int end, const struct sockaddr_storage *address, socklen_t length) {
    return sendto(end, "told", 4, 0, (const struct sockaddr *)address, length) == 4;
}

// Of a datagram that is longer than what is read of it nothing is left.
static int by_datagram(bool internet) {
    struct sockaddr_storage address;
    socklen_t length;
    char byte;
    int end = receiver(internet, &address, &length);
    if (bind(end, (struct sockaddr *)&address, length) < 0)
        return 1;
    if (fork() == 0) {
        int own = socket(address.ss_family, SOCK_DGRAM, 0);
        sends(own, &address, length);
        make_file();
        _exit(!sends(own, &address, length));
    }
    return recv(end, &byte, 1, 0) != 1 || recv(end, &byte, 1, 0) != 1 || looked();
}

// Several at once: as many as were sent, and of a stream as many bytes.
static int by_several(int type) {
    static char bytes[3][8] = {"one", "two", "more"};
    struct iovec parts[3] = {{bytes[0], 3}, {bytes[1], 3}, {bytes[2], 4}};
    struct mmsghdr messages[3] = {0};
    int ends[2];
    for (int i = 0; i < 3; i++)
        messages[i].msg_hdr = (struct msghdr){.msg_iov = &parts[i], .msg_iovlen = 1};
    if (socketpair(AF_UNIX, type, 0, ends) < 0)
        return 1;
    if (fork() == 0) {
        sendmmsg(ends[0], messages, 2, 0);
        make_file();
        _exit(sendmmsg(ends[0], messages + 2, 1, 0) != 1);
    }
    if (type == SOCK_STREAM) { // bytes, whatever they were sent with
        for (int i = 0; i < 10; i++)
            if (read(ends[1], bytes[0], 1) != 1)
                return 1;
    } else if (recvmmsg(ends[1], messages, 3, MSG_WAITALL, NULL) != 3) {
        return 1;
    }
    return looked();
}

static int several_datagrams(void) {
    return by_several(SOCK_DGRAM);
}

static int several_in_stream(void) {
    return by_several(SOCK_STREAM);
}

static int several_packets(void) {
    return by_several(SOCK_SEQPACKET);
}

static int by_port(void) {
    return by_datagram(true);
}

static int by_socket_name(void) {
    return by_datagram(false);
}

static void send_several(const struct sockaddr_storage *address, socklen_t length) {
    struct iovec part = {"told", 4};
    struct msghdr message = {(void *)address, length, &part, 1, NULL, 0, 0};
    struct mmsghdr messages[2] = {{message, 0}, {message, 0}};
    sendmmsg(socket(AF_INET, SOCK_DGRAM, 0), messages, 2, 0);
}

// Who sends before anybody is there sends to nobody.
static int lose(bool several) {
    struct sockaddr_storage address;
    socklen_t length;
    char byte;
    int status, end = receiver(true, &address, &length);
    if (fork() == 0) {
        if (several)
            send_several(&address, length);
        else
            sends(socket(AF_INET, SOCK_DGRAM, 0), &address, length);
        _exit(0);
    }
    if (bind(end, (struct sockaddr *)&address, length) < 0)
        return 2;
    wait(&status);
    return recv(end, &byte, 1, MSG_DONTWAIT) != 1;
}

static int lost(void) {
    return lose(false);
}

static int several_lost(void) {
    return lose(true);
}

// ---- by a descriptor of a process

static int signalled(void) {
    int status;
    struct sigaction action = {.sa_handler = on_signal};
    pid_t child = fork();
    if (child == 0) {
        sigaction(SIGUSR1, &action, NULL);
        _exit(0);
    }
    syscall(SYS_pidfd_send_signal, syscall(SYS_pidfd_open, child, 0), SIGUSR1, NULL, 0);
    wait(&status);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

// It is known which of the two is waited for.
static int waited(void) {
    siginfo_t info;
    pid_t children[2];
    for (int i = 0; i < 2; i++)
        if ((children[i] = fork()) == 0)
            _exit(i);
    waitid(P_PIDFD, (id_t)syscall(SYS_pidfd_open, children[0], 0), &info, WEXITED);
    if (info.si_pid != children[0])
        return 1;
    return waitid(P_PIDFD, (id_t)syscall(SYS_pidfd_open, children[1], 0), &info, WEXITED) < 0;
}

int main(int count, char **words) {
    static const struct {
        const char *name;
        int (*does)(void);
    } ways[] = {
        {"semaphore", by_semaphore},
        {"named semaphore", by_name},
        {"condition", by_condition},
        {"queue", by_queue},
        {"senders", senders},
        {"opened too early", opened_too_early},
        {"inotify", by_inotify},
        {"watches too late", watches_too_late},
        {"signalled", signalled},
        {"waited", waited},
        {"port", by_port},
        {"socket", by_socket_name},
        {"lost", lost},
        {"several datagrams", several_datagrams},
        {"several in a stream", several_in_stream},
        {"several packets", several_packets},
        {"several lost", several_lost},
        {"asks too late", asks_too_late},
        {"epoll", by_epoll},
        {"goes elsewhere", goes_elsewhere},
    };
    share();
    for (size_t i = 0; count > 1 && i < sizeof ways / sizeof *ways; i++)
        if (!strcmp(words[1], ways[i].name))
            return ways[i].does();
    return 2;
}
