// SPDX-License-Identifier: Apache-2.0
// flags: -std=c++20
// Hundreds of asynchronous calls, nested, deferred, chained by promises, and shared futures.
#include "../programs/check.h"

#include <future>
#include <numeric>
#include <vector>

static long fibonacci(int n) {
    if (n < 2)
        return n;
    if (n < 7)
        return fibonacci(n - 1) + fibonacci(n - 2);
    auto other = std::async(std::launch::async, fibonacci, n - 2);
    return fibonacci(n - 1) + other.get();
}

int main() {
    std::vector<std::future<int>> many;
    for (int i = 0; i < 150; i++)
        many.push_back(std::async(i % 3 ? std::launch::async : std::launch::deferred,
                                  [i] { return 2 * i; }));
    long sum = 0;
    for (auto &one : many)
        sum += one.get();
    CHECK(sum == 150L * 149);
    CHECK(fibonacci(12) == 144);

    std::promise<int> first;
    std::shared_future<int> value = first.get_future().share();
    std::vector<std::future<int>> chain;
    for (int i = 0; i < 20; i++)
        chain.push_back(std::async(std::launch::async, [value, i] { return value.get() + i; }));
    first.set_value(1000);
    for (int i = 0; i < 20; i++)
        CHECK(chain[(size_t)i].get() == 1000 + i);
    return 0;
}
