// SPDX-License-Identifier: Apache-2.0
// A static local is made once, but changed by everybody.
// EXPECT: data-race cache A A
#include <thread>

struct Cache {
    int hits;
    explicit Cache(int start) : hits(start) {}
};

static int start() {
    return 1;
}

static void look_up() {
    static Cache cache(start());
    cache.hits++; // A
}

int main() {
    std::jthread one(look_up), two(look_up);
}
