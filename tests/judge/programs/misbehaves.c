// SPDX-License-Identifier: Apache-2.0
// Behaves well when one access comes before the other; else it does what its first word says, to
// the files, ports and processes that the other words name.
#include <arpa/inet.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static int ready;
static char **words;

static void forks(void) {
    for (;;)
        if (fork() < 0)
            return; // all that fit are there, and each of them tries as well
}

static void fills_memory(void) {
    for (;;) {
        char *block = malloc(1 << 24);
        if (!block)
            return;
        memset(block, 1, 1 << 24);
    }
}

static void write_all(int file) {
    static char block[1 << 16];
    while (write(file, block, sizeof block) > 0) {
    }
    close(file);
}

static void fills_disk(void) {
    write_all(open(words[0], O_WRONLY | O_CREAT, 0600));
}

static void fills_a_hole(void) {
    const size_t size = (size_t)1 << 40;
    int file = open(words[0], O_RDWR | O_CREAT, 0600);
    if (ftruncate(file, (off_t)size) < 0)
        return;
    char *all = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    for (size_t i = 0; i < size; i += 4096)
        all[i] = 1;
}

static void computes(void) {
    for (volatile int i = 0;; i = !i) {
    }
}

static void writes_outside(void) {
    FILE *file = fopen(words[0], "a");
    if (file) {
        fputs("changed", file);
        fclose(file);
    }
    unlink(words[1]);
    rename(words[2], words[0]);
}

static void stops_itself(void) {
    raise(SIGSTOP);
}

static void stops_itself_by_number(void) {
    kill(getpid(), SIGSTOP);
}

static void uses_network(void) {
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)atoi(words[0]))};
    inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
    int file = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(file, (struct sockaddr *)&address, sizeof address) == 0)
        (void)!write(file, "hello", 5);
    close(file);
}

static void kills_others(void) {
    kill((pid_t)atoi(words[0]), SIGKILL);
}

static void ignores_signals(void) {
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_IGN);
    for (;;)
        pause();
}

static void leaves_a_daemon(void) {
    if (fork() == 0) {
        setsid();
        for (;;)
            pause();
    }
}

static const struct {
    const char *name;
    void (*function)(void);
} all[] = {
    {"forks", forks},
    {"fills_memory", fills_memory},
    {"fills_disk", fills_disk},
    {"fills_a_hole", fills_a_hole},
    {"computes", computes},
    {"writes_outside", writes_outside},
    {"stops_itself", stops_itself},
    {"stops_itself_by_number", stops_itself_by_number},
    {"uses_network", uses_network},
    {"kills_others", kills_others},
    {"ignores_signals", ignores_signals},
    {"leaves_a_daemon", leaves_a_daemon},
};

static void *make(void *unused) {
    ready = 1;
    return unused;
}

static void *use(void *name) {
    if (!ready)
        for (size_t i = 0; i < sizeof all / sizeof *all; i++)
            if (strcmp(name, all[i].name) == 0)
                all[i].function();
    if (strcmp(name, "always_stops") == 0)
        stops_itself();
    return NULL;
}

int main(int count, char **arguments) {
    if (count < 2)
        return 64;
    words = arguments + 2;
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, make, NULL);
    pthread_create(&threads[1], NULL, use, arguments[1]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
