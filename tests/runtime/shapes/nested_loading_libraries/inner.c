// SPDX-License-Identifier: Apache-2.0
// What outer.c loads in its constructor.
int inner_value;

__attribute__((constructor)) static void begin(void) {
    inner_value = 40;
}
