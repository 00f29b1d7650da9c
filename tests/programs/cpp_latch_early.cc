// SPDX-License-Identifier: Apache-2.0
// One of them counts the latch down before it writes.
// EXPECT: data-race part A B
#include <latch>
#include <thread>

static std::latch written(1);
static int part, seen;

static void fill() {
    written.count_down();
    part = 1; // A
}

static void look() {
    written.wait();
    seen = part; // B
}

int main() {
    std::jthread one(fill), two(look);
}
