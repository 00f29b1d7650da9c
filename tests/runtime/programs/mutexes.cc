// SPDX-License-Identifier: Apache-2.0
// flags: -std=c++20
// The mutexes of C++ and what locks them: shared, timed, recursive, several at once.
#include "check.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

template <typename F> static void elsewhere(F function) {
    std::thread(function).join();
}

static void shared() {
    std::shared_mutex mutex;
    std::vector<std::jthread> threads;
    int value = 0;
    std::atomic<int> reads(0);
    for (int i = 0; i < 5; i++)
        threads.emplace_back([&, i] {
            for (int j = 0; j < 30; j++)
                if (i < 2) {
                    std::unique_lock lock(mutex);
                    value++;
                    value++;
                } else {
                    std::shared_lock lock(mutex);
                    CHECK(value % 2 == 0);
                    reads++;
                }
        });
    threads.clear();
    CHECK(value == 120 && reads == 90);
    std::shared_lock reading(mutex);
    elsewhere([&] {
        CHECK(!mutex.try_lock() && mutex.try_lock_shared());
        mutex.unlock_shared();
    });
}

static void shared_timed() {
    std::shared_timed_mutex mutex;
    std::unique_lock writing(mutex);
    elsewhere([&] {
        CHECK(!mutex.try_lock_for(1ms) && !mutex.try_lock_shared_for(1ms));
        CHECK(!mutex.try_lock_until(std::chrono::system_clock::now() + 1ms));
        CHECK(!mutex.try_lock_shared_until(std::chrono::steady_clock::now() + 1ms));
    });
    writing.unlock();
    elsewhere([&] {
        CHECK(mutex.try_lock_shared_for(1min));
        mutex.unlock_shared();
    });
}

template <typename Mutex> static void timed() {
    Mutex mutex;
    mutex.lock();
    elsewhere([&] {
        auto before = std::chrono::steady_clock::now();
        CHECK(!mutex.try_lock() && !mutex.try_lock_for(1ms));
        CHECK(std::chrono::steady_clock::now() - before >= 1ms);
        CHECK(!mutex.try_lock_until(std::chrono::system_clock::now() + 1ms));
    });
    std::thread waiter([&] {
        CHECK(mutex.try_lock_for(1min));
        mutex.unlock();
    });
    mutex.unlock();
    waiter.join();
}

static void recursive() {
    std::recursive_timed_mutex mutex;
    CHECK(mutex.try_lock() && mutex.try_lock_for(1ms));
    mutex.lock();
    for (int i = 0; i < 3; i++) {
        elsewhere([&] { CHECK(!mutex.try_lock()); });
        mutex.unlock();
    }
    elsewhere([&] {
        CHECK(mutex.try_lock());
        mutex.unlock();
    });
}

// Every thread names them in another order; std::lock finds one that cannot deadlock.
static void several_at_once() {
    std::mutex mutexes[3];
    int sum = 0;
    std::vector<std::jthread> threads;
    for (int i = 0; i < 3; i++)
        threads.emplace_back([&, i] {
            for (int j = 0; j < 20; j++) {
                std::scoped_lock lock(mutexes[i], mutexes[(i + 1) % 3], mutexes[(i + 2) % 3]);
                sum++;
            }
        });
    threads.clear();
    CHECK(sum == 60);
    mutexes[1].lock();
    elsewhere([&] { CHECK(std::try_lock(mutexes[0], mutexes[1], mutexes[2]) == 1); });
    mutexes[1].unlock();
}

static void conditions() {
    std::mutex mutex;
    std::condition_variable condition;
    std::unique_lock lock(mutex);
    CHECK(condition.wait_for(lock, 1ms) == std::cv_status::timeout ||
          condition.wait_for(lock, 1ms) == std::cv_status::timeout);
    CHECK(!condition.wait_for(lock, 1ms, [] { return false; }));
    CHECK(
        !condition.wait_until(lock, std::chrono::system_clock::now() + 1ms, [] { return false; }));
    bool ready = false;
    std::jthread setter([&] {
        std::lock_guard hold(mutex);
        ready = true;
        condition.notify_all();
    });
    CHECK(condition.wait_for(lock, 1min, [&] { return ready; }));
    CHECK(ready && lock.owns_lock());
    lock.unlock();
    setter.join();
    bool at_exit = false;
    lock.lock();
    std::jthread leaver([&] {
        std::unique_lock hold(mutex);
        at_exit = true;
        std::notify_all_at_thread_exit(condition, std::move(hold));
    });
    condition.wait(lock, [&] { return at_exit; });
}

// Any lock will do for condition_variable_any.
static void any_lock() {
    std::shared_mutex mutex;
    std::condition_variable_any condition;
    int stage = 0;
    std::jthread reader([&] {
        std::shared_lock lock(mutex);
        condition.wait(lock, [&] { return stage == 1; });
        CHECK(!condition.wait_for(lock, 1ms, [&] { return stage == 2; }));
    });
    {
        std::unique_lock lock(mutex);
        stage = 1;
    }
    condition.notify_all();
}

int main() {
    shared();
    shared_timed();
    timed<std::timed_mutex>();
    timed<std::recursive_timed_mutex>();
    recursive();
    several_at_once();
    conditions();
    any_lock();
    return 0;
}
