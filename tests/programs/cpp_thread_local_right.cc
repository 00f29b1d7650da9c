// SPDX-License-Identifier: Apache-2.0
// Each thread has its own, with constructor and destructor.
// EXPECT: nothing
#include <atomic>
#include <cassert>
#include <thread>

static std::atomic<int> made, gone;

struct Counter {
    int value = 0;
    Counter() {
        made.fetch_add(1);
    }
    ~Counter() {
        gone.fetch_add(1);
    }
};

static thread_local Counter counter;

static void count() {
    for (int i = 0; i < 3; i++)
        counter.value++;
    assert(counter.value == 3);
}

int main() {
    {
        std::jthread one(count), two(count);
    }
    assert(made.load() == 2 && gone.load() == 2);
}
