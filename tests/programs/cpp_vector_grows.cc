// SPDX-License-Identifier: Apache-2.0
// One thread reads the first element while another makes the vector move.
// EXPECT: data-race numbers A B
// EXPECT: memory-error - A B
// MAY: data-race - A B, because the block is read while it is given back
// MAY: failure SIGSEGV, because what is given back may be used anew
#include <thread>
#include <vector>

static std::vector<int> numbers{1, 2};
static int seen;

static void look() {
    seen = numbers[0]; // A
}

static void grow() {
    numbers.push_back(3); // B
}

int main() {
    std::jthread one(look), two(grow);
}
