// SPDX-License-Identifier: Apache-2.0
// A thread leaves without dropping out of the barrier: the others wait for it for ever.
// EXPECT: deadlock|lost-wakeup - A
#include <atomic>
#include <barrier>
#include <thread>

static std::barrier<> barrier(2);
static std::atomic<int> arrived;

static void come() {
    barrier.arrive_and_wait(); // A
    if (arrived.fetch_add(1) == 0)
        return;
    barrier.arrive_and_wait(); // A
}

int main() {
    std::jthread one(come), two(come);
}
