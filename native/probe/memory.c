// SPDX-License-Identifier: Apache-2.0
// The address space: the same addresses twice, huge pages, the thread pointer.
#include "probe.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/wait.h>
#include <unistd.h>

enum { HUGE_PAGE = 2 * 1024 * 1024, HWCAP2_FSGSBASE_BIT = 1 << 1 };

// One address of every kind of mapping: code, stack, heap, mmap, shared library, vDSO.
int print_addresses(void) {
    int local;
    void *heap = malloc(16);
    void *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    printf("%p %p %p %p %p %#lx\n", (void *)(uintptr_t)print_addresses, (void *)&local, heap, page,
           (void *)(uintptr_t)getpid, getauxval(AT_SYSINFO_EHDR));
    free(heap);
    munmap(page, 4096);
    return 0;
}

static void exec_addresses(int out, bool randomize) {
    if (!randomize)
        personality(ADDR_NO_RANDOMIZE);
    dup2(out, STDOUT_FILENO);
    execl("/proc/self/exe", "eitherway-probe", "--addresses", (char *)NULL);
    _exit(127);
}

// Runs this program again and takes its line of addresses; 0, or -1 and errno.
static int addresses_of_run(bool randomize, char *line, size_t size) {
    int out[2];
    if (pipe2(out, O_CLOEXEC) < 0)
        return -1;
    pid_t child = fork_bound();
    if (child < 0)
        return -1;
    if (child == 0)
        exec_addresses(out[1], randomize);
    close(out[1]);
    ssize_t got = read(out[0], line, size - 1);
    close(out[0]);
    waitpid(child, NULL, 0);
    if (got > 0)
        line[got] = '\0';
    errno = ENOEXEC;
    return got > 0 ? 0 : -1;
}

static struct answer compare_runs(bool randomize, bool *equal) {
    char first[200], second[200];
    if (addresses_of_run(randomize, first, sizeof first) < 0 ||
        addresses_of_run(randomize, second, sizeof second) < 0)
        return no("running the probe again through /proc/self/exe");
    *equal = strcmp(first, second) == 0;
    return yes("two runs");
}

struct answer probe_aslr(void) {
    bool equal = false;
    int allowed = personality(ADDR_NO_RANDOMIZE);
    struct answer refused = no("personality(ADDR_NO_RANDOMIZE)");
    struct answer runs = compare_runs(allowed < 0, &equal);
    if (runs.state != STATE_YES)
        return runs;
    if (equal)
        return allowed < 0 ? yes("off on the whole machine (personality refused)")
                           : yes("two runs had equal addresses");
    return allowed < 0 ? refused : wrong("personality accepted, yet two runs had other addresses");
}

// Kilobytes of huge pages in the mapping that starts at `start`, from smaps; -1 when not found.
static long huge_kilobytes(const void *start) {
    char line[512], head[32];
    long kilobytes = -1;
    bool inside = false;
    FILE *maps = fopen("/proc/self/smaps", "re");
    if (!maps)
        return -1;
    snprintf(head, sizeof head, "%lx-", (unsigned long)(uintptr_t)start);
    while (fgets(line, sizeof line, maps)) {
        if (strncmp(line, head, strlen(head)) == 0)
            inside = true;
        if (inside && sscanf(line, "AnonHugePages: %ld", &kilobytes) == 1)
            break;
    }
    fclose(maps);
    return kilobytes;
}

struct answer probe_thp(void) {
    char *area = mmap(NULL, 2 * HUGE_PAGE, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (area == MAP_FAILED)
        return no("mmap");
    char *aligned = (char *)(((uintptr_t)area + HUGE_PAGE - 1) & ~(uintptr_t)(HUGE_PAGE - 1));
    // A mapping of its own, so that smaps shows it under its own first address.
    if (munmap(area, (size_t)(aligned - area)) < 0 && aligned != area)
        return no("munmap");
    if (madvise(aligned, HUGE_PAGE, MADV_HUGEPAGE) < 0)
        return no("madvise(MADV_HUGEPAGE)");
    aligned[0] = 1;
    long kilobytes = huge_kilobytes(aligned);
    if (kilobytes < 0)
        return wrong("no AnonHugePages line in /proc/self/smaps");
    if (kilobytes == 0)
        return wrong("madvise accepted, but no huge page was given");
    return yes("%ld KiB given as huge pages", kilobytes);
}

#if defined(__x86_64__)
static struct answer use_fsgsbase(void) {
    unsigned long base;
    // The kernel tells through AT_HWCAP2; without it these raise SIGILL.
    __asm__ volatile("rdfsbase %0" : "=r"(base));
    __asm__ volatile("wrfsbase %0" : : "r"(base) : "memory");
    return yes("rdfsbase and wrfsbase");
}

struct answer probe_fsgsbase(void) {
    if (!(getauxval(AT_HWCAP2) & HWCAP2_FSGSBASE_BIT))
        return wrong("the kernel does not offer FSGSBASE (AT_HWCAP2)");
    return use_fsgsbase();
}
#else
struct answer probe_fsgsbase(void) {
    return wrong("x86-64 only");
}
#endif
