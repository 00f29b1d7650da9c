// SPDX-License-Identifier: Apache-2.0
// The promise is kept before the work is done.
// EXPECT: data-race made A B
#include <future>
#include <thread>

static int made, seen;
static std::promise<void> promise;

static void make() {
    promise.set_value();
    made = 1; // A
}

static void use() {
    promise.get_future().wait();
    seen = made; // B
}

int main() {
    std::thread one(make), two(use);
    one.join();
    two.join();
}
