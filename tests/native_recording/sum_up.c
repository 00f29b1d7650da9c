/* SPDX-License-Identifier: Apache-2.0 */
/* sum_up FROM MOST: for every length up to MOST, the checksum of so many bytes of standard input
 * from byte FROM on, started with the length. */
#include <stdio.h>
#include <stdlib.h>

#include "crc32.h"

int main(int count, char **words) {
    static unsigned char bytes[8192];
    if (count != 3 || fread(bytes, 1, sizeof bytes, stdin) != sizeof bytes)
        return 64;
    for (unsigned length = 0; length <= (unsigned)atoi(words[2]); length++)
        printf("%u\n", ew_crc32(length, bytes + atoi(words[1]), length));
    return 0;
}
