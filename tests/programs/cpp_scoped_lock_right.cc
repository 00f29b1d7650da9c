// SPDX-License-Identifier: Apache-2.0
// Two mutexes in two orders, but taken together: scoped_lock backs off.
// EXPECT: nothing
#include <cassert>
#include <mutex>
#include <thread>

static std::mutex one, other;
static int moved;

int main() {
    {
        std::jthread forward([] {
            std::scoped_lock both(one, other);
            moved++;
        });
        std::jthread backward([] {
            std::scoped_lock both(other, one);
            moved--;
        });
    }
    assert(moved == 0);
}
