// SPDX-License-Identifier: Apache-2.0
#include <sys/wait.h>
#include <unistd.h>

int main(void) {
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    return waitpid(child, NULL, 0) != child;
}
