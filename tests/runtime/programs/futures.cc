// SPDX-License-Identifier: Apache-2.0
// flags: -std=c++20
// Promises, futures, tasks and async: values, exceptions, time limits, and promises that broke.
#include "check.h"

#include <chrono>
#include <future>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

static void values() {
    std::promise<std::string> promise;
    auto future = promise.get_future();
    CHECK(future.valid() && future.wait_for(0s) == std::future_status::timeout);
    CHECK(future.wait_for(1ms) == std::future_status::timeout);
    CHECK(future.wait_until(std::chrono::system_clock::now() + 1ms) == std::future_status::timeout);
    std::jthread giver([&] { promise.set_value("given"); });
    CHECK(future.wait_for(1min) == std::future_status::ready);
    CHECK(future.get() == "given" && !future.valid());
}

static void exceptions() {
    std::promise<int> promise;
    auto future = promise.get_future();
    std::jthread giver([&] {
        try {
            throw std::out_of_range("too far");
        } catch (...) {
            promise.set_exception(std::current_exception());
        }
    });
    bool caught = false;
    try {
        future.get();
    } catch (const std::out_of_range &error) {
        caught = std::string(error.what()) == "too far";
    }
    CHECK(caught);
}

template <typename F> static bool fails_with(std::future_errc code, F function) {
    try {
        function();
    } catch (const std::future_error &error) {
        return error.code() == code;
    }
    return false;
}

static void broken() {
    std::future<int> orphan;
    std::jthread([&] {
        std::promise<int> promise;
        orphan = promise.get_future();
    }).join();
    CHECK(fails_with(std::future_errc::broken_promise, [&] { orphan.get(); }));
    std::promise<void> twice;
    twice.set_value();
    CHECK(fails_with(std::future_errc::promise_already_satisfied, [&] { twice.set_value(); }));
    auto first = twice.get_future();
    CHECK(fails_with(std::future_errc::future_already_retrieved, [&] { twice.get_future(); }));
}

static void shared() {
    std::promise<int> promise;
    std::shared_future<int> future = promise.get_future().share();
    std::vector<std::future<int>> sums;
    for (int i = 0; i < 4; i++)
        sums.push_back(std::async(std::launch::async, [future, i] { return future.get() + i; }));
    promise.set_value(10);
    for (int i = 0; i < 4; i++)
        CHECK(sums[i].get() == 10 + i);
}

static void asynchronous() {
    auto here = std::this_thread::get_id();
    auto elsewhere = std::async(std::launch::async, [] { return std::this_thread::get_id(); });
    auto later = std::async(std::launch::deferred, [] { return std::this_thread::get_id(); });
    CHECK(later.wait_for(0s) == std::future_status::deferred);
    CHECK(elsewhere.get() != here && later.get() == here);
    auto throws = std::async(std::launch::async, []() -> int { throw 7; });
    int caught = 0;
    try {
        throws.get();
    } catch (int value) {
        caught = value;
    }
    CHECK(caught == 7);
    bool ran = false;
    { // the destructor of such a future waits
        auto unused = std::async(std::launch::async, [&] { ran = true; });
    }
    CHECK(ran);
}

static void tasks() {
    std::packaged_task<int(int)> task([](int n) {
        std::vector<int> numbers(n);
        std::iota(numbers.begin(), numbers.end(), 1);
        return std::accumulate(numbers.begin(), numbers.end(), 0);
    });
    auto result = task.get_future();
    std::jthread runner(std::ref(task), 100);
    CHECK(result.get() == 5050);
    runner.join();
    task.reset();
    result = task.get_future();
    task(3);
    CHECK(result.get() == 6);
}

struct Witness {
    bool *gone;
    ~Witness() {
        *gone = true;
    }
};

static void at_thread_exit() {
    bool gone = false;
    std::promise<int> promise;
    auto future = promise.get_future();
    std::jthread thread([&] {
        thread_local Witness witness;
        witness.gone = &gone;
        promise.set_value_at_thread_exit(5);
        CHECK(future.wait_for(0s) == std::future_status::timeout);
    });
    CHECK(future.get() == 5);
    thread.join();
    CHECK(gone);
}

int main() {
    values();
    exceptions();
    broken();
    shared();
    asynchronous();
    tasks();
    at_thread_exit();
    return 0;
}
