// SPDX-License-Identifier: Apache-2.0
// What is told of the surroundings: links, directories and files of /proc, disks, limits.
// replayed
#include "check.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>

static void links(void) {
    int ends[2];
    char path[64], where[64] = "", own[16];
    CHECK(readlink("/proc/self", where, sizeof where) > 0);
    snprintf(own, sizeof own, "%d", getpid());
    CHECK(strcmp(where, own) == 0);
    CHECK(pipe(ends) == 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", ends[0]);
    memset(where, 0, sizeof where);
    CHECK(readlinkat(-100, path, where, sizeof where) > 6 && strncmp(where, "pipe:[", 6) == 0);
    printf("%s\n", where);
    CHECK(syscall(SYS_readlink, path, where, 4) == 4);
    CHECK(readlink("/nowhere", where, 4) == -1 && errno == ENOENT);
    close(ends[0]), close(ends[1]);
}

static void processes(void) {
    char path[64];
    long found = 0, all = 0;
    snprintf(path, sizeof path, "/proc/%d", getpid());
    CHECK(access(path, F_OK) == 0);
    CHECK(access("/nowhere", F_OK) == -1 && errno == ENOENT);
    DIR *folder = opendir("/proc");
    CHECK(folder);
    for (struct dirent *entry; (entry = readdir(folder));) {
        all += atol(entry->d_name);
        found += atol(entry->d_name) == getpid();
    }
    closedir(folder);
    CHECK(found == 1);
    printf("%ld\n", all);
}

static void files(void) {
    struct statvfs disk;
    struct statfs same;
    struct stat status;
    CHECK(statvfs("/tmp", &disk) == 0 && statfs("/tmp", &same) == 0);
    CHECK(syscall(SYS_stat, "/proc/self/status", &status) == 0);
    printf("%lu %lu %ld\n", (unsigned long)disk.f_bfree, (unsigned long)same.f_bfree,
           (long)status.st_mtim.tv_nsec);
    CHECK(statvfs("/nowhere", &disk) == -1 && errno == ENOENT);
}

static void limits(void) {
    struct rlimit limit;
    cpu_set_t processors;
    mode_t before = umask(027);
    CHECK(umask(before) == 027);
    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur > 0);
    CHECK(sched_getaffinity(0, sizeof processors, &processors) == 0);
    printf("%o %ld %d\n", before, (long)limit.rlim_cur, CPU_COUNT(&processors));
}

int main(void) {
    links();
    processes();
    files();
    limits();
    return 0;
}
