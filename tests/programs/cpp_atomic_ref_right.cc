// SPDX-License-Identifier: Apache-2.0
// Plain integers, but every access of both threads goes through atomic_ref.
// EXPECT: nothing
#include <atomic>
#include <cassert>
#include <thread>

static int counter;

static void add() {
    std::atomic_ref<int>(counter).fetch_add(1);
}

int main() {
    {
        std::jthread one(add), two(add);
    }
    assert(counter == 2);
}
