// SPDX-License-Identifier: Apache-2.0
// A library with TLS that is allocated for each thread when it is first used.
static _Thread_local int number = 17;
static _Thread_local char large[100000];
static _Thread_local int *self;

int *library_number(void) {
    large[99999]++;
    self = &number;
    return self;
}

int library_large(void) {
    return large[99999];
}
