// SPDX-License-Identifier: Apache-2.0
// Does what a program under test might do to its surroundings, and says how each went.
//
// usage: vandal ACT [ARGUMENT...]; prints "ACT ok" or "ACT ERRNO". The tests look from outside.
// OUTSIDE in the environment has the outer pid and mount namespaces: there it does nothing at all.
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

static int put(int fd) {
    if (fd < 0)
        return -1;
    int done = write(fd, "vandal", 6) == 6 ? 0 : -1;
    int saved = errno;
    close(fd);
    errno = saved;
    return done;
}

// A directory with files "keep", "gone", "mode" and a directory "dir": each changed in its way.
static int spoil(char **a) {
    if (chdir(a[0]) < 0 || put(open("keep", O_WRONLY | O_TRUNC)) < 0 || unlink("gone") < 0)
        return -1;
    if (chmod("mode", 0777) < 0 || mkdir("new", 0777) < 0 || symlink("keep", "new/link") < 0)
        return -1;
    if (put(open("new/file", O_WRONLY | O_CREAT, 0666)) < 0 || rename("mode", "moved") < 0)
        return -1;
    return rmdir("dir");
}

static int rename_directory(char **a) {
    return rename(a[0], a[1]);
}

static int write_to(char **a) {
    return put(open(a[0], O_WRONLY | O_CREAT, 0666));
}

static int serve(char **a) {
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    here.sin_port = htons((unsigned short)atoi(a[0]));
    int fd = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(fd, (struct sockaddr *)&here, sizeof here) < 0 || listen(fd, 1) < 0)
        return -1;
    return connect(client, (struct sockaddr *)&here, sizeof here);
}

static int reach(char **a) {
    struct sockaddr_in there = {.sin_family = AF_INET};
    inet_pton(AF_INET, a[0], &there.sin_addr);
    there.sin_port = htons((unsigned short)atoi(a[1]));
    return connect(socket(AF_INET, SOCK_STREAM, 0), (struct sockaddr *)&there, sizeof there);
}

// A process that has left its session and its parent, and lives until it is killed.
static int daemonise(char **a) {
    int up[2];
    char byte;
    (void)a;
    if (pipe(up) < 0)
        return -1;
    if (fork() == 0) {
        setsid();
        if (fork() == 0) {
            signal(SIGTERM, SIG_IGN);
            signal(SIGHUP, SIG_IGN);
            if (write(up[1], "x", 1) == 1)
                for (int fd = 0; fd < 64; fd++)
                    close(fd);
            for (;;)
                pause();
        }
        _exit(0);
    }
    wait(NULL);
    return read(up[0], &byte, 1) == 1 ? 0 : -1;
}

static int kill_all(char **a) {
    (void)a;
    pid_t child = fork();
    if (child == 0)
        for (;;)
            pause();
    int done = kill(-1, SIGKILL);
    return done == 0 && waitpid(child, NULL, 0) == child ? 0 : -1;
}

static int fill(char **a) {
    static char block[1 << 16];
    long most = atol(a[1]);
    int fd = open(a[0], O_WRONLY | O_CREAT, 0666);
    if (fd < 0)
        return -1;
    for (long written = 0; written < most;) {
        ssize_t done = write(fd, block, sizeof block);
        if (done < 0)
            return -1;
        written += done;
    }
    return 0;
}

// As many children as it gets, at most the number given; prints how many there were.
static int multiply(char **a) {
    int most = atoi(a[0]), count = 0, error = 0;
    while (count < most) {
        pid_t child = fork();
        if (child == 0)
            for (;;)
                pause();
        error = child < 0 ? errno : 0;
        if (child < 0)
            break;
        count++;
    }
    printf("children %d\n", count);
    errno = error;
    return error ? -1 : 0;
}

static int allocate(char **a) {
    size_t size = (size_t)atoll(a[0]);
    char *memory = malloc(size);
    if (!memory)
        return -1;
    memory[size - 1] = 1;
    return memory[size - 1] == 1 ? 0 : -1;
}

static int spin(char **a) {
    volatile unsigned long i = 0;
    (void)a;
    while (i != ~0UL)
        i++;
    return 0;
}

static int mount_over(char **a) {
    return mount("tmpfs", a[0], "tmpfs", 0, NULL);
}

static int mount_disk(char **a) {
    return mount(a[0], "/mnt", a[1], 0, NULL);
}

static int make_disk(char **a) {
    return mknod(a[0], S_IFBLK | 0600, makedev(254, 0));
}

static int trace_init(char **a) {
    (void)a;
    return (int)ptrace(PTRACE_SEIZE, 1, NULL, NULL);
}

// The old way out of a chroot: keep a directory above it as the current one, and climb.
static int climb(char **a) {
    char path[4096];
    mkdir("/tmp/cage", 0777);
    if (chroot("/tmp/cage") < 0)
        return -1;
    for (int i = 0; i < 64; i++)
        if (chdir("..") < 0)
            return -1;
    if (chroot(".") < 0)
        return -1;
    snprintf(path, sizeof path, "%s/leak", a[0]);
    return put(open(path, O_WRONLY | O_CREAT, 0666));
}

static int through_init(char **a) {
    char path[4096];
    snprintf(path, sizeof path, "/proc/1/root%s/leak", a[0]);
    return put(open(path, O_WRONLY | O_CREAT, 0666));
}

static int through_directory(char **a) {
    return put(openat(atoi(a[0]), "leak", O_WRONLY | O_CREAT, 0666));
}

static int through_file(char **a) {
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%s", a[0]);
    return put(open(path, O_WRONLY | O_TRUNC));
}

static int crash(char **a) {
    return raise(atoi(a[0]));
}

static const struct {
    const char *name;
    int arguments;
    int (*run)(char **);
} acts[] = {
    {"spoil", 1, spoil},
    {"rename-directory", 2, rename_directory},
    {"write-to", 1, write_to},
    {"serve", 1, serve},
    {"reach", 2, reach},
    {"daemonise", 0, daemonise},
    {"kill-all", 0, kill_all},
    {"fill", 2, fill},
    {"multiply", 1, multiply},
    {"allocate", 1, allocate},
    {"spin", 0, spin},
    {"mount-over", 1, mount_over},
    {"mount-disk", 2, mount_disk},
    {"make-disk", 1, make_disk},
    {"trace-init", 0, trace_init},
    {"climb", 1, climb},
    {"through-init", 1, through_init},
    {"through-directory", 1, through_directory},
    {"through-file", 1, through_file},
    {"crash", 1, crash},
};

static int is_outside(const char *path) {
    const char *outside = getenv("OUTSIDE");
    char link[64];
    ssize_t length = readlink(path, link, sizeof link - 1);
    if (!outside || length < 0)
        return 1;
    link[length] = '\0';
    return strstr(outside, link) != NULL;
}

int main(int count, char **arguments) {
    if (is_outside("/proc/self/ns/pid") || is_outside("/proc/self/ns/mnt")) {
        fputs("vandal: not in a sandbox\n", stderr);
        return 65;
    }
    for (size_t i = 0; count > 1 && i < sizeof acts / sizeof acts[0]; i++)
        if (strcmp(acts[i].name, arguments[1]) == 0 && count - 2 == acts[i].arguments) {
            int done = acts[i].run(arguments + 2);
            const char *error = strerrorname_np(errno);
            printf("%s %s\n", arguments[1], done == 0 ? "ok" : error ? error : "?");
            return 0;
        }
    return 64;
}
