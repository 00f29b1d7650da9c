// SPDX-License-Identifier: Apache-2.0
// replayed
// Names of hosts: who asks for one does not stop the others.
#include "check.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

static void *ask(void *unused) {
    struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM}, *list = NULL;
    hints.ai_flags = AI_CANONNAME;
    CHECK(getaddrinfo("localhost", "80", &hints, &list) == 0);
    CHECK(list && list->ai_family == AF_INET && list->ai_addrlen == sizeof(struct sockaddr_in));
    const struct sockaddr_in *address = (const struct sockaddr_in *)list->ai_addr;
    CHECK(address->sin_port == htons(80) && ntohl(address->sin_addr.s_addr) >> 24 == 127);
    CHECK(list->ai_canonname && strlen(list->ai_canonname) > 0);
    freeaddrinfo(list);
    return unused;
}

static void several(void) {
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        CHECK(pthread_create(&threads[i], NULL, ask, NULL) == 0);
    ask(NULL);
    for (int i = 0; i < 3; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(wait(NULL) == -1 && errno == ECHILD); // it is nobody's child
}

static void in_numbers(void) {
    struct addrinfo hints = {.ai_socktype = SOCK_DGRAM, .ai_flags = AI_PASSIVE}, *list = NULL;
    CHECK(getaddrinfo("192.0.2.7", "123", &hints, &list) == 0 && list && !list->ai_next);
    CHECK(list->ai_socktype == SOCK_DGRAM);
    freeaddrinfo(list);
    CHECK(getaddrinfo(NULL, "123", &hints, &list) == 0 && list);
    freeaddrinfo(list);
    CHECK(getaddrinfo(NULL, NULL, &hints, &list) == EAI_NONAME);
    hints.ai_flags = AI_NUMERICHOST;
    CHECK(getaddrinfo("localhost", NULL, &hints, &list) == EAI_NONAME);
    hints = (struct addrinfo){.ai_family = 99};
    CHECK(getaddrinfo("localhost", "80", &hints, &list) == EAI_FAMILY);
}

static void of_addresses(void) {
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(80), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    char host[100], service[20];
    CHECK(getnameinfo((struct sockaddr *)&address, sizeof address, host, sizeof host, service,
                      sizeof service, NI_NUMERICSERV) == 0);
    CHECK(strlen(host) > 0 && strcmp(service, "80") == 0);
    CHECK(getnameinfo((struct sockaddr *)&address, sizeof address, host, sizeof host, NULL, 0,
                      NI_NUMERICHOST) == 0);
    CHECK(strcmp(host, "127.0.0.1") == 0);
    CHECK(getnameinfo((struct sockaddr *)&address, 3, host, sizeof host, NULL, 0, 0) == EAI_FAMILY);
}

int main(void) {
    several();
    in_numbers();
    of_addresses();
    return 0;
}
