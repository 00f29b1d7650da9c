// SPDX-License-Identifier: Apache-2.0
// main leaves while a detached thread still works on a static, which is destroyed on the way out.
// EXPECT: data-race journal A B
// EXPECT: memory-error - A C
// MAY: data-race - A C, because the use and the giving back are not ordered either
// MAY: failure SIGSEGV, because what is given back may be used anew
#include <thread>

struct Log {
    int *lines = new int[4]();
    int count = 0;
    ~Log() {
        count = -1;     // B
        delete[] lines; // C
    }
};

static Log journal;

static void append() {
    journal.count++;          // A
    if (journal.count > 0)    // A
        journal.lines[0] = 1; // A
}

int main() {
    std::thread(append).detach();
}
