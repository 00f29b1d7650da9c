// SPDX-License-Identifier: Apache-2.0
// Asks for addresses, and gives the answers back, again and again; or what it gave back once more.
#include <netdb.h>
#include <pthread.h>
#include <string.h>

static void *ask(void *wrong) {
    struct addrinfo hints = {.ai_family = AF_INET, .ai_flags = AI_CANONNAME}, *list;
    if (getaddrinfo("localhost", "80", &hints, &list))
        return NULL;
    freeaddrinfo(list);
    if (wrong)
        freeaddrinfo(list);
    return NULL;
}

int main(int argc, char **argv) {
    void *wrong = argc > 1 && strcmp(argv[1], "twice") == 0 ? argv : NULL;
    pthread_t threads[2];
    for (int i = 0; i < 3; i++)
        ask(NULL);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, ask, i ? NULL : wrong);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
