// SPDX-License-Identifier: Apache-2.0
// std::random_device, whichever way the library makes its numbers.
// replayed
#include "check.h"

#include <random>
#include <set>
#include <thread>

static void draw(const char *token, std::set<unsigned> *drawn) {
    std::random_device device(token);
    for (int i = 0; i < 8; i++) {
        unsigned value = device();
        drawn->insert(value);
        printf("%s %u\n", token, value);
    }
}

int main() {
    std::set<unsigned> drawn[2];
    std::thread other(draw, "default", &drawn[0]);
    draw("/dev/urandom", &drawn[1]);
    other.join();
    CHECK(drawn[0].size() > 1);
    CHECK(drawn[1].size() > 1);
}
