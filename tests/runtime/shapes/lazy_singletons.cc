// SPDX-License-Identifier: Apache-2.0
// flags: -std=c++20
// What is made once for all, in every way: static locals, call_once, double-checked, and recursive.
#include "../programs/check.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

static std::atomic<int> made;

struct Thing {
    int value = ++made;
};

static Thing &by_static() {
    static Thing thing;
    return thing;
}

static Thing &by_once() {
    static std::once_flag once;
    static std::unique_ptr<Thing> thing;
    std::call_once(once, [] { thing = std::make_unique<Thing>(); });
    return *thing;
}

static Thing &by_double_check() {
    static std::atomic<Thing *> thing;
    static std::mutex lock;
    Thing *found = thing.load(std::memory_order_acquire);
    if (!found) {
        std::lock_guard guard(lock);
        found = thing.load(std::memory_order_relaxed);
        if (!found) {
            found = new Thing;
            thing.store(found, std::memory_order_release);
        }
    }
    return *found;
}

template <int N> static int tower() {
    static int value = 1 + tower<N - 1>();
    return value;
}
template <> int tower<0>() {
    static int value = (std::this_thread::yield(), 0);
    return value;
}

int main() {
    std::vector<std::thread> threads;
    std::atomic<int> sum{0};
    for (int i = 0; i < 8; i++)
        threads.emplace_back([&sum] {
            Thing *first[] = {&by_static(), &by_once(), &by_double_check()};
            CHECK(first[0] == &by_static() && first[1] == &by_once() &&
                  first[2] == &by_double_check());
            sum += tower<20>();
        });
    for (auto &thread : threads)
        thread.join();
    CHECK(made == 3 && sum == 160);
    delete &by_double_check();
    return 0;
}
