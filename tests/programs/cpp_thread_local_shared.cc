// SPDX-License-Identifier: Apache-2.0
// A thread gives away the address of its own copy, and both use it.
// EXPECT: data-race own A B
#include <atomic>
#include <thread>

static thread_local int own;
static std::atomic<int *> given;
static std::atomic<bool> finished;

static void owner() {
    given.store(&own);
    own = 1; // A
    while (!finished.load())
        std::this_thread::yield();
}

static void borrower() {
    int *other;
    while (!(other = given.load()))
        std::this_thread::yield();
    *other += 1; // B
    finished.store(true);
}

int main() {
    std::jthread one(owner), two(borrower);
}
