// SPDX-License-Identifier: Apache-2.0
// flags: -std=c++20 -Wno-maybe-uninitialized
// jthread, stop tokens and callbacks, and waits that a stop request ends.
#include "check.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

static void destructor_stops_and_joins() {
    std::atomic<bool> stopped(false);
    {
        std::jthread thread([&](std::stop_token token) {
            while (!token.stop_requested())
                std::this_thread::yield();
            stopped = true;
        });
    }
    CHECK(stopped);
}

static void callbacks() {
    std::stop_source source;
    std::atomic<int> called(0);
    std::stop_callback first(source.get_token(), [&] { called += 1; });
    {
        std::stop_callback dropped(source.get_token(), [&] { called += 100; });
    }
    std::vector<std::jthread> threads;
    std::atomic<int> winners(0);
    for (int i = 0; i < 4; i++)
        threads.emplace_back([&] { winners += source.request_stop(); });
    threads.clear();
    CHECK(winners == 1 && called == 1);
    std::stop_callback late(source.get_token(), [&] { called += 10; }); // at once
    CHECK(called == 11);
}

// Destroying a callback waits for the one that runs it.
static void callback_destroyed_while_it_runs() {
    std::stop_source source;
    std::atomic<bool> running(false), finished(false);
    auto slow = [&] {
        running = true;
        for (int i = 0; i < 20; i++)
            std::this_thread::yield();
        finished = true;
    };
    std::optional<std::stop_callback<decltype(slow)>> callback;
    callback.emplace(source.get_token(), slow);
    std::jthread stopper([&] { source.request_stop(); });
    while (!running)
        std::this_thread::yield();
    callback.reset();
    CHECK(finished);
}

static void interruptible_wait() {
    std::mutex mutex;
    std::condition_variable_any condition;
    bool ready = false, result = true;
    std::jthread waiter([&](std::stop_token token) {
        std::unique_lock lock(mutex);
        result = condition.wait(lock, token, [&] { return ready; });
    });
    waiter.request_stop();
    waiter.join();
    CHECK(!result);
    std::jthread timed([&](std::stop_token token) {
        std::unique_lock lock(mutex);
        result = condition.wait_for(lock, token, 1min, [&] { return ready; });
    });
    {
        std::lock_guard lock(mutex);
        ready = true;
    }
    condition.notify_all();
    timed.join();
    CHECK(result);
}

int main() {
    destructor_stops_and_joins();
    callbacks();
    callback_destroyed_while_it_runs();
    interruptible_wait();
    CHECK(!std::stop_token().stop_possible());
    return 0;
}
