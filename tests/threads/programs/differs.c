// SPDX-License-Identifier: Apache-2.0
// Does something else each time it runs:
//
//   differs clock     asks the processor what time it is
//   differs file      counts its runs in the file "count"
//   differs once      makes the file "made" by another name first, if it is not there
//   differs ever      the same, but where it is there it looks for ever whether it is not
//   differs never
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <x86intrin.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile unsigned long moment;

static void clock_of_the_processor(void) {
    moment = __rdtsc();
    printf("%lu\n", moment);
}

static void count_runs(void) {
    int count = 0;
    FILE *file = fopen("count", "r");
    if (file) {
        if (fscanf(file, "%d", &count) != 1)
            count = -1;
        fclose(file);
    }
    file = fopen("count", "w");
    fprintf(file, "%d", count + 1);
    fclose(file);
    for (int i = 0; i < count; i++) {
        pthread_mutex_lock(&lock);
        pthread_mutex_unlock(&lock);
    }
    printf("begun\nrun %d\n", count);
}

static int make_once(void) {
    FILE *file = fopen("made", "r");
    puts(file ? "was there" : "is made");
    if (file) {
        fclose(file);
        return 0;
    }
    fclose(fopen("making", "w"));
    rename("making", "made");
    return 1;
}

static void look_for_ever(void) {
    static int never;
    while (!__atomic_load_n(&never, __ATOMIC_SEQ_CST))
        ;
}

static void *other(void *unused) {
    (void)unused;
    for (int i = 0; i < 20; i++) {
        pthread_mutex_lock(&lock);
        moment++;
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t thread;
    pthread_create(&thread, NULL, other, NULL);
    if (argc > 1 && strcmp(argv[1], "clock") == 0)
        clock_of_the_processor();
    if (argc > 1 && strcmp(argv[1], "file") == 0)
        count_runs();
    if (argc > 1 && strcmp(argv[1], "once") == 0)
        make_once();
    if (argc > 1 && strcmp(argv[1], "ever") == 0 && !make_once())
        look_for_ever();
    pthread_join(thread, NULL);
    return 0;
}
