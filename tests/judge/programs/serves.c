// SPDX-License-Identifier: Apache-2.0
// A server with a thread for each of two connections; both count without a lock.
//
//   serves PORT [WAITS]     answers one byte on each connection, and ends; with WAITS not before
//                           both have come
#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static int served;

static void *serve(void *argument) {
    int connection = (int)(long)argument;
    char byte;
    if (read(connection, &byte, 1) == 1) {
        served++;
        if (write(connection, &byte, 1) != 1)
            abort();
    }
    close(connection);
    return NULL;
}

int main(int count, char **arguments) {
    int listener = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
    struct sockaddr_in here = {.sin_family = AF_INET,
                               .sin_port = htons((uint16_t)atoi(arguments[1])),
                               .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    pthread_t threads[2];
    int connections[2];
    char byte;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(listener, (struct sockaddr *)&here, sizeof here) || listen(listener, 8))
        return 3;
    for (int i = 0; i < 2; i++)
        connections[i] = accept(listener, NULL, NULL);
    for (int i = 0; i < 2 && count > 2; i++)
        if (recv(connections[i], &byte, 1, MSG_PEEK) != 1)
            return 4;
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, serve, (void *)(long)connections[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%d\n", served);
    return 0;
}
