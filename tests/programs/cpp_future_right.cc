// SPDX-License-Identifier: Apache-2.0
// promise, packaged_task and async hand their results over.
// EXPECT: nothing
#include <cassert>
#include <future>
#include <thread>

static int made;

int main() {
    std::promise<void> promise;
    std::packaged_task<int()> task([] { return 2; });
    std::future<void> told = promise.get_future();
    std::future<int> result = task.get_future();
    std::thread one([&promise] {
        made = 1;
        promise.set_value();
    });
    std::thread two(std::move(task));
    std::future<int> async = std::async(std::launch::async, [] { return 3; });
    told.wait();
    assert(made + result.get() + async.get() == 6);
    one.join();
    two.join();
}
