// SPDX-License-Identifier: Apache-2.0
// flags: -std=c++20
// A static local is initialised once by whoever comes first; again if its initialiser has thrown.
#include "check.h"

#include <atomic>
#include <string>
#include <thread>
#include <vector>

static std::atomic<int> made, failed, destroyed;

struct Slow {
    std::string text;
    Slow() {
        for (int i = 0; i < 10; i++) {
            text += 'x';
            std::this_thread::yield();
        }
        made++;
    }
    ~Slow() {
        destroyed++;
    }
};

static const std::string &shared() {
    static Slow slow;
    return slow.text;
}

static int fails_twice() {
    static int value = [] {
        std::this_thread::yield();
        if (failed.load() < 2) {
            failed++;
            throw std::string("no");
        }
        return 7;
    }();
    return value;
}

static int until_it_works() {
    for (;;) {
        try {
            return fails_twice();
        } catch (const std::string &) {
        }
    }
}

template <int N> static int numbered() { // each instance has a guard of its own
    static std::string text(N, 'n');
    return static_cast<int>(text.size());
}

static void use_all() {
    CHECK(shared() == "xxxxxxxxxx");
    CHECK(until_it_works() == 7);
    CHECK(numbered<1>() + numbered<2>() + numbered<3>() == 6);
}

int main() {
    std::vector<std::thread> threads;
    for (int i = 0; i < 6; i++)
        threads.emplace_back(use_all);
    for (auto &thread : threads)
        thread.join();
    CHECK(made == 1 && failed == 2 && destroyed == 0);
    return 0;
}
