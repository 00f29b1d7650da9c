// SPDX-License-Identifier: Apache-2.0
// A server for one connection, which then waits an hour for another: lingers PORT.
#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { HOUR = 3600 * 1000 };

int main(int count, char **arguments) {
    struct sockaddr_in here = {.sin_family = AF_INET,
                               .sin_port = htons((uint16_t)atoi(arguments[count - 1])),
                               .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct pollfd listener = {socket(AF_INET, SOCK_STREAM, 0), POLLIN, 0};
    if (bind(listener.fd, (struct sockaddr *)&here, sizeof here) || listen(listener.fd, 8))
        return 3;
    char letter;
    int connection = accept(listener.fd, NULL, NULL);
    while (read(connection, &letter, 1) == 1 && write(connection, &letter, 1) == 1)
        ;
    close(connection);
    puts(poll(&listener, 1, HOUR) == 0 ? "nobody came for an hour" : "somebody came");
    return 0;
}
