// SPDX-License-Identifier: Apache-2.0
// flags: -std=c++20
// Exceptions under way while others run: each thread has its own, and some are handed over.
#include "check.h"

#include <exception>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

struct Guard {
    int &count;
    ~Guard() {
        CHECK(std::uncaught_exceptions() == 1);
        std::this_thread::yield(); // in the middle of unwinding
        CHECK(std::uncaught_exceptions() == 1);
        count++;
    }
};

static int deep(int depth, int number, int &unwound) {
    Guard guard{unwound};
    std::this_thread::yield();
    if (depth == 0)
        throw std::runtime_error(std::to_string(number));
    return deep(depth - 1, number, unwound) + 1;
}

// Holds one caught exception while it throws and catches others, and rethrows it at the end.
static void hold_and_rethrow(int number) {
    int unwound = 0, caught = 0;
    try {
        try {
            deep(5, number, unwound);
        } catch (const std::runtime_error &held) {
            CHECK(unwound == 6 && std::uncaught_exceptions() == 0);
            for (int i = 0; i < 5; i++) {
                try {
                    throw i * number;
                } catch (int value) {
                    std::this_thread::yield();
                    CHECK(value == i * number);
                    caught++;
                }
                CHECK(held.what() == std::to_string(number));
            }
            std::this_thread::yield();
            throw; // the one that is held
        }
    } catch (const std::runtime_error &again) {
        CHECK(again.what() == std::to_string(number));
        caught += 10;
    }
    CHECK(caught == 15 && std::current_exception() == nullptr);
}

static void each_its_own() {
    std::vector<std::jthread> threads;
    for (int i = 1; i <= 5; i++)
        threads.emplace_back(hold_and_rethrow, i);
}

// --- handed over: several threads rethrow the same object

static void handed_over() {
    std::exception_ptr kept;
    std::mutex mutex;
    int seen = 0;
    std::thread thrower([&] {
        try {
            std::vector<int>().at(3);
        } catch (...) {
            kept = std::current_exception();
        }
    });
    thrower.join(); // the exception outlives its thread
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; i++)
        threads.emplace_back([&, own = kept] {
            try {
                std::this_thread::yield();
                std::rethrow_exception(own);
            } catch (const std::out_of_range &) {
                std::lock_guard lock(mutex);
                seen++;
            }
        });
    threads.clear();
    CHECK(seen == 4);
}

static void nested() {
    std::string texts;
    auto inner = [] {
        try {
            throw std::logic_error("inner");
        } catch (...) {
            std::this_thread::yield();
            std::throw_with_nested(std::runtime_error("outer"));
        }
    };
    std::jthread([&] {
        try {
            inner();
        } catch (const std::runtime_error &outer) {
            texts = outer.what();
            try {
                std::rethrow_if_nested(outer);
            } catch (const std::logic_error &error) {
                texts += error.what();
            }
        }
    }).join();
    CHECK(texts == "outerinner");
}

int main() {
    each_its_own();
    handed_over();
    nested();
    return 0;
}
