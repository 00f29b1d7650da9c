// SPDX-License-Identifier: Apache-2.0
// std::condition_variable_any: the waiter looks under its own lock, and takes the condition's mutex
// before it gives that back. Right with any lock; wrong where what is looked at is stored without.
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <shared_mutex>
#include <thread>

static std::shared_mutex mutex;
static std::condition_variable_any condition;
static std::atomic<bool> ready;

int main(int argc, char **argv) {
    bool locked = argc > 1 && std::strcmp(argv[1], "right") == 0;
    std::thread waiter([] {
        std::shared_lock lock(mutex);
        condition.wait(lock, [] { return ready.load(); });
    });
    if (locked) {
        std::unique_lock lock(mutex);
        ready = true;
    } else {
        ready = true;
    }
    condition.notify_all();
    waiter.join();
}
