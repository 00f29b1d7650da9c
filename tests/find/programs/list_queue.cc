// SPDX-License-Identifier: Apache-2.0
// A queue in a std::list: "right" is looked at under a lock; "wrong" links without one.
#include <condition_variable>
#include <cstring>
#include <list>
#include <mutex>
#include <thread>

static std::mutex mutex;
static std::condition_variable filled;
static std::list<int> queue;

static void take() {
    std::unique_lock<std::mutex> lock(mutex);
    while (queue.empty())
        filled.wait(lock);
    queue.pop_front();
}

static void put() {
    {
        std::lock_guard<std::mutex> lock(mutex);
        queue.push_back(1);
    }
    filled.notify_one();
}

static std::list<int> shared{1};

// No count of it changes, and nothing is looked at: the links alone race.
static void turn() {
    shared.reverse();
}

int main(int count, char **arguments) {
    bool right = count > 1 && std::strcmp(arguments[1], "right") == 0;
    std::thread thread(right ? take : turn);
    (right ? put : turn)();
    thread.join();
}
