// SPDX-License-Identifier: Apache-2.0
#include "sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *const kind_names[KINDS] = {"files", "network", "processes", "privileges"};

noreturn void die(int status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("eitherway-sandbox: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    _exit(status);
}

int write_text(const char *path, const char *text) {
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    size_t length = strlen(text);
    ssize_t written = write(fd, text, length);
    int saved = written < 0 ? errno : EIO;
    close(fd);
    if (written == (ssize_t)length)
        return 0;
    errno = saved;
    return -1;
}

const char *error_name(int error) {
    const char *name = strerrorname_np(error);
    return name ? name : "E?";
}
