// SPDX-License-Identifier: Apache-2.0
// flags: -std=c++20 -Wno-tsan
// A sequence lock: readers never wait for writers, and never believe what was half written.
#include "../programs/check.h"

#include <atomic>
#include <thread>
#include <vector>

static std::atomic<unsigned> sequence;
static std::atomic<int> a, b, c;

static void write_all(int value) {
    unsigned now = sequence.load(std::memory_order_relaxed);
    for (;;) {
        while (now % 2) {
            std::this_thread::yield();
            now = sequence.load(std::memory_order_relaxed);
        }
        if (sequence.compare_exchange_weak(now, now + 1, std::memory_order_acquire))
            break;
    }
    std::atomic_thread_fence(std::memory_order_release);
    a.store(value, std::memory_order_relaxed);
    b.store(2 * value, std::memory_order_relaxed);
    c.store(3 * value, std::memory_order_relaxed);
    sequence.store(now + 2, std::memory_order_release);
}

static int read_all() {
    for (;;) {
        unsigned before = sequence.load(std::memory_order_acquire);
        int x = a.load(std::memory_order_relaxed), y = b.load(std::memory_order_relaxed),
            z = c.load(std::memory_order_relaxed);
        std::atomic_thread_fence(std::memory_order_acquire);
        if (before % 2 == 0 && before == sequence.load(std::memory_order_relaxed)) {
            CHECK(y == 2 * x && z == 3 * x);
            return x;
        }
        std::this_thread::yield();
    }
}

int main() {
    std::vector<std::thread> threads;
    for (int w = 0; w < 2; w++)
        threads.emplace_back([w] {
            for (int i = 1; i <= 20; i++)
                write_all(100 * w + i);
        });
    for (int r = 0; r < 3; r++)
        threads.emplace_back([] {
            for (int i = 0; i < 20; i++)
                CHECK(read_all() <= 120);
        });
    for (auto &thread : threads)
        thread.join();
    CHECK(sequence == 80);
    return 0;
}
