// SPDX-License-Identifier: Apache-2.0
int image(void);
int image(void) {
    return 0;
}
