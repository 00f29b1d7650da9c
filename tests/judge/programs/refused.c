// SPDX-License-Identifier: Apache-2.0
// Changes a file in one order, and does not look whether that went well.
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int ready;

static void *make(void *unused) {
    ready = 1;
    return unused;
}

static void *use(void *words) {
    char *const *word = words;
    if (ready)
        return NULL;
    if (strcmp(word[0], "opens") == 0)
        close(open(word[1], O_WRONLY | O_TRUNC));
    if (strcmp(word[0], "opens_stream") == 0) {
        FILE *file = fopen(word[1], "w");
        if (file)
            fclose(file);
    }
    if (strcmp(word[0], "makes_it_short") == 0)
        (void)!truncate(word[1], 2);
    return NULL;
}

int main(int count, char **words) {
    if (count != 3)
        return 64;
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, make, NULL);
    pthread_create(&threads[1], NULL, use, words + 1);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
