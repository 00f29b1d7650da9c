// SPDX-License-Identifier: Apache-2.0
// flags: -std=c++20
// A stack whose nodes are freed as soon as no thread points at them with a hazard pointer.
#include "../programs/check.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

struct Node {
    int value;
    Node *next;
};

constexpr int THREADS = 4, TURNS = 40;
static std::atomic<Node *> top, hazards[THREADS];
static std::atomic<int> freed, sum;

static void push(int value) {
    Node *node = new Node{value, top};
    while (!top.compare_exchange_weak(node->next, node))
        ;
}

static Node *protect(int me) {
    for (;;) {
        Node *node = top;
        hazards[me] = node;
        if (node == top)
            return node;
    }
}

static void free_unseen(std::vector<Node *> &retired) {
    auto seen = [](Node *node) {
        return std::any_of(std::begin(hazards), std::end(hazards),
                           [node](auto &hazard) { return hazard == node; });
    };
    auto rest = std::partition(retired.begin(), retired.end(), seen);
    for (auto at = rest; at != retired.end(); ++at, freed++)
        delete *at;
    retired.erase(rest, retired.end());
}

static bool pop(int me, std::vector<Node *> &retired) {
    Node *node;
    do {
        node = protect(me);
        if (!node)
            return false;
    } while (!top.compare_exchange_strong(node, node->next));
    hazards[me] = nullptr;
    sum += node->value;
    retired.push_back(node);
    return true;
}

static void work(int me) {
    std::vector<Node *> retired;
    for (int i = 0; i < TURNS; i++) {
        push(i);
        pop(me, retired);
        if (retired.size() > 5)
            free_unseen(retired);
    }
    while (pop(me, retired))
        ;
    hazards[me] = nullptr;
    while (!retired.empty()) {
        free_unseen(retired);
        std::this_thread::yield();
    }
}

int main() {
    std::vector<std::thread> threads;
    for (int i = 0; i < THREADS; i++)
        threads.emplace_back(work, i);
    for (auto &thread : threads)
        thread.join();
    CHECK(freed == THREADS * TURNS);
    CHECK(sum == THREADS * TURNS * (TURNS - 1) / 2);
    return 0;
}
