// SPDX-License-Identifier: Apache-2.0
// A static local is made once, whoever comes first.
// EXPECT: nothing
#include <cassert>
#include <thread>

static int made;

struct Table {
    int size;
    Table() : size(++made * 10) {}
};

static const Table &table() {
    static Table only;
    return only;
}

static void use() {
    assert(table().size == 10);
}

int main() {
    std::jthread one(use), two(use);
}
