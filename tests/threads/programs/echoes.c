// SPDX-License-Identifier: Apache-2.0
// A server with a thread for each connection, which sends back what comes, in capitals.
//
//   echoes PORT [FILE]     makes FILE when it listens; ends by SIGTERM, as it is set by default
#include <arpa/inet.h>
#include <ctype.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int served;

static void *serve(void *argument) {
    int connection = (int)(long)argument;
    char buffer[256];
    for (ssize_t got; (got = read(connection, buffer, sizeof buffer)) > 0;) {
        for (ssize_t i = 0; i < got; i++)
            buffer[i] = (char)toupper(buffer[i]);
        if (write(connection, buffer, (size_t)got) != got)
            break;
    }
    pthread_mutex_lock(&lock);
    printf("served %d\n", ++served);
    fflush(stdout);
    pthread_mutex_unlock(&lock);
    close(connection); // whoever waits for that finds it said
    return NULL;
}

int main(int count, char **arguments) {
    int listener = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
    struct sockaddr_in here = {.sin_family = AF_INET,
                               .sin_port = htons((uint16_t)atoi(arguments[1])),
                               .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(listener, (struct sockaddr *)&here, sizeof here) || listen(listener, 8)) {
        perror("echoes");
        return 3;
    }
    puts("listening");
    fflush(stdout);
    if (count > 2)
        fclose(fopen(arguments[2], "w"));
    for (;;) {
        pthread_t thread;
        int connection = accept(listener, NULL, NULL);
        if (connection < 0)
            return 4;
        pthread_create(&thread, NULL, serve, (void *)(long)connection);
        pthread_detach(thread);
    }
}
