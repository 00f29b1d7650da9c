// SPDX-License-Identifier: Apache-2.0
// Two megabytes of thread-local storage: zeroed or as initialised for each, and nobody else's.
#include "team.h"

static _Thread_local char zeroed[2 << 20];
static _Thread_local int filled[4096] = {1, 2, 3};

static void *touches(void *number) {
    int mine = (int)number_of(number) + 10;
    for (size_t i = 0; i < sizeof zeroed; i += 65536) {
        CHECK(zeroed[i] == 0);
        zeroed[i] = (char)mine;
    }
    CHECK(filled[0] == 1 && filled[2] == 3 && filled[4095] == 0);
    filled[0] = filled[4095] = mine;
    sched_yield();
    for (size_t i = 0; i < sizeof zeroed; i += 65536)
        CHECK(zeroed[i] == (char)mine);
    CHECK(filled[0] == mine && filled[4095] == mine);
    return NULL;
}

int main(void) {
    for (int round = 0; round < 3; round++)
        run_team(4, touches);
    touches(NULL);
    return 0;
}
