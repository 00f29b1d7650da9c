// SPDX-License-Identifier: Apache-2.0
// Makes as many children as it is told, one at a time.
#include "programs/check.h"

#include <stdlib.h>
#include <sys/wait.h>

int main(int count, char **words) {
    CHECK(count == 2);
    for (int i = atoi(words[1]); i > 0; i--) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0)
            _exit(0);
        CHECK(waitpid(child, NULL, 0) == child);
    }
    return 0;
}
