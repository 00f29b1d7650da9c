// SPDX-License-Identifier: Apache-2.0
// replayed
// Files and directories whose names are drawn at random.
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void fill(char *name, const char *suffix) {
    strcpy(name, "/tmp/eitherway-test-XXXXXX");
    strcat(name, suffix);
}

static bool is_drawn(const char *name, const char *suffix) {
    size_t length = strlen(name), end = strlen(suffix);
    return length == strlen("/tmp/eitherway-test-XXXXXX") + end && !strstr(name, "XXXXXX") &&
           strcmp(name + length - end, suffix) == 0;
}

static void check_file(int file, const char *name, const char *suffix) {
    struct stat status;
    char text[8] = "";
    CHECK(file >= 0 && is_drawn(name, suffix));
    CHECK(fstat(file, &status) == 0 && status.st_size == 0 && (status.st_mode & 0777) == 0600);
    CHECK(write(file, "here", 4) == 4 && pread(file, text, 8, 0) == 4);
    CHECK(close(file) == 0 && access(name, F_OK) == 0);
    puts(name); // it is the same again
}

static void files(void) {
    char name[64];
    fill(name, "");
    check_file(mkstemp(name), name, "");
    unlink(name);
    fill(name, ".log");
    check_file(mkstemps(name, 4), name, ".log");
    unlink(name);
    fill(name, "");
    int file = mkostemp(name, O_CLOEXEC | O_APPEND);
    CHECK(fcntl(file, F_GETFD) == FD_CLOEXEC && fcntl(file, F_GETFL) & O_APPEND);
    check_file(file, name, "");
    unlink(name);
    fill(name, ".c");
    check_file(mkostemps(name, 2, O_SYNC), name, ".c");
    unlink(name);
}

static void errors(void) {
    char name[64];
    fill(name, ".");
    CHECK(mkstemp(name) == -1 && errno == EINVAL);
    CHECK(mkstemps(name, 40) == -1 && errno == EINVAL);
    CHECK(mkdtemp(name) == NULL && errno == EINVAL);
    strcpy(name, "/nowhere/XXXXXX");
    CHECK(mkstemp(name) == -1 && errno == ENOENT);
    strcpy(name, "/nowhere/XXXXXX");
    CHECK(mkdtemp(name) == NULL && errno == ENOENT);
    errno = 77;
    fill(name, "");
    CHECK(rmdir(mkdtemp(name)) == 0 && errno == 77);
}

int main(void) {
    files();
    errors();
    return 0;
}
