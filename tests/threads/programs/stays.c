// SPDX-License-Identifier: Apache-2.0
// A server that ends when it is told to, unless its second thread began after a second had passed.
//
//   stays FROM TO        is begun by a byte of one pipe, and writes one to the other
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int over, missed;

static void *second(void *unused) {
    pthread_mutex_lock(&lock);
    missed = over;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(int count, char **arguments) {
    char byte;
    int number;
    pthread_t thread;
    sigset_t end;
    if (count < 3)
        return 2;
    sigemptyset(&end);
    sigaddset(&end, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &end, NULL);
    struct pollfd from = {open(arguments[1], O_RDWR), POLLIN, 0};
    int to = open(arguments[2], O_RDWR);
    if (read(from.fd, &byte, 1) != 1)
        return 3;
    pthread_create(&thread, NULL, second, NULL);
    poll(&from, 1, 1000);
    pthread_mutex_lock(&lock);
    over = 1;
    pthread_mutex_unlock(&lock);
    if (write(to, "", 1) != 1)
        return 4;
    sigwait(&end, &number);
    pthread_join(thread, NULL);
    while (missed)
        pause();
    return 0;
}
