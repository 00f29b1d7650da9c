// SPDX-License-Identifier: Apache-2.0
// Leaves a file and a folder in the folder that it is given, and says what they are called.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int main(int count, char **arguments) {
    char file[4096], folder[4096], *name;
    struct stat status;
    snprintf(file, sizeof file, "%s/file-XXXXXX.txt", arguments[count - 1]);
    snprintf(folder, sizeof folder, "%s/folder-XXXXXX", arguments[count - 1]);
    int made = mkstemps(file, 4);
    if (made < 0 || !mkdtemp(folder) || fstat(made, &status) < 0 || status.st_size)
        return 1;
    name = tempnam(arguments[count - 1], "name-");
    printf("%s %s %s\n", strrchr(file, '/'), strrchr(folder, '/'), strrchr(name, '/'));
    return write(made, "left", 4) != 4;
}
