// SPDX-License-Identifier: Apache-2.0
int image(void);
int main(void) {
    return image();
}
