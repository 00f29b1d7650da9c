// SPDX-License-Identifier: Apache-2.0
// Threads that ask what files are: FOLDER, and how.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILES = 5, NAME = 4096 };

static const char *folder, *how;
static volatile int taken, is_made;

static volatile int inside;

static void fail_unless(int condition) {
    if (!condition)
        exit(3);
}

static void name_of(char *name, int number) {
    snprintf(name, NAME, "%s/%d", folder, number);
}

// A file has as many bytes as its number says, so does the link to it, and only those are there
// that have an even one.
static void ask(int number) {
    char name[NAME], into[NAME];
    struct stat status;
    struct statx more;
    name_of(name, number);
    if (strcmp(how, "fstat") == 0) {
        int file = open(name, O_RDONLY);
        fail_unless(fstat(file, &status) == 0 && status.st_size == number);
        fail_unless(lseek(file, 0, SEEK_END) == number);
        close(file);
    } else if (strcmp(how, "stat") == 0) {
        fail_unless(stat(name, &status) == 0 && status.st_size == number);
    } else if (strcmp(how, "statx") == 0) {
        fail_unless(statx(AT_FDCWD, name, 0, STATX_SIZE, &more) == 0);
        fail_unless(more.stx_size == (unsigned)number);
    } else if (strcmp(how, "readlink") == 0) {
        strcat(name, ".link");
        fail_unless(readlink(name, into, sizeof into) == (number ? number : 1));
    } else if (strcmp(how, "flock") == 0) {
        int file = open(folder, O_RDONLY); // a description of its own
        fail_unless(flock(file, LOCK_EX) == 0 && ++inside == 1);
        sched_yield();
        inside--;
        close(file);
    } else {
        strcat(name, ".even");
        fail_unless(access(name, F_OK) == -(number % 2));
    }
}

// Whose turn it is nobody decides: one file may be asked by two, or by the other one.
static void *take(void *unused) {
    for (;;) {
        int mine = taken;
        taken = mine + 1;
        if (mine >= FILES)
            return unused;
        ask(mine);
    }
}

// Two files of one size, which are told apart by their numbers.
static ino_t numbers[2];

static ino_t number_of(int file) {
    char name[NAME];
    struct stat status;
    name_of(name, FILES + file);
    int descriptor = open(name, O_RDONLY | O_CREAT, 0600);
    fail_unless(fstat(descriptor, &status) == 0);
    close(descriptor);
    return status.st_ino;
}

static void *tell(void *unused) {
    is_made = 1;
    return unused;
}

static void *know(void *unused) {
    int first = is_made;
    ino_t one = number_of(first), other = number_of(!first);
    fail_unless(one == numbers[first] && other == numbers[!first]);
    return unused;
}

// The first two are made before the third, and nothing is left of an earlier run.
static void make_three(void) {
    char name[NAME];
    for (int i = 0; i < 3; i++) {
        name_of(name, FILES + i);
        unlink(name);
        close(open(name, O_WRONLY | O_CREAT, 0600));
    }
}

static struct timespec time_of(int file) {
    char name[NAME];
    struct stat status;
    name_of(name, file);
    fail_unless(stat(name, &status) == 0);
    return status.st_mtim;
}

// Which of the first two is asked is what the order decides: neither is younger than the third.
static void *compare(void *unused) {
    struct timespec one = time_of(FILES + !is_made), last = time_of(FILES + 2);
    fail_unless(one.tv_sec < last.tv_sec ||
                (one.tv_sec == last.tv_sec && one.tv_nsec <= last.tv_nsec));
    return unused;
}

static void *make(void *unused) {
    char name[NAME];
    is_made = 1;
    name_of(name, FILES);
    close(open(name, O_WRONLY | O_CREAT, 0600));
    return unused;
}

static void *look(void *unused) {
    char name[NAME];
    struct stat status;
    int told = is_made;
    name_of(name, FILES);
    printf("%s\n", stat(name, &status) == 0 ? "there" : "not there");
    return told > 1 ? unused : NULL;
}

int main(int count, char **words) {
    pthread_t threads[2];
    if (count != 3)
        return 64;
    folder = words[1], how = words[2];
    int makes = strcmp(how, "made") == 0, knows = strcmp(how, "numbers") == 0;
    int compares = strcmp(how, "times") == 0;
    for (int i = 0; knows && i < 2; i++)
        numbers[i] = number_of(i);
    void *(*second)(void *) = knows ? know : compares ? compare : makes ? look : take;
    if (compares)
        make_three();
    pthread_create(&threads[0], NULL, knows || compares ? tell : makes ? make : take, NULL);
    pthread_create(&threads[1], NULL, second, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    puts("done");
    return 0;
}
