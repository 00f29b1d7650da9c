// SPDX-License-Identifier: Apache-2.0
// flags: -std=c++20
// What loaded_thread_locals.cc loads.
#include <atomic>

static std::atomic<int> alive;

struct Object {
    int value = 100;
    Object() {
        alive++;
    }
    ~Object() {
        alive--;
    }
};

static thread_local Object own;

extern "C" int next_of_thread() {
    return ++own.value;
}

extern "C" int objects_alive() {
    return alive;
}
