// SPDX-License-Identifier: Apache-2.0
// A latch counts down after the writing; whoever waited for it may read.
// EXPECT: nothing
#include <cassert>
#include <latch>
#include <thread>

static std::latch written(2);
static int left, right;

int main() {
    std::jthread one([] {
        left = 1;
        written.count_down();
    });
    std::jthread two([] {
        right = 2;
        written.count_down();
    });
    written.wait();
    assert(left + right == 3);
}
