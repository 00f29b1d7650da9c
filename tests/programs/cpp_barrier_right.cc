// SPDX-License-Identifier: Apache-2.0
// A barrier whose completion adds up what all have written, in two rounds.
// EXPECT: nothing
#include <barrier>
#include <cassert>
#include <thread>

static int part[2], total;

static void add_up() noexcept {
    total += part[0] + part[1];
}

static std::barrier<void (*)() noexcept> barrier(2, add_up);

static void rounds(int me) {
    for (int round = 1; round <= 2; round++) {
        part[me] = round;
        barrier.arrive_and_wait();
        assert(total == round * (round + 1));
    }
}

int main() {
    std::jthread one(rounds, 0), two(rounds, 1);
}
