// SPDX-License-Identifier: Apache-2.0
// flags: -ftls-model=initial-exec
// A library whose TLS has a fixed place in every thread, those included that already run.
static _Thread_local int number = 23;
static _Thread_local long zero;

int *library_number(void) {
    zero++;
    return &number;
}

int library_large(void) {
    return (int)zero;
}
