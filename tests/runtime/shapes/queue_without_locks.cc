// SPDX-License-Identifier: Apache-2.0
// flags: -std=c++20
// A linked queue that several fill and several empty without a lock; its nodes are given back last.
#include "../programs/check.h"

#include <atomic>
#include <thread>
#include <vector>

struct Node {
    std::atomic<Node *> next{nullptr};
    int value;
    explicit Node(int v) : value(v) {}
};

class Queue {
  public:
    Queue() : head(new Node(-1)), tail(head.load()) {}
    ~Queue() {
        for (Node *node : retired)
            delete node;
        delete head.load();
    }

    void push(int value) {
        Node *node = new Node(value);
        for (;;) {
            Node *last = tail.load(std::memory_order_acquire), *next = nullptr;
            if (last->next.compare_exchange_weak(next, node, std::memory_order_release)) {
                tail.compare_exchange_strong(last, node);
                return;
            }
            if (next)
                tail.compare_exchange_strong(last, next); // help who was slower
        }
    }

    bool pop(int &value, std::vector<Node *> &mine) {
        for (;;) {
            Node *first = head.load(), *last = tail.load();
            Node *next = first->next.load(std::memory_order_acquire);
            if (!next)
                return false;
            if (first == last)
                tail.compare_exchange_strong(last, next);
            else if (head.compare_exchange_weak(first, next)) {
                value = next->value;
                mine.push_back(first);
                return true;
            }
        }
    }

    std::vector<Node *> retired;

  private:
    std::atomic<Node *> head, tail;
};

int main() {
    constexpr int PER_THREAD = 60, FILLERS = 3, EMPTIERS = 3;
    Queue queue;
    std::atomic<int> taken{0};
    std::vector<std::vector<Node *>> used(EMPTIERS);
    std::vector<std::vector<int>> seen(EMPTIERS);
    std::vector<std::thread> threads;
    for (int f = 0; f < FILLERS; f++)
        threads.emplace_back([&queue, f] {
            for (int i = 0; i < PER_THREAD; i++)
                queue.push(f * 1000 + i);
        });
    for (size_t e = 0; e < EMPTIERS; e++)
        threads.emplace_back([&, e] {
            while (taken < FILLERS * PER_THREAD) {
                int value;
                if (queue.pop(value, used[e])) {
                    seen[e].push_back(value);
                    taken++;
                } else {
                    std::this_thread::yield();
                }
            }
        });
    for (auto &thread : threads)
        thread.join();
    std::vector<int> count(FILLERS * 1000);
    for (auto &list : seen) {
        std::vector<int> last(FILLERS, -1);
        for (int value : list) {
            CHECK(value % 1000 > last[(size_t)value / 1000]); // first in, first out
            last[(size_t)value / 1000] = value % 1000;
            CHECK(count[(size_t)value]++ == 0);
        }
    }
    for (auto &list : used)
        queue.retired.insert(queue.retired.end(), list.begin(), list.end());
    CHECK(queue.retired.size() == FILLERS * PER_THREAD);
    return 0;
}
