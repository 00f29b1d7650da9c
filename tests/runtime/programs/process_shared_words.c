// SPDX-License-Identifier: Apache-2.0
// not replayed: what one process stores without a lock, the other sees when it comes
// Futexes in memory that two processes have.
#include "check.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

static uint32_t *word;

static long futex(int operation, uint32_t value, const struct timespec *limit) {
    return syscall(SYS_futex, word, operation, value, limit, NULL, 0);
}

static void await_word(uint32_t wanted) {
    for (uint32_t seen; (seen = __atomic_load_n(word, __ATOMIC_SEQ_CST)) != wanted;)
        CHECK(futex(FUTEX_WAIT, seen, NULL) == 0 || errno == EAGAIN || errno == EINTR);
}

static void set_word(uint32_t value) {
    __atomic_store_n(word, value, __ATOMIC_SEQ_CST);
    CHECK(futex(FUTEX_WAKE, 1, NULL) >= 0);
}

static void alone(void) {
    struct timespec instant = {0, 1000000}, wrong = {0, -1};
    CHECK(futex(FUTEX_WAIT, 77, NULL) == -1 && errno == EAGAIN);
    CHECK(futex(FUTEX_WAIT, 0, &wrong) == -1 && errno == EINVAL);
    CHECK(futex(FUTEX_WAIT, 0, &instant) == -1 && errno == ETIMEDOUT);
    CHECK(futex(FUTEX_WAKE, 1, NULL) == 0);
}

static void child(void) {
    await_word(1);
    set_word(2);
    await_word(3);
    _exit(0);
}

int main(void) {
    int status;
    word = mmap(NULL, sizeof *word, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(word != MAP_FAILED);
    alone();
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0)
        child();
    set_word(1);
    await_word(2);
    set_word(3);
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    return 0;
}
