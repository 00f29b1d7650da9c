// SPDX-License-Identifier: Apache-2.0
// Two accounts, each transfer takes its own first.
// EXPECT: deadlock ann,bob A B
#include <mutex>
#include <thread>

struct Account {
    std::mutex lock;
    int balance = 10;
};

static Account ann, bob;

static void transfer(Account &from, Account &to) {
    std::lock_guard mine(from.lock); // A
    std::lock_guard theirs(to.lock); // B
    from.balance--;
    to.balance++;
}

int main() {
    std::jthread one([] { transfer(ann, bob); }), two([] { transfer(bob, ann); });
}
