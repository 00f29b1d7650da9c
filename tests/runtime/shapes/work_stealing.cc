// SPDX-License-Identifier: Apache-2.0
// flags: -std=c++20
// A deque whose owner works at one end while others steal from the other: nothing is lost or twice.
#include "../programs/check.h"

#include <atomic>
#include <thread>
#include <vector>

class Deque {
  public:
    void push(int value) {
        long b = bottom.load(std::memory_order_relaxed);
        cells[b % SIZE].store(value, std::memory_order_relaxed);
        bottom.store(b + 1, std::memory_order_release);
    }

    int take() {
        long b = bottom.load(std::memory_order_relaxed) - 1;
        bottom.store(b, std::memory_order_seq_cst);
        long t = top.load(std::memory_order_seq_cst);
        int value = -1;
        if (t <= b) {
            value = cells[b % SIZE].load(std::memory_order_relaxed);
            if (t < b)
                return value;
            if (!top.compare_exchange_strong(t, t + 1, std::memory_order_seq_cst))
                value = -1; // a thief was faster
        }
        bottom.store(b + 1, std::memory_order_relaxed);
        return value;
    }

    int steal() {
        long t = top.load(std::memory_order_seq_cst);
        if (t >= bottom.load(std::memory_order_seq_cst))
            return -1;
        int value = cells[t % SIZE].load(std::memory_order_relaxed);
        return top.compare_exchange_strong(t, t + 1, std::memory_order_seq_cst) ? value : -1;
    }

  private:
    static constexpr long SIZE = 512;
    std::atomic<long> top{0}, bottom{0};
    std::atomic<int> cells[SIZE] = {};
};

constexpr int TASKS = 150;
static Deque deque;
static std::atomic<int> done[TASKS], left{TASKS};

static void finish(int task) {
    if (task < 0)
        return;
    CHECK(done[task]++ == 0);
    left--;
}

int main() {
    std::vector<std::thread> thieves;
    for (int i = 0; i < 3; i++)
        thieves.emplace_back([] {
            while (left > 0) {
                finish(deque.steal());
                std::this_thread::yield();
            }
        });
    for (int i = 0; i < TASKS; i++) {
        deque.push(i);
        if (i % 3 == 0)
            finish(deque.take());
    }
    while (left > 0) {
        finish(deque.take());
        std::this_thread::yield();
    }
    for (auto &thief : thieves)
        thief.join();
    for (auto &one : done)
        CHECK(one == 1);
    return 0;
}
