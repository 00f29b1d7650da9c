// SPDX-License-Identifier: Apache-2.0
// Readers share, a writer is alone, and the timed ones give up in time.
// EXPECT: nothing
#include <cassert>
#include <chrono>
#include <mutex>
#include <shared_mutex>
#include <thread>

static std::shared_timed_mutex lock;
static int left, right;

int main() {
    std::jthread writer([] {
        std::unique_lock hold(lock);
        left++;
        right++;
    });
    std::jthread reader([] {
        std::shared_lock hold(lock, std::chrono::milliseconds(1));
        assert(!hold || left == right);
    });
    std::shared_lock hold(lock);
    assert(left == right);
}
