// SPDX-License-Identifier: Apache-2.0
// The first try throws, and call_once tries again.
// EXPECT: nothing
#include <atomic>
#include <cassert>
#include <mutex>
#include <thread>

static std::once_flag once;
static std::atomic<int> tries;
static int table;

static void make() {
    if (tries.fetch_add(1) == 0)
        throw 1;
    table = 42;
}

static void use() {
    try {
        std::call_once(once, make);
        assert(table == 42);
    } catch (int) {
    }
}

int main() {
    std::jthread one(use), two(use), three(use);
}
