// SPDX-License-Identifier: Apache-2.0
// A load for memcached over the loopback: PORT_FILE PAIRS CONNECTIONS. Sets so many keys, then gets
// each over another connection and compares; requests go out in batches, one batch a connection.
// At the end it shuts the server down. Ends with 0 when every answer was right.
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { BATCH = 32, ROOM = BATCH * 160, CONNECTIONS_MAX = 64, PATIENCE_MS = 20000 };
static const char value[] = "a value of some length, as caches hold; it ends with its key: ";

static int sockets[CONNECTIONS_MAX];

_Noreturn static void fail(const char *what) {
    fprintf(stderr, "memcached_load: %s\n", what);
    exit(1);
}

// The server makes the file when it listens.
static int port_in(const char *path) {
    const struct timespec pause = {0, 1000000};
    for (int i = 0; i < PATIENCE_MS; i++) {
        FILE *file = fopen(path, "r");
        int port = 0;
        if (file && fscanf(file, "TCP INET: %d", &port) == 1)
            return fclose(file), port;
        if (file)
            fclose(file);
        nanosleep(&pause, NULL);
    }
    fail("the server does not listen");
}

static int connected(int port) {
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int one = 1, made = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(made, (struct sockaddr *)&address, sizeof address))
        fail("cannot connect");
    setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return made;
}

static void send_all(int where, const char *data, size_t size) {
    while (size) {
        ssize_t sent = write(where, data, size);
        if (sent <= 0)
            fail("the server does not listen any more");
        data += sent;
        size -= (size_t)sent;
    }
}

static void expect(int where, const char *wanted, size_t size) {
    static char got[ROOM];
    for (size_t have = 0; have < size;) {
        ssize_t more = read(where, got + have, size - have);
        if (more <= 0)
            fail("the server answers too little");
        have += (size_t)more;
    }
    if (memcmp(got, wanted, size))
        fail("an answer is wrong");
}

struct batch {
    char asked[ROOM], wanted[ROOM];
    size_t asked_size, wanted_size;
};

static void add_set(struct batch *batch, int key) {
    int digits = snprintf(NULL, 0, "%d", key);
    batch->asked_size +=
        (size_t)sprintf(batch->asked + batch->asked_size, "set key%d 0 0 %d\r\n%s%d\r\n", key,
                        (int)strlen(value) + digits, value, key);
    batch->wanted_size += (size_t)sprintf(batch->wanted + batch->wanted_size, "STORED\r\n");
}

static void add_get(struct batch *batch, int key) {
    int digits = snprintf(NULL, 0, "%d", key);
    batch->asked_size += (size_t)sprintf(batch->asked + batch->asked_size, "get key%d\r\n", key);
    batch->wanted_size +=
        (size_t)sprintf(batch->wanted + batch->wanted_size, "VALUE key%d 0 %d\r\n%s%d\r\nEND\r\n",
                        key, (int)strlen(value) + digits, value, key);
}

// All connections have a batch under way at the same time.
static void go(int pairs, int connections, int shift, void (*add)(struct batch *, int)) {
    static struct batch batches[CONNECTIONS_MAX];
    for (int key = 0; key < pairs;) {
        int used = 0;
        for (; used < connections && key < pairs; used++) {
            struct batch *batch = &batches[used];
            batch->asked_size = batch->wanted_size = 0;
            for (int i = 0; i < BATCH && key < pairs; i++)
                add(batch, key++);
            send_all(sockets[(used + shift) % connections], batch->asked, batch->asked_size);
        }
        for (int i = 0; i < used; i++)
            expect(sockets[(i + shift) % connections], batches[i].wanted, batches[i].wanted_size);
    }
}

int main(int count, char **arguments) {
    if (count != 4)
        fail("needs PORT_FILE PAIRS CONNECTIONS");
    int port = port_in(arguments[1]), pairs = atoi(arguments[2]), connections = atoi(arguments[3]);
    if (connections < 1 || connections > CONNECTIONS_MAX)
        fail("needs 1 to 64 connections");
    for (int i = 0; i < connections; i++)
        sockets[i] = connected(port);
    go(pairs, connections, 0, add_set);
    go(pairs, connections, 1, add_get);
    send_all(sockets[0], "shutdown\r\n", 10);
    return 0;
}
