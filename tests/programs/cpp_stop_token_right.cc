// SPDX-License-Identifier: Apache-2.0
// A thread that waits with its stop token, and one that looks at it now and then.
// EXPECT: nothing
#include <atomic>
#include <cassert>
#include <condition_variable>
#include <mutex>
#include <thread>

static std::mutex lock;
static std::condition_variable_any changed;
static bool called;
static std::atomic<int> rounds;

int main() {
    std::jthread waiter([](std::stop_token stop) {
        std::unique_lock hold(lock);
        changed.wait(hold, stop, [] { return false; });
        assert(stop.stop_requested());
    });
    std::jthread looker([](std::stop_token stop) {
        while (!stop.stop_requested()) {
            rounds.fetch_add(1);
            std::this_thread::yield();
        }
    });
    std::stop_callback callback(waiter.get_stop_token(), [] { called = true; });
    waiter.request_stop();
    assert(called);
}
