// SPDX-License-Identifier: Apache-2.0
// daemon and forkpty: libc's would fork without us.
#include "libc.h"

#include <fcntl.h>
#include <pty.h>
#include <unistd.h>
#include <utmp.h>

// --- daemon

static bool to_null(void) {
    int null = open("/dev/null", O_RDWR);
    if (null < 0)
        return false;
    for (int i = 0; i < 3; i++)
        dup2(null, i);
    if (null > 2)
        close(null);
    return true;
}

EW_EXPORT int daemon(int stays, int keeps_streams) {
    pid_t child = fork();
    if (child > 0)
        _exit(0);
    if (child < 0 || setsid() < 0 || (!stays && raw1(SYS_chdir, (long)"/") < 0))
        return -1;
    return keeps_streams || to_null() ? 0 : -1;
}

// --- forkpty

EW_REAL(openpty);
EW_REAL(login_tty);

EW_EXPORT int forkpty(int *master, char *name, const struct termios *how,
                      const struct winsize *size) {
    int ours, theirs;
    if (REAL(openpty)(&ours, &theirs, name, how, size) < 0)
        return -1;
    pid_t child = fork();
    close(child == 0 ? ours : theirs);
    if (child == 0 && REAL(login_tty)(theirs) < 0)
        _exit(1);
    if (child > 0)
        *master = ours;
    if (child < 0)
        close(ours);
    return child;
}
