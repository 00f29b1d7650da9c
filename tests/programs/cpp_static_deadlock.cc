// SPDX-License-Identifier: Apache-2.0
// Making the static needs the lock, and who has the lock needs the static.
// EXPECT: deadlock - A B
#include <mutex>
#include <thread>

static std::recursive_mutex lock;

static int make() {
    std::lock_guard hold(lock); // A
    return 42;
}

static int table() {
    static int made = make(); // B
    return made;
}

static void use_locked() {
    std::lock_guard hold(lock);
    table();
}

int main() {
    std::jthread one(table), two(use_locked);
}
