// SPDX-License-Identifier: Apache-2.0
// flags: -std=c++20
// A call_once whose function throws has not happened; the next caller runs it.
#include "check.h"

#include <mutex>
#include <pthread.h>
#include <stdexcept>
#include <thread>
#include <vector>

static std::once_flag flag;
static int attempts, caught;
static std::mutex count_lock;

static void fail_three_times() {
    std::this_thread::yield();
    if (++attempts <= 3)
        throw std::runtime_error("not yet");
}

static void insist() {
    try {
        std::call_once(flag, fail_three_times);
    } catch (const std::runtime_error &error) {
        CHECK(std::string(error.what()) == "not yet");
        std::lock_guard<std::mutex> hold(count_lock);
        caught++;
    }
}

static pthread_once_t bare = PTHREAD_ONCE_INIT;
static int bare_runs;

static void throw_first() {
    if (bare_runs++ == 0)
        throw 42;
}

static void through_c() {
    int thrown = 0;
    try {
        pthread_once(&bare, throw_first);
    } catch (int value) {
        thrown = value;
    }
    CHECK(thrown == 42);
    CHECK(pthread_once(&bare, throw_first) == 0);
    CHECK(pthread_once(&bare, throw_first) == 0);
    CHECK(bare_runs == 2);
}

int main() {
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; i++)
        threads.emplace_back(insist);
    for (auto &thread : threads)
        thread.join();
    CHECK(attempts == 4 && caught == 3);
    through_c();
    return 0;
}
