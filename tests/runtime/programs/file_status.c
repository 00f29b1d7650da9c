// SPDX-License-Identifier: Apache-2.0
// stat and its kin tell one thing of one file, and fail as POSIX says.
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char folder[] = "/tmp/eitherway-XXXXXX", file[64], link_[64];

static void one_file_has_one_number(int descriptor, int inside) {
    struct stat by_name, by_link, of_link, by_descriptor, below, empty;
    struct statx extended;
    errno = EXDEV;
    CHECK(stat(file, &by_name) == 0);
    CHECK(stat(link_, &by_link) == 0);
    CHECK(lstat(link_, &of_link) == 0);
    CHECK(fstat(descriptor, &by_descriptor) == 0);
    CHECK(fstatat(inside, "file", &below, 0) == 0);
    CHECK(fstatat(descriptor, "", &empty, AT_EMPTY_PATH) == 0);
    CHECK(statx(inside, "file", 0, STATX_BASIC_STATS, &extended) == 0);
    CHECK(errno == EXDEV);
    CHECK(S_ISREG(by_name.st_mode) && S_ISLNK(of_link.st_mode));
    CHECK(by_name.st_size == 5 && of_link.st_size == (off_t)strlen(file));
    CHECK(by_name.st_ino == by_link.st_ino && by_name.st_ino != of_link.st_ino);
    CHECK(by_name.st_ino == by_descriptor.st_ino && by_name.st_ino == below.st_ino);
    CHECK(by_name.st_ino == empty.st_ino && by_name.st_ino == extended.stx_ino);
    CHECK(extended.stx_size == 5);
}

static void what_is_not_there(int descriptor, int inside) {
    struct stat status;
    struct statx extended;
    CHECK(stat("/nosuch", &status) == -1 && errno == ENOENT);
    CHECK(lstat("", &status) == -1 && errno == ENOENT);
    CHECK(fstat(-1, &status) == -1 && errno == EBADF);
    CHECK(fstatat(descriptor, "file", &status, 0) == -1 && errno == ENOTDIR);
    CHECK(fstatat(inside, "file", &status, -1) == -1 && errno == EINVAL);
    CHECK(statx(inside, "nosuch", 0, STATX_BASIC_STATS, &extended) == -1 && errno == ENOENT);
}

int main(void) {
    CHECK(mkdtemp(folder));
    snprintf(file, sizeof file, "%s/file", folder);
    snprintf(link_, sizeof link_, "%s/link", folder);
    int inside = open(folder, O_RDONLY | O_DIRECTORY);
    int descriptor = open(file, O_RDWR | O_CREAT, 0600);
    CHECK(inside >= 0 && descriptor >= 0 && write(descriptor, "12345", 5) == 5);
    CHECK(symlink(file, link_) == 0);
    one_file_has_one_number(descriptor, inside);
    what_is_not_there(descriptor, inside);
    CHECK(unlink(link_) == 0 && unlink(file) == 0 && rmdir(folder) == 0);
    return 0;
}
