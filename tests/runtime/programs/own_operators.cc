// SPDX-License-Identifier: Apache-2.0
// A program with operators of its own: the others are made of these.
// flags: -std=c++17
#include "check.h"

#include <cstdlib>
#include <new>

static int made, gone;

void *operator new(std::size_t size) {
    made++;
    return std::malloc(size);
}

void operator delete(void *block) noexcept {
    gone++;
    std::free(block);
}

void operator delete(void *block, std::size_t) noexcept {
    gone++;
    std::free(block);
}

int main() {
    volatile std::size_t size = 10;
    delete ::new int(1);
    CHECK(made == 1 && gone == 1);
    delete[] ::new int[size];
    CHECK(made == 2 && gone == 2);
    ::operator delete[](::operator new[](size, std::nothrow), std::nothrow);
    CHECK(made == 3 && gone == 3);
    ::operator delete(::operator new(size, std::nothrow));
    CHECK(made == 4 && gone == 4);
    return 0;
}
