// SPDX-License-Identifier: Apache-2.0
// A virtual function is called while the destructor turns the object into its base.
// EXPECT: data-race worker A B
// MAY: data-race worker A C, because the derived destructor sets the table too, to what it was
#include <atomic>
#include <new>
#include <thread>

struct Base {
    virtual int work() {
        return 1;
    }
    virtual ~Base() {} // B
};

struct Worker : Base {
    int work() override {
        return 2;
    }
    ~Worker() override {} // C
};

alignas(Worker) static unsigned char worker[sizeof(Worker)];
static std::atomic<int> sum;

static void call() {
    sum += reinterpret_cast<Base *>(worker)->work(); // A
}

static void end() {
    reinterpret_cast<Worker *>(worker)->~Worker();
}

int main() {
    new (worker) Worker;
    std::jthread one(call), two(end);
}
