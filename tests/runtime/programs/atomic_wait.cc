// SPDX-License-Identifier: Apache-2.0
// flags: -std=c++20
// std::atomic::wait and notify, for values that are a futex's size and for those that are not.
#include "check.h"

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

// Two threads hand a value to and fro; each waits until it is its turn.
template <typename T> static void ping_pong(T ping, T pong) {
    std::atomic<T> turn(ping);
    int rounds = 0;
    std::thread other([&] {
        for (int i = 0; i < 20; i++) {
            turn.wait(ping);
            CHECK(turn.load() == pong);
            rounds++;
            turn.store(ping);
            turn.notify_one();
        }
    });
    for (int i = 0; i < 20; i++) {
        CHECK(rounds == i);
        turn.store(pong);
        turn.notify_one();
        turn.wait(pong);
    }
    other.join();
    CHECK(rounds == 20);
}

static void notifies_all() {
    std::atomic<int> gate(0), passed(0);
    std::vector<std::thread> threads;
    for (int i = 0; i < 5; i++)
        threads.emplace_back([&] {
            gate.wait(0);
            passed++;
        });
    CHECK(passed == 0);
    gate = 1;
    gate.notify_all();
    for (auto &thread : threads)
        thread.join();
    CHECK(passed == 5);
    gate.wait(0); // not equal: returns at once
}

static void flags() {
    std::atomic_flag flag;
    bool seen = false;
    std::thread other([&] {
        flag.wait(false);
        CHECK(flag.test());
        seen = true;
    });
    CHECK(!flag.test_and_set());
    flag.notify_all();
    other.join();
    CHECK(seen);
}

// A lock that sleeps: the usual home-made one.
static void sleeping_lock() {
    std::atomic<bool> taken(false);
    int guarded = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++)
        threads.emplace_back([&] {
            for (int j = 0; j < 50; j++) {
                while (taken.exchange(true, std::memory_order_acquire))
                    taken.wait(true, std::memory_order_relaxed);
                guarded++;
                taken.store(false, std::memory_order_release);
                taken.notify_one();
            }
        });
    for (auto &thread : threads)
        thread.join();
    CHECK(guarded == 200);
}

int main() {
    int first = 1, second = 2;
    ping_pong<int>(0, 1);
    ping_pong<bool>(false, true);
    ping_pong<std::int64_t>(1, INT64_C(1) << 40);
    ping_pong<char>('a', 'b');
    ping_pong<int *>(&first, &second);
    notifies_all();
    flags();
    sleeping_lock();
    return 0;
}
