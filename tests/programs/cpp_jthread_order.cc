// SPDX-License-Identifier: Apache-2.0
// The thread is declared before the vector it works on, so the vector goes first.
// EXPECT: memory-error - A B
// MAY: data-race - A B, because nothing orders the use with the giving back either
// MAY: failure SIGSEGV, because what is given back may be unmapped or used anew
// MAY: failure SIGABRT, for the same reason
#include <thread>

struct Numbers {
    int *first = new int[4]();
    ~Numbers() {
        delete[] first; // B
    }
};

static void fill(const int *const *numbers) {
    int *first = const_cast<int *>(*numbers);
    first[0] = 1; // A
}

static void scope() {
    std::jthread worker;
    Numbers numbers;
    worker = std::jthread(fill, &numbers.first);
}

int main() {
    scope();
}
