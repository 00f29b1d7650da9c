// SPDX-License-Identifier: Apache-2.0
// Each thread has its own shared_ptr to one object; the last one to let go ends it.
// EXPECT: nothing
#include <cassert>
#include <memory>
#include <thread>

static int gone;

struct Thing {
    int value = 7;
    ~Thing() {
        gone++;
    }
};

int main() {
    {
        auto thing = std::make_shared<Thing>();
        std::thread one([thing] { assert(thing->value == 7); });
        std::thread two([thing] { assert(thing->value == 7); });
        thing.reset();
        one.join();
        two.join();
    }
    assert(gone == 1);
}
