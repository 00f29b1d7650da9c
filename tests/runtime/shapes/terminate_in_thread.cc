// SPDX-License-Identifier: Apache-2.0
// flags: -std=c++20 -Wno-terminate
// What ends a C++ program from inside a thread ends it by SIGABRT: an exception that nobody catches,
// a thread object that was not joined, noexcept, and a destructor that throws while unwinding.
#include "death.h"

#include <chrono>
#include <csignal>
#include <exception>
#include <thread>

static void uncaught() {
    std::thread([] { throw 1; }).join();
}

static void not_joined() {
    std::thread thread([] { std::this_thread::sleep_for(std::chrono::hours(1)); });
}

static void not_allowed() noexcept {
    throw 2;
}

static void breaks_promise() {
    std::thread(not_allowed).join();
}

struct Throws {
    ~Throws() noexcept(false) {
        throw 3;
    }
};

static void twice() {
    std::thread([] {
        Throws object;
        throw 4;
    }).join();
}

static void handler_of_its_own() {
    std::set_terminate([] { _exit(17); });
    std::thread([] { std::terminate(); }).join();
}

static bool aborted(int status) {
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

int main() {
    CHECK(aborted(end_of(uncaught)));
    CHECK(aborted(end_of(not_joined)));
    CHECK(aborted(end_of(breaks_promise)));
    CHECK(aborted(end_of(twice)));
    int status = end_of(handler_of_its_own);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 17);
    return 0;
}
