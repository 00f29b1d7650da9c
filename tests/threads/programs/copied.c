// SPDX-License-Identifier: Apache-2.0
// Two threads that race when much has happened already; the first argument says what they have
// then.
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const char *mode;
static volatile int shared;
static int file = -1, ends[2];
static int *mapped;
static pthread_mutex_t robust;
static FILE *stream;
static char *words[2];

static int is(const char *name) {
    return strcmp(mode, name) == 0;
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
    printf("%s", line);
}

static void after(int number) {
    char line[16] = "";
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
    before(count > 2 ? arguments[2] : "");
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    if (is("robust"))
        return pthread_mutex_unlock(&robust);
    return 0;
}
