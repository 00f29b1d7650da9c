// SPDX-License-Identifier: Apache-2.0
// A binary semaphore hands over, a counting one bounds how many are inside.
// EXPECT: nothing
// MAY: lost-wakeup room._M_sem._M_counter, because libstdc++ 12 waits where its exchange has failed
#include <atomic>
#include <cassert>
#include <semaphore>
#include <thread>

static std::binary_semaphore sent(0);
static std::counting_semaphore<2> room(2);
static std::atomic<int> inside;
static int message;

static void enter() {
    room.acquire();
    assert(inside.fetch_add(1) < 2);
    inside.fetch_sub(1);
    room.release();
}

int main() {
    std::jthread one([] {
        message = 7;
        sent.release();
        enter();
    });
    std::jthread two([] {
        sent.acquire();
        assert(message == 7);
        enter();
    });
    enter();
}
