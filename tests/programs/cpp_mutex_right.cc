// SPDX-License-Identifier: Apache-2.0
// lock_guard, unique_lock and a condition variable with its predicate.
// EXPECT: nothing
#include <cassert>
#include <condition_variable>
#include <mutex>
#include <thread>

static std::mutex lock;
static std::condition_variable changed;
static int items;

int main() {
    std::thread giver([] {
        std::lock_guard<std::mutex> hold(lock);
        items = 2;
        changed.notify_all();
    });
    std::thread taker([] {
        std::unique_lock<std::mutex> hold(lock);
        changed.wait(hold, [] { return items > 0; });
        items--;
    });
    giver.join();
    taker.join();
    assert(items == 1);
}
