// SPDX-License-Identifier: Apache-2.0
// A detached thread captured a local by reference and writes it when the function has returned.
// EXPECT: data-race slots A B
// EXPECT: failure SIGABRT
#include <atomic>
#include <cassert>
#include <thread>

static std::atomic<bool> done;

static void start() {
    int slots[64] = {};
    int *middle = &slots[32];
    std::thread([middle] {
        *middle = 1; // A
        done.store(true);
    }).detach();
}

static void use() {
    int slots[64];
    for (int i = 0; i < 64; i++)
        slots[i] = 7; // B
    while (!done.load())
        std::this_thread::yield();
    for (int i = 0; i < 64; i++)
        assert(slots[i] == 7); // B
}

int main() {
    start();
    use();
}
