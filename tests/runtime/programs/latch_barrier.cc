// SPDX-License-Identifier: Apache-2.0
// flags: -std=c++20
// std::latch, std::barrier with its completion, std::counting_semaphore with its time limits.
#include "check.h"

#include <atomic>
#include <barrier>
#include <chrono>
#include <latch>
#include <semaphore>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

static void latches() {
    std::latch ready(4), go(1);
    std::atomic<int> arrived(0), gone(0);
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; i++)
        threads.emplace_back([&] {
            arrived++;
            ready.count_down();
            go.wait();
            gone++;
        });
    ready.wait();
    CHECK(arrived == 4 && gone == 0 && ready.try_wait() && !go.try_wait());
    go.arrive_and_wait();
    threads.clear();
    CHECK(gone == 4);
}

static void barriers() {
    int phases = 0;
    std::atomic<int> inside(0);
    auto complete = [&]() noexcept {
        CHECK(inside == 3 * (phases + 1)); // all have come, none has gone on
        phases++;
    };
    std::barrier barrier(3, complete);
    std::vector<std::jthread> threads;
    for (int i = 0; i < 3; i++)
        threads.emplace_back([&] {
            for (int phase = 0; phase < 10; phase++) {
                inside++;
                if (phase % 2)
                    barrier.arrive_and_wait();
                else
                    barrier.wait(barrier.arrive());
                CHECK(phases > phase);
            }
        });
    threads.clear();
    CHECK(phases == 10 && inside == 30);
}

static void drops_out() {
    std::barrier barrier(3);
    std::vector<std::jthread> threads;
    std::atomic<int> rounds(0);
    for (int i = 0; i < 3; i++)
        threads.emplace_back([&, i] {
            for (int round = 0; round < 5; round++) {
                if (i == 0 && round == 2) {
                    barrier.arrive_and_drop();
                    return;
                }
                barrier.arrive_and_wait();
                rounds++;
            }
        });
    threads.clear();
    CHECK(rounds == 2 + 5 + 5);
}

// One thread acquires each semaphore: with several, libstdc++ 12 can sleep for ever beside a
// positive count (gcc bug 104928), natively too.
static void semaphores() {
    std::binary_semaphore ping(0), pong(0);
    std::counting_semaphore<3> places(3);
    int rounds = 0;
    std::jthread other([&] {
        for (int i = 0; i < 20; i++) {
            ping.acquire();
            rounds++;
            pong.release();
        }
    });
    for (int i = 0; i < 20; i++) {
        CHECK(rounds == i);
        ping.release();
        pong.acquire();
    }
    other.join();
    CHECK(places.try_acquire() && places.try_acquire() && places.try_acquire());
    CHECK(!places.try_acquire());
    auto before = std::chrono::steady_clock::now();
    CHECK(!places.try_acquire_for(1ms));
    CHECK(std::chrono::steady_clock::now() - before >= 1ms);
    CHECK(!places.try_acquire_until(std::chrono::system_clock::now() + 1ms));
    places.release(2);
    CHECK(places.try_acquire_for(1min));
    std::jthread teller([&] { ping.release(); });
    CHECK(ping.try_acquire_for(1min));
}

int main() {
    latches();
    barriers();
    drops_out();
    semaphores();
    return 0;
}
