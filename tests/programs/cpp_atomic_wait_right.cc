// SPDX-License-Identifier: Apache-2.0
// atomic::wait and notify hand a message over.
// EXPECT: nothing
#include <atomic>
#include <cassert>
#include <thread>

static std::atomic<int> ready;
static int message;

int main() {
    std::jthread receiver([] {
        ready.wait(0);
        assert(message == 7);
    });
    std::jthread sender([] {
        message = 7;
        ready.store(1);
        ready.notify_one();
    });
}
