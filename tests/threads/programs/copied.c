// SPDX-License-Identifier: Apache-2.0
// Two threads that race when much has happened already; the first argument says what they have
// then.
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *mode, *named;
static volatile int shared;
static int file = -1, twin = -1, reader = -1, ends[2];
static int *mapped;
static pthread_mutex_t robust;
static FILE *stream;
static char *words[2];

static int is(const char *name) {
    return strcmp(mode, name) == 0;
}

static void put(int descriptor, const char *text) {
    if (write(descriptor, text, strlen(text)) != (ssize_t)strlen(text))
        exit(3);
}

static struct flock lock(short type, long from) {
    return (struct flock){.l_type = type, .l_whence = SEEK_SET, .l_start = from, .l_len = 10};
}

// Files of its own, beside the one that was there before.
static const char *beside(const char *name) {
    static char path[4096];
    snprintf(path, sizeof path, "%s-%s", named, name);
    return path;
}

static void write_before(void) {
    for (int i = 0; is("turns") && i < 200; i++)
        open(named, O_RDONLY); // of which a copy remembers more than a whole run does
    if (is("creates"))
        mkdir(beside("folder"), 0755);
    static const char *const with_own[] = {"deletes", "replaces",    "forgets",      "renames",
                                           "grows",   "shared-file", "private-file", "unnamed"};
    for (size_t i = 0; i < sizeof with_own / sizeof *with_own; i++)
        if (is(with_own[i]))
            put(file = open(beside("own"), O_RDWR | O_CREAT, 0640), "before");
    twin = dup(file); // the same description: both stand at the same place
    reader = open(beside("own"), O_RDONLY);
    if (is("unnamed"))
        unlink(beside("own"));
    if (is("private-file"))
        mapped = mmap(NULL, 4, PROT_READ, MAP_PRIVATE, file, 0);
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (is("forgets") && fcntl(file, F_SETLK, &whole))
        exit(3);
    if (is("shared-file") || is("forgets"))
        mapped = mmap(NULL, 4, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (is("locks") || is("flocks"))
        put(file = open(named, O_RDWR | O_TRUNC), "before");
    if (is("flocks"))
        flock(file, LOCK_EX);
    struct flock some = lock(F_WRLCK, 100), more = lock(F_RDLCK, 200);
    if (is("locks") && (fcntl(file, F_SETLK, &some) || fcntl(file, F_SETLK, &more)))
        exit(3);
}

static void show(const char *path) {
    char text[64] = "";
    int own = open(path, O_RDONLY);
    long size = read(own, text, sizeof text - 1);
    printf("'%s' of %ld bytes\n", text, size);
    close(own);
}

static void write_after(int number) {
    char text[16];
    snprintf(text, sizeof text, " %d", number);
    if (is("creates")) {
        int own = open(beside("folder/file"), O_WRONLY | O_CREAT | O_APPEND, 0644);
        put(own, text);
        close(own);
        mkdir(beside(number ? "one" : "none"), 0755);
        show(beside("folder/file"));
    }
    if (is("overwrites"))
        put(open(named, O_WRONLY | O_APPEND), text), show(named);
    if (is("deletes") || is("forgets") || is("private-file")) {
        put(twin, text);
        if (number)
            unlink(beside("own"));
        printf("%d at %ld\n", number, (long)lseek(file, 0, SEEK_CUR));
    }
    if (is("forgets")) {
        struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        *mapped += number + 1;
        printf("%x %d\n", *mapped, fcntl(file, F_SETLK, &whole));
    }
    if (is("private-file"))
        printf("%x\n", *mapped);
    if (is("replaces") && number) {
        int other = open(beside("other"), O_RDWR | O_CREAT, 0640);
        put(other, "other");
        close(other);
        char from[4096];
        strcpy(from, beside("other"));
        rename(from, beside("own"));
    }
    if (is("renames") && number)
        rename(beside("own"), named);
    if (is("deletes") || is("replaces") || is("renames"))
        show(beside("own"));
    if (is("deletes") || is("replaces")) {
        char through[8] = "";
        long got = pread(reader, through, 7, 0);
        printf("'%s' of %ld bytes\n", through, got);
    }
    if (is("grows") || is("unnamed")) {
        put(file, text);
        fcntl(file, F_SETFL, O_APPEND);
        printf("%d at %ld\n", number, (long)lseek(file, 0, SEEK_CUR));
    }
    if (is("shared-file"))
        printf("%x\n", *mapped = *mapped * 3 + number), show(beside("own"));
    if (is("locks")) {
        struct flock same = lock(F_WRLCK, 100), other = lock(F_WRLCK, 300);
        put(file, text);
        printf("%d %d\n", fcntl(file, F_SETLK, &same), fcntl(file, F_SETLK, &other));
        flock(file, LOCK_EX);
    }
}

static void before(const char *path) {
    char line[16] = "";
    if (is("prints"))
        printf("first\n"), fflush(stdout);
    if (is("input"))
        fgets(line, sizeof line, stdin);
    if (is("reads") && read(file = open(path, O_RDONLY), line, 4) != 4)
        exit(3);
    if (is("streams"))
        fgets(line, sizeof line, stream = fopen(path, "r"));
    if (is("writes") && write(file = open(path, O_RDWR | O_TRUNC), "before", 6) != 6)
        exit(3);
    if (is("pipe") && (pipe(ends) || write(ends[1], "ab", 2) != 2))
        exit(3);
    if (is("maps"))
        mapped = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (is("robust")) {
        pthread_mutexattr_t attributes;
        pthread_mutexattr_init(&attributes);
        pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
        pthread_mutex_init(&robust, &attributes);
        pthread_mutex_lock(&robust);
    }
    write_before();
    printf("begins %s\n", line); // whoever prints first asks the outside
}

// So many points at locks that it is looked whether all this is a circle.
static void take_turns(void) {
    static pthread_mutex_t taken = PTHREAD_MUTEX_INITIALIZER;
    static long rounds;
    for (int i = 0; i < 15000; i++) {
        pthread_mutex_lock(&taken);
        rounds++;
        pthread_mutex_unlock(&taken);
    }
}

static void after(int number) {
    char line[16] = "";
    if (is("turns"))
        take_turns();
    write_after(number);
    if (is("input") && fgets(line, sizeof line, stdin))
        printf("%d: %s", number, line);
    if (is("reads") && read(file, line, 4) == 4)
        printf("%d: %s\n", number, line);
    if (is("streams") && fgets(line, sizeof line, stream))
        printf("%d: %s", number, line);
    if (is("writes") && write(file, "after", 5) == 5)
        printf("%d at %ld\n", number, (long)lseek(file, 0, SEEK_CUR));
    if (is("pipe") && read(ends[0], line, 1) == 1)
        printf("%d: %s\n", number, line);
    if (is("maps"))
        printf("%d: %d\n", number, ++*mapped);
    if (is("heap"))
        printf("%d: %s\n", number, words[number] = strcpy(malloc(8), "words"));
    if (is("aborts") && shared == 1)
        abort();
    while (is("spins") && shared == 1) {
    }
    printf("%d of %d\n", number, getpid() > 0);
}

static void *work(void *argument) {
    int number = (int)(long)argument;
    shared = number;
    after(number);
    return NULL;
}

int main(int count, char **arguments) {
    pthread_t threads[2];
    mode = arguments[1];
    named = count > 2 ? arguments[2] : "";
    before(named);
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    if (is("robust"))
        return pthread_mutex_unlock(&robust);
    return 0;
}
