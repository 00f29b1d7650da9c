// SPDX-License-Identifier: Apache-2.0
// Looks at a name and uses it, in wrong ways and in right ones: one for each argument.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int put(int file) {
    int failed = file < 0 || write(file, "mine\n", 5) != 5;
    return failed || close(file);
}

// What was no link may be one by the time of the open.
static int checked(void) {
    struct stat status;
    if (lstat("f", &status) < 0 || S_ISLNK(status.st_mode))
        return 0;
    return put(open("f", O_WRONLY | O_TRUNC));
}

// access follows the link too: it refuses nothing.
static int no_check(void) {
    if (access("f", W_OK) < 0)
        return 0;
    return put(open("f", O_WRONLY | O_TRUNC));
}

static int opened_first(void) {
    struct stat status;
    int file = open("f", O_WRONLY | O_NOFOLLOW);
    if (file < 0)
        return errno != ELOOP;
    return fstat(file, &status) < 0 || !S_ISREG(status.st_mode) || put(file);
}

static int exclusive(void) {
    int file = open("new", O_WRONLY | O_CREAT | O_EXCL, 0600);
    return file < 0 ? errno != EEXIST : put(file);
}

// The directory that is looked at may be another one by the time of the open.
static int on_the_way(void) {
    struct stat status;
    if (lstat("d", &status) < 0 || !S_ISDIR(status.st_mode))
        return 0;
    return put(open("d/f", O_WRONLY | O_CREAT, 0600));
}

static int held(void) {
    int directory = open("d", O_DIRECTORY | O_NOFOLLOW);
    return directory < 0 ? 0 : put(openat(directory, "f", O_WRONLY | O_CREAT, 0600));
}

int main(int count, char **words) {
    const char *what = count > 1 ? words[1] : "";
    if (!strcmp(what, "checked"))
        return checked();
    if (!strcmp(what, "no check"))
        return no_check();
    if (!strcmp(what, "opened first"))
        return opened_first();
    if (!strcmp(what, "exclusive"))
        return exclusive();
    if (!strcmp(what, "on the way"))
        return on_the_way();
    return strcmp(what, "held") ? 2 : held();
}
