// SPDX-License-Identifier: Apache-2.0
// Many things are touched at one place in the code: by a helper, and inside the standard library.
#include <thread>
#include <utility>

static int first, second, third, level;

static void add(int *to) {
    ++*to;
}

static void add_all() {
    add(&first);
    add(&second);
    add(&third);
}

static void raise() {
    std::exchange(level, 2);
}

static void lower() {
    std::exchange(level, 1);
}

int main() {
    std::thread other([] {
        add_all();
        raise();
    });
    add_all();
    lower();
    raise();
    other.join();
    return 0;
}
