// SPDX-License-Identifier: Apache-2.0
// Makes every call of format/system_calls.toml once, most of them with success. The last two end
// the program: it runs itself with another argument, and that one leaves.
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CALL(...) syscall(__VA_ARGS__)
#define MUST(...)                                                                                  \
    do {                                                                                           \
        if (CALL(__VA_ARGS__) < 0) {                                                               \
            perror(#__VA_ARGS__);                                                                  \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static char buffer[4096];

static void files(void) {
    struct iovec part = {buffer, 4};
    int fd = (int)CALL(SYS_open, "a", O_RDWR | O_CREAT, 0644);
    int other = (int)CALL(SYS_creat, "b", 0644);
    MUST(SYS_write, fd, "abcdefgh", 8);
    MUST(SYS_writev, fd, &part, 1);
    MUST(SYS_pwrite64, fd, "xy", 2, 2);
    MUST(SYS_pwritev, fd, &part, 1, 0, 0);
    MUST(SYS_lseek, fd, 0, SEEK_SET);
    MUST(SYS_read, fd, buffer, 4);
    MUST(SYS_readv, fd, &part, 1);
    MUST(SYS_pread64, fd, buffer, 2, 1);
    MUST(SYS_preadv, fd, &part, 1, 0, 0);
    MUST(SYS_copy_file_range, fd, &(loff_t){0}, other, NULL, 4, 0);
    MUST(SYS_sendfile, other, fd, &(off_t){0}, 4);
    MUST(SYS_ftruncate, fd, 6);
    MUST(SYS_truncate, "a", 5);
    MUST(SYS_fallocate, fd, 0, 0, 16);
    void *map = mmap(NULL, 16, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED)
        exit(1);
    MUST(SYS_flock, fd, LOCK_EX);
    MUST(SYS_flock, fd, LOCK_UN);
    MUST(SYS_fcntl, fd, F_SETLK, &(struct flock){.l_type = F_WRLCK});
    int copy = (int)CALL(SYS_dup, fd);
    MUST(SYS_dup2, fd, copy + 1);
    MUST(SYS_dup3, fd, copy + 2, O_CLOEXEC);
    MUST(SYS_close_range, copy, copy + 2, 0);
    MUST(SYS_close, other);
    int directory = (int)CALL(SYS_openat, AT_FDCWD, ".", O_RDONLY | O_DIRECTORY);
    MUST(SYS_getdents64, directory, buffer, sizeof buffer);
    MUST(SYS_getdents, directory, buffer, sizeof buffer);
    MUST(SYS_fchdir, directory);
    MUST(SYS_chdir, ".");
}

static void attributes(void) {
    struct stat status;
    struct statx more;
    int fd = open("a", O_RDONLY);
    MUST(SYS_stat, "a", &status);
    MUST(SYS_lstat, "a", &status);
    MUST(SYS_fstat, fd, &status);
    MUST(SYS_newfstatat, AT_FDCWD, "a", &status, 0);
    MUST(SYS_statx, AT_FDCWD, "a", 0, STATX_ALL, &more);
    MUST(SYS_access, "a", R_OK);
    MUST(SYS_faccessat, AT_FDCWD, "a", R_OK);
    MUST(SYS_faccessat2, AT_FDCWD, "a", R_OK, 0);
    MUST(SYS_chmod, "a", 0600);
    MUST(SYS_fchmod, fd, 0644);
    MUST(SYS_fchmodat, AT_FDCWD, "a", 0600);
    CALL(452 /* fchmodat2 */, AT_FDCWD, "a", 0600, 0);
    MUST(SYS_chown, "a", -1, -1);
    MUST(SYS_lchown, "a", -1, -1);
    MUST(SYS_fchown, fd, -1, -1);
    MUST(SYS_fchownat, AT_FDCWD, "a", -1, -1, 0);
    MUST(SYS_utimensat, AT_FDCWD, "a", NULL, 0);
    CALL(SYS_setxattr, "a", "user.a", "1", 1, 0);
    CALL(SYS_lsetxattr, "a", "user.a", "1", 1, 0);
    CALL(SYS_fsetxattr, fd, "user.a", "1", 1, 0);
    CALL(SYS_getxattr, "a", "user.a", buffer, 1);
    CALL(SYS_lgetxattr, "a", "user.a", buffer, 1);
    CALL(SYS_fgetxattr, fd, "user.a", buffer, 1);
}

static void other_forms(void) {
    struct iovec part = {buffer, 1};
    struct {
        uint64_t flags, mode, resolve;
    } how = {O_RDWR | O_CREAT, 0644, 0};
    int fd = (int)CALL(SYS_openat2, AT_FDCWD, "o", &how, sizeof how);
    MUST(SYS_pwritev2, fd, &part, 1, 0, 0, 0);
    MUST(SYS_preadv2, fd, &part, 1, 0, 0, 0);
    MUST(SYS_utime, "o", NULL);
    MUST(SYS_utimes, "o", NULL);
    MUST(SYS_futimesat, AT_FDCWD, "o", NULL);
    CALL(SYS_listxattr, "o", buffer, sizeof buffer);
    CALL(SYS_llistxattr, "o", buffer, sizeof buffer);
    CALL(SYS_flistxattr, fd, buffer, sizeof buffer);
    CALL(SYS_removexattr, "o", "user.a");
    CALL(SYS_lremovexattr, "o", "user.a");
    CALL(SYS_fremovexattr, fd, "user.a");
}

static void sockets(void) {
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "s"};
    struct iovec part = {buffer, 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    struct mmsghdr messages = {.msg_hdr = message};
    int pair[2];
    MUST(SYS_socketpair, AF_UNIX, SOCK_STREAM, 0, pair);
    MUST(SYS_sendto, pair[0], "a", 1, 0, NULL, 0);
    MUST(SYS_recvfrom, pair[1], buffer, 1, 0, NULL, NULL);
    MUST(SYS_sendmsg, pair[0], &message, 0);
    MUST(SYS_recvmsg, pair[1], &message, 0);
    MUST(SYS_sendmmsg, pair[0], &messages, 1, 0);
    MUST(SYS_recvmmsg, pair[1], &messages, 1, 0, NULL);
    MUST(SYS_shutdown, pair[0], SHUT_WR);
    int listener = (int)CALL(SYS_socket, AF_UNIX, SOCK_STREAM, 0);
    int client = (int)CALL(SYS_socket, AF_UNIX, SOCK_STREAM, 0);
    MUST(SYS_bind, listener, &address, sizeof address);
    MUST(SYS_listen, listener, 2);
    MUST(SYS_connect, client, &address, sizeof address);
    MUST(SYS_accept, listener, NULL, NULL);
    client = (int)CALL(SYS_socket, AF_UNIX, SOCK_STREAM, 0);
    MUST(SYS_connect, client, &address, sizeof address);
    MUST(SYS_accept4, listener, NULL, NULL, 0);
}

static void descriptors(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    MUST(SYS_eventfd, 0);
    MUST(SYS_eventfd2, 0, 0);
    MUST(SYS_signalfd, -1, &set, 8);
    MUST(SYS_signalfd4, -1, &set, 8, 0);
    MUST(SYS_timerfd_create, CLOCK_MONOTONIC, 0);
    MUST(SYS_epoll_create, 1);
    MUST(SYS_inotify_init);
    int watch = (int)CALL(SYS_inotify_init1, 0);
    MUST(SYS_inotify_add_watch, watch, ".", IN_CREATE);
    MUST(SYS_memfd_create, "m", 0);
    int self = (int)CALL(SYS_pidfd_open, getpid(), 0);
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigaction(SIGUSR1, &ignore, NULL);
    MUST(SYS_pidfd_send_signal, self, SIGUSR1, NULL, 0);
}

static void signals(void) {
    sigset_t set;
    struct timespec none = {0};
    siginfo_t info = {.si_signo = SIGUSR1, .si_code = SI_QUEUE};
    sigemptyset(&set);
    MUST(SYS_tkill, getpid(), SIGUSR1);
    MUST(SYS_rt_sigqueueinfo, getpid(), SIGUSR1, &info);
    MUST(SYS_rt_tgsigqueueinfo, getpid(), getpid(), SIGUSR1, &info);
    CALL(SYS_rt_sigtimedwait, &set, NULL, &none, 8);
}

static void entries(void) {
    MUST(SYS_mkdir, "d", 0755);
    MUST(SYS_mkdirat, AT_FDCWD, "e", 0755);
    MUST(SYS_rmdir, "d");
    MUST(SYS_mknod, "f", S_IFIFO | 0600, 0);
    MUST(SYS_mknodat, AT_FDCWD, "g", S_IFIFO | 0600, 0);
    MUST(SYS_link, "a", "h");
    MUST(SYS_linkat, AT_FDCWD, "a", AT_FDCWD, "i", 0);
    MUST(SYS_symlink, "a", "j");
    MUST(SYS_symlinkat, "a", AT_FDCWD, "k");
    MUST(SYS_readlink, "j", buffer, sizeof buffer);
    MUST(SYS_readlinkat, AT_FDCWD, "k", buffer, sizeof buffer);
    MUST(SYS_rename, "h", "l");
    MUST(SYS_renameat, AT_FDCWD, "l", AT_FDCWD, "m");
    MUST(SYS_renameat2, AT_FDCWD, "m", AT_FDCWD, "n", 0);
    MUST(SYS_unlink, "n");
    MUST(SYS_unlinkat, AT_FDCWD, "i", 0);
}

static void ended(pid_t child) {
    if (child < 0 || waitpid(child, NULL, 0) != child)
        exit(1);
}

static void ipc(void) {
    struct {
        long type;
        char text[1];
    } message = {.type = 1};
    struct sembuf up = {.sem_op = 1}, down = {.sem_op = -1};
    int queue = (int)CALL(SYS_msgget, IPC_PRIVATE, IPC_CREAT | 0600);
    MUST(SYS_msgsnd, queue, &message, 1, 0);
    MUST(SYS_msgrcv, queue, &message, 1, 0, 0);
    MUST(SYS_msgctl, queue, IPC_RMID, NULL);
    int posix = (int)CALL(SYS_mq_open, "every", O_RDWR | O_CREAT, 0600, NULL);
    char posix_message[8192];
    MUST(SYS_mq_timedsend, posix, "x", 1, 0, NULL);
    MUST(SYS_mq_timedreceive, posix, posix_message, sizeof posix_message, NULL, NULL);
    MUST(SYS_mq_notify, posix, &(struct sigevent){.sigev_notify = SIGEV_NONE});
    MUST(SYS_mq_unlink, "every");
    int set = (int)CALL(SYS_semget, 4711, 1, IPC_CREAT | 0600);
    MUST(SYS_semctl, set, 0, SETVAL, 0);
    MUST(SYS_semop, set, &up, 1);
    MUST(SYS_semtimedop, set, &down, 1, NULL);
    MUST(SYS_semctl, set, 0, IPC_RMID, 0);
    int memory = (int)CALL(SYS_shmget, IPC_PRIVATE, 4096, IPC_CREAT | 0600);
    MUST(SYS_shmat, memory, NULL, 0);
    MUST(SYS_shmctl, memory, IPC_RMID, NULL);
}

// Who may not mount is told so: the call has been made all the same.
static void mounts(void) {
    MUST(SYS_mkdir, "mounted", 0755);
    int tree = (int)CALL(SYS_open_tree, AT_FDCWD, "mounted", 0);
    CALL(SYS_mount, "none", "mounted", "tmpfs", 0, NULL);
    CALL(SYS_umount2, "mounted", 0);
    CALL(SYS_move_mount, tree, "", AT_FDCWD, "mounted", 0);
}

static void pipes(void) {
    struct iovec part = {buffer, 1};
    int from[2], to[2];
    MUST(SYS_pipe2, from, 0);
    MUST(SYS_pipe2, to, 0);
    MUST(SYS_vmsplice, from[1], &part, 1, 0);
    MUST(SYS_tee, from[0], to[1], 1, 0);
    MUST(SYS_splice, from[0], NULL, to[1], NULL, 1, 0);
}

static void processes(void) {
    struct {
        uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls;
    } arguments = {.exit_signal = SIGCHLD};
    siginfo_t info;
    pid_t child = (pid_t)CALL(SYS_fork);
    if (child == 0)
        CALL(SYS_exit, 0);
    ended(child);
    child = (pid_t)CALL(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (child == 0)
        _exit(0);
    MUST(SYS_waitid, P_PID, child, &info, WEXITED, NULL);
    child = (pid_t)CALL(SYS_clone3, &arguments, sizeof arguments);
    if (child == 0)
        _exit(0);
    ended(child);
    child = vfork();
    if (child == 0)
        _exit(0);
    ended(child);
    MUST(SYS_getppid);
    signal(SIGUSR1, SIG_IGN);
    MUST(SYS_kill, getpid(), SIGUSR1);
    MUST(SYS_tgkill, getpid(), getpid(), SIGUSR1);
}

static void on_alarm(int number) {
    (void)number;
}

static void wait_for_alarm(long call) {
    struct itimerval soon = {.it_value = {.tv_usec = 1000}};
    sigset_t none;
    sigemptyset(&none);
    setitimer(ITIMER_REAL, &soon, NULL);
    if (call == SYS_pause)
        CALL(SYS_pause);
    else
        CALL(SYS_rt_sigsuspend, &none, 8);
}

static void waiting(void) {
    struct timespec short_time = {.tv_nsec = 1000};
    struct epoll_event event;
    int epoll = epoll_create1(0), shared = 0, ends[2];
    MUST(SYS_pipe2, ends, 0);
    MUST(SYS_epoll_ctl, epoll, EPOLL_CTL_ADD, ends[0], &(struct epoll_event){.events = EPOLLIN});
    signal(SIGALRM, on_alarm);
    MUST(SYS_nanosleep, &short_time, NULL);
    MUST(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &short_time, NULL);
    MUST(SYS_poll, NULL, 0, 0);
    MUST(SYS_ppoll, NULL, 0, &short_time, NULL, 8);
    MUST(SYS_select, 0, NULL, NULL, NULL, &(struct timeval){0});
    MUST(SYS_pselect6, 0, NULL, NULL, NULL, &short_time, NULL);
    MUST(SYS_epoll_wait, epoll, &event, 1, 0);
    MUST(SYS_epoll_pwait, epoll, &event, 1, 0, NULL, 8);
    MUST(SYS_epoll_pwait2, epoll, &event, 1, &short_time, NULL, 8);
    MUST(SYS_futex, &shared, FUTEX_WAKE, 1, NULL, NULL, 0);
    wait_for_alarm(SYS_pause);
    wait_for_alarm(SYS_rt_sigsuspend);
}

static void outside(void) {
    struct timespec time;
    struct timeval day;
    int pair[2];
    MUST(SYS_clock_gettime, CLOCK_REALTIME, &time);
    MUST(SYS_gettimeofday, &day, NULL);
    MUST(SYS_time, NULL);
    MUST(SYS_getrandom, buffer, 8, 0);
    MUST(SYS_pipe, pair);
    MUST(SYS_pipe2, pair, O_CLOEXEC);
}

int main(int count, char **words) {
    if (count == 3)
        CALL(SYS_exit_group, 0);
    if (count == 2) {
        int self = open("/proc/self/exe", O_RDONLY);
        char *const again[] = {words[0], "2", "3", NULL};
        CALL(SYS_execveat, self, "", again, NULL, AT_EMPTY_PATH);
        return 1;
    }
    files();
    attributes();
    other_forms();
    entries();
    sockets();
    descriptors();
    ipc();
    mounts();
    pipes();
    processes();
    signals();
    waiting();
    outside();
    char *const again[] = {words[0], "2", NULL};
    CALL(SYS_execve, words[0], again, NULL);
    return 1;
}
