// SPDX-License-Identifier: Apache-2.0
// Makes the file that it is told, and prints what is different about it in every run.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

int main(int count, char **arguments) {
    struct stat by_name, by_descriptor;
    struct statx extended;
    if (count != 2)
        return 2;
    int made = open(arguments[1], O_WRONLY | O_CREAT | O_EXCL, 0600);
    if (made < 0 || stat(arguments[1], &by_name) || fstat(made, &by_descriptor) ||
        statx(made, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &extended))
        return 1;
    printf("%lu %ld.%ld\n", by_name.st_ino, by_name.st_mtim.tv_sec, by_name.st_mtim.tv_nsec);
    printf("%lu %ld\n", by_descriptor.st_ino, by_descriptor.st_ctim.tv_nsec);
    printf("%llu %u\n", extended.stx_ino, extended.stx_mtime.tv_nsec);
    return unlink(arguments[1]) || stat(arguments[1], &by_name) == 0;
}
