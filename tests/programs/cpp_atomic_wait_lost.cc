// SPDX-License-Identifier: Apache-2.0
// The notification comes before the change: who sleeps in between is not woken.
// EXPECT: lost-wakeup|deadlock ready A
#include <atomic>
#include <thread>

static std::atomic<int> ready;

static void send() {
    ready.notify_one();
    ready.store(1);
}

static void receive() {
    ready.wait(0); // A
}

int main() {
    std::jthread two(receive), one(send);
}
