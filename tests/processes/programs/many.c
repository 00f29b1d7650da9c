// SPDX-License-Identifier: Apache-2.0
// many COUNT AT_A_TIME: so many children that end at once.
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int count, char **words) {
    int left = count == 3 ? atoi(words[1]) : 0;
    while (left > 0) {
        int now = atoi(words[2]);
        for (int i = 0; i < now; i++) {
            pid_t child = fork();
            if (child == 0)
                _exit(0);
            if (child < 0)
                return 2;
        }
        for (int i = 0; i < now; i++)
            if (wait(NULL) < 0)
                return 3;
        left -= now;
    }
    return 0;
}
