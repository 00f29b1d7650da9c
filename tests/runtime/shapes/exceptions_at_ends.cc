// SPDX-License-Identifier: Apache-2.0
// flags: -std=c++20
// Exceptions at the ends of threads: thrown and caught in destructors, and carried to other threads.
#include "../programs/check.h"

#include <atomic>
#include <exception>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

static std::atomic<int> caught;

struct ThrowsInside {
    ~ThrowsInside() {
        try {
            throw std::runtime_error("at the end");
        } catch (const std::exception &problem) {
            CHECK(std::string(problem.what()) == "at the end");
            caught++;
        }
    }
};

static thread_local ThrowsInside own;

static void throw_number(int number) {
    (void)&own;
    throw number;
}

static void carried() {
    std::vector<std::exception_ptr> problems(8);
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; i++)
        threads.emplace_back([&problems, i] {
            try {
                throw_number(i);
            } catch (...) {
                problems[(size_t)i] = std::current_exception();
            }
        });
    for (auto &thread : threads)
        thread.join();
    for (int i = 0; i < 8; i++) {
        try {
            std::rethrow_exception(problems[(size_t)i]);
        } catch (int number) {
            CHECK(number == i);
        }
    }
}

static void nested() {
    std::thread([] {
        try {
            try {
                throw std::logic_error("inner");
            } catch (...) {
                std::this_thread::yield();
                std::throw_with_nested(std::runtime_error("outer"));
            }
        } catch (const std::runtime_error &problem) {
            CHECK(std::uncaught_exceptions() == 0);
            try {
                std::rethrow_if_nested(problem);
                CHECK(!"nested");
            } catch (const std::logic_error &inner) {
                CHECK(std::string(inner.what()) == "inner");
            }
        }
    }).join();
}

static void in_futures() {
    std::packaged_task<int()> task([]() -> int { throw 42; });
    std::future<int> result = task.get_future();
    std::thread thread(std::move(task));
    try {
        result.get();
        CHECK(!"thrown");
    } catch (int number) {
        CHECK(number == 42);
    }
    thread.join();
}

int main() {
    carried();
    nested();
    in_futures();
    CHECK(caught == 8);
    return 0;
}
