// SPDX-License-Identifier: Apache-2.0
// Asks for files that are not there, by names that lie in memory oddly.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PAGE = 4096, LARGE = 2 << 20 };

static char *memory(size_t size, int flags, int descriptor) {
    void *found = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, descriptor, 0);
    return found == MAP_FAILED ? NULL : found;
}

static char *own(size_t size) {
    return memory(size, MAP_PRIVATE | MAP_ANONYMOUS, -1);
}

static void ask(const char *name) {
    access(name, F_OK);
}

static void at_ends_of_pages(void) {
    char *pages = own(3 * PAGE), *end = pages + 2 * PAGE;
    munmap(end, PAGE);
    for (int before = 1; before < 10; before++)
        ask(strcpy(pages + PAGE - before, "crosses"));
    for (size_t i = 0; i < 8; i++) {
        static const char names[8][16] = {"e",     "en",     "end",     "end4",
                                          "end_5", "end__6", "end___7", "end____8"};
        ask(strcpy(end - strlen(names[i]) - 1, names[i]));
    }
}

static void in_large_pages(void) {
    char *room = own(2 * LARGE);
    char *large = room + (LARGE - (uintptr_t)room % LARGE) % LARGE;
    madvise(large, LARGE, MADV_HUGEPAGE);
    ask(strcpy(large + 5 * PAGE + 1, "large"));
}

static void in_a_file(void) {
    static const char name[PAGE] = "untouched";
    int file = open("names", O_RDWR | O_CREAT, 0600);
    if (write(file, name, sizeof name) == sizeof name)
        ask(memory(PAGE, MAP_PRIVATE, file));
}

static void where_the_kernel_cannot_read(void) {
    int file = (int)syscall(SYS_memfd_secret, 0);
    char *secret = file >= 0 && ftruncate(file, PAGE) == 0 ? memory(PAGE, MAP_SHARED, file) : NULL;
    if (secret) // else there is no such memory here
        ask(strcpy(secret + 1, "secret"));
}

static void lengths(void) {
    char long_name[301];
    memset(long_name, 'l', 300);
    for (int length = 240; length < 256; length++) {
        long_name[length] = '\0';
        ask(long_name);
        long_name[length] = 'l';
    }
    ask("");
}

int main(void) {
    at_ends_of_pages();
    in_large_pages();
    in_a_file();
    where_the_kernel_cannot_read();
    lengths();
    return access((const char *)8, F_OK) == 0 || errno != EFAULT;
}
