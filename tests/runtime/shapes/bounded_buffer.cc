// SPDX-License-Identifier: Apache-2.0
// flags: -std=c++20
// A buffer of one place between many threads: by semaphores, by a condition, and by atomic waits.
#include "../programs/check.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <semaphore>
#include <thread>
#include <vector>

constexpr int ITEMS = 30, SIDES = 3;

struct BySemaphores {
    std::counting_semaphore<1> room{1}, filled{0};
    int place = 0;
    void put(int value) {
        room.acquire();
        place = value;
        filled.release();
    }
    int take() {
        filled.acquire();
        int value = place;
        room.release();
        return value;
    }
};

struct ByCondition {
    std::mutex lock;
    std::condition_variable changed;
    int place = 0;
    void put(int value) {
        std::unique_lock held(lock);
        changed.wait(held, [this] { return place == 0; });
        place = value;
        changed.notify_all();
    }
    int take() {
        std::unique_lock held(lock);
        changed.wait(held, [this] { return place != 0; });
        int value = place;
        place = 0;
        changed.notify_all();
        return value;
    }
};

struct ByAtomicWait {
    std::atomic<int> place{0};
    void put(int value) {
        for (int empty = 0; !place.compare_exchange_strong(empty, value); empty = 0)
            place.wait(empty);
        place.notify_all();
    }
    int take() {
        for (;;) {
            int value = place;
            if (value && place.compare_exchange_strong(value, 0)) {
                place.notify_all();
                return value;
            }
            place.wait(0);
        }
    }
};

template <class Buffer> static void try_it() {
    Buffer buffer;
    std::atomic<long> sum{0};
    std::vector<std::thread> threads;
    for (int side = 0; side < SIDES; side++) {
        threads.emplace_back([&buffer] {
            for (int i = 1; i <= ITEMS; i++)
                buffer.put(i);
        });
        threads.emplace_back([&buffer, &sum] {
            for (int i = 1; i <= ITEMS; i++)
                sum += buffer.take();
        });
    }
    for (auto &thread : threads)
        thread.join();
    CHECK(sum == SIDES * ITEMS * (ITEMS + 1) / 2);
}

int main() {
    try_it<BySemaphores>();
    try_it<ByCondition>();
    try_it<ByAtomicWait>();
    return 0;
}
