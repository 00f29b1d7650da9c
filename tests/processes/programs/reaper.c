// SPDX-License-Identifier: Apache-2.0
// Children that add to a number in a file: one thread waits for the first, main starts the second
// when a third has said so, or (in-order) when that thread has been heard of besides.
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static sem_t ended;

static void must(int done) {
    if (!done)
        _exit(1);
}

static void add(void) {
    char digit;
    int file = open("count", O_RDWR);
    must(pread(file, &digit, 1, 0) == 1);
    digit++;
    must(pwrite(file, &digit, 1, 0) == 1);
    _exit(0);
}

static void *reaps(void *first) {
    must(waitpid(*(pid_t *)first, NULL, 0) > 0);
    must(close(dup(0)) == 0); // and goes on
    sem_post(&ended);
    return NULL;
}

int main(int argc, char **argv) {
    int said[2], file = open("count", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    pid_t first;
    pthread_t reaper;
    char word;
    must(argc == 2 && write(file, "0", 1) == 1 && pipe(said) == 0 && sem_init(&ended, 0, 0) == 0);
    if ((first = fork()) == 0)
        add();
    pthread_create(&reaper, NULL, reaps, &first);
    if (fork() == 0)
        _exit(write(said[1], "!", 1) != 1);
    must(read(said[0], &word, 1) == 1);
    if (strcmp(argv[1], "in-order") == 0)
        sem_wait(&ended);
    if (fork() == 0)
        add();
    pthread_join(reaper, NULL);
    while (wait(NULL) > 0)
        ;
    return 0;
}
