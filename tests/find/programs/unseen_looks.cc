// SPDX-License-Identifier: Apache-2.0
// Waits for what only the library looks at or changes: a tree, or a text. "lost" changes the text
// without the mutex.
#include <condition_variable>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <thread>

static std::mutex mutex;
static std::condition_variable changed;
static std::map<int, int> tree;
static std::string text;

template <typename Is> static void wait_until(Is is) {
    std::unique_lock<std::mutex> lock(mutex);
    while (!is())
        changed.wait(lock);
}

static bool has_leaf() {
    return tree.find(5) != tree.end();
}

static bool is_on() {
    return text == "on";
}

int main(int count, char **arguments) {
    const char *way = count > 1 ? arguments[1] : "";
    bool grows = std::strcmp(way, "tree") == 0;
    std::thread waiter([grows] { wait_until(grows ? has_leaf : is_on); });
    std::unique_lock<std::mutex> lock(mutex);
    if (std::strcmp(way, "lost") == 0)
        lock.unlock();
    if (grows)
        tree[5] = 1;
    else
        text = "on";
    if (lock)
        lock.unlock();
    changed.notify_one();
    waiter.join();
}
