// SPDX-License-Identifier: Apache-2.0
// flags: -std=c++20
// Static objects own threads: begun before main, used in it, and joined after it has returned.
#include "../programs/check.h"

#include <condition_variable>
#include <functional>
#include <mutex>
#include <queue>
#include <thread>
#include <vector>

class Pool {
  public:
    explicit Pool(int count) {
        for (int i = 0; i < count; i++)
            workers.emplace_back([this] { work(); });
    }
    ~Pool() {
        {
            std::lock_guard guard(lock);
            over = true;
        }
        more.notify_all();
        for (auto &worker : workers)
            worker.join();
        CHECK(tasks.empty() && ran == given);
    }
    void give(std::function<void()> task) {
        std::lock_guard guard(lock);
        tasks.push(std::move(task));
        given++;
        more.notify_one();
    }

  private:
    void work() {
        std::unique_lock held(lock);
        for (;;) {
            more.wait(held, [this] { return over || !tasks.empty(); });
            if (tasks.empty())
                return;
            auto task = std::move(tasks.front());
            tasks.pop();
            held.unlock();
            task();
            held.lock();
            ran++;
        }
    }
    std::mutex lock;
    std::condition_variable more;
    std::queue<std::function<void()>> tasks;
    std::vector<std::thread> workers;
    int given = 0, ran = 0;
    bool over = false;
};

static Pool pool(4);

static int early = [] {
    pool.give([] {});
    return 1;
}();

int main() {
    CHECK(early == 1);
    for (int i = 0; i < 50; i++)
        pool.give([i] {
            if (i % 10 == 0)
                pool.give([] { std::this_thread::yield(); });
        });
    return 0;
}
