// SPDX-License-Identifier: Apache-2.0
// replayed
// Processes that libc's own functions make: one that leaves its parent, one behind a terminal.
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <pty.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

struct told {
    pid_t self, session;
    int at_root, null;
};

static int is_null(int descriptor) {
    struct stat status, null;
    return fstat(descriptor, &status) == 0 && stat("/dev/null", &null) == 0 &&
           status.st_rdev == null.st_rdev;
}

static struct told in_daemon(int stays, int keeps_streams) {
    int ends[2];
    struct told told = {0};
    CHECK(pipe(ends) == 0);
    pid_t child = fork();
    if (child == 0) {
        char folder[4096];
        if (daemon(stays, keeps_streams) != 0)
            _exit(9);
        struct told mine = {getpid(), getsid(0), strcmp(getcwd(folder, sizeof folder), "/") == 0,
                            is_null(0) + is_null(1) + is_null(2)};
        _exit(write(ends[1], &mine, sizeof mine) != sizeof mine);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0); // the one in between
    close(ends[1]);
    CHECK(read(ends[0], &told, sizeof told) == sizeof told && told.self != child);
    CHECK(read(ends[0], &told, sizeof told) == 0); // it has ended
    close(ends[0]);
    return told;
}

static void daemons(void) {
    int kept = is_null(0) + is_null(1) + is_null(2);
    CHECK(chdir("/tmp") == 0);
    struct told told = in_daemon(0, 0);
    CHECK(told.session == told.self && told.at_root && told.null == 3);
    told = in_daemon(1, 1);
    CHECK(told.session == told.self && !told.at_root && told.null == kept);
}

static const char *reads(int master) {
    static char text[64];
    size_t used = 0;
    for (ssize_t got; used < sizeof text - 1 && !strchr(text, '\n'); used += (size_t)got)
        CHECK((got = read(master, text + used, sizeof text - 1 - used)) > 0);
    return text;
}

static void terminals(void) {
    int master = -1, status;
    char name[64];
    struct winsize size = {.ws_row = 12, .ws_col = 34};
    pid_t child = forkpty(&master, name, NULL, &size);
    CHECK(child >= 0);
    if (child == 0) {
        int right = isatty(0) && isatty(1) && isatty(2) && getsid(0) == getpid();
        _exit(printf("%s\n", right ? "yes" : "no") < 0 || fflush(stdout) != 0);
    }
    CHECK(master >= 0 && strncmp(name, "/dev/pts/", 9) == 0);
    CHECK(strcmp(reads(master), "yes\r\n") == 0);
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    close(master);
}

int main(void) {
    daemons();
    terminals();
    return 0;
}
