// SPDX-License-Identifier: Apache-2.0
// What a run of a server could see or suffer of what is done in the first ones only.
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int mappings(void) {
    char line[4096];
    printf("%p\n", mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    printf("%p\n", mmap(NULL, 1 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    FILE *maps = fopen("/proc/self/maps", "r");
    while (fgets(line, sizeof line, maps))
        fputs(line, stdout);
    return 0;
}

static int descriptors(void) {
    for (int i = 0; i < 1024; i++)
        if (fcntl(i, F_GETFD) >= 0)
            printf("%d\n", i);
    return 0;
}

// Opening a file is death from here on.
static int restricted(int directly) {
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_open, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    };
    struct sock_fprog program = {sizeof rules / sizeof *rules, rules};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (directly == 2)
        return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
    if (directly == 1)
        return (int)syscall(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int is_inside;

static int stay(struct dl_phdr_info *info, size_t size, void *argument) {
    (void)info, (void)size, (void)argument;
    pthread_mutex_lock(&lock);
    is_inside = 1;
    pthread_cond_signal(&changed);
    for (;;)
        pthread_cond_wait(&changed, &lock);
}

static void *list_libraries(void *argument) {
    dl_iterate_phdr(stay, NULL);
    return argument;
}

// Ends while another thread holds the loader's lock.
static int loader(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, list_libraries, NULL);
    pthread_mutex_lock(&lock);
    while (!is_inside)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    return 0;
}

static char table[1 << 20] = {1};

// Whether the run has a copy of a page that nobody wrote.
static int data(void) {
    const uint64_t present = 1ul << 63, of_file = 1ul << 61;
    volatile char *middle = table + sizeof table / 2;
    int pagemap = open("/proc/self/pagemap", O_RDONLY);
    uint64_t entry = *middle;
    pread(pagemap, &entry, sizeof entry, (off_t)((uintptr_t)middle / 4096 * sizeof entry));
    return (entry & present) && !(entry & of_file);
}

int main(int count, char **arguments) {
    const char *what = count > 1 ? arguments[1] : "";
    if (strcmp(what, "mappings") == 0)
        return mappings();
    if (strcmp(what, "descriptors") == 0)
        return descriptors();
    if (strcmp(what, "prctl") == 0)
        return restricted(0);
    if (strcmp(what, "syscall prctl") == 0)
        return restricted(1);
    if (strcmp(what, "syscall seccomp") == 0)
        return restricted(2);
    if (strcmp(what, "loader") == 0)
        return loader();
    return strcmp(what, "data") == 0 ? data() : 2;
}
