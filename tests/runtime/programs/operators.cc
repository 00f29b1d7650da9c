// SPDX-License-Identifier: Apache-2.0
// operator new and delete: alignment, failure, the program's handler, and its own operators.
// flags: -std=c++17 -Wno-alloc-size-larger-than -faligned-new
#include "check.h"

#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

namespace {

struct alignas(256) Wide {
    char content[256];
};

bool is_aligned(const void *block, std::size_t alignment) {
    return reinterpret_cast<std::uintptr_t>(block) % alignment == 0;
}

void allocates() {
    delete new int(5);
    delete[] new int[100];
    Wide *wide = new Wide, *several = new Wide[3];
    CHECK(is_aligned(wide, 256) && is_aligned(several, 256));
    delete wide;
    delete[] several;
    ::operator delete(::operator new(0));
    ::operator delete(nullptr);
    ::operator delete(::operator new(40), std::size_t{40});
    ::operator delete[](::operator new[](40, std::nothrow), std::nothrow);
    ::operator delete(::operator new(40, std::align_val_t{64}), std::align_val_t{64});
}

volatile std::size_t too_much = std::numeric_limits<std::size_t>::max() - 100;

void fails() {
    bool thrown = false;
    try {
        ::operator delete(::operator new(too_much));
    } catch (const std::bad_alloc &) {
        thrown = true;
    }
    CHECK(thrown);
    CHECK(::operator new(too_much, std::nothrow) == nullptr);
    CHECK(::operator new[](too_much, std::align_val_t{64}, std::nothrow) == nullptr);
    CHECK(::operator new(too_much, std::align_val_t{64}, std::nothrow) == nullptr);
}

int handled;

void gives_up() {
    if (++handled == 3)
        throw std::bad_alloc();
}

void handles() {
    std::set_new_handler(gives_up);
    bool thrown = false;
    try {
        ::operator delete[](::operator new[](too_much));
    } catch (const std::bad_alloc &) {
        thrown = true;
    }
    std::set_new_handler(nullptr);
    CHECK(thrown && handled == 3);
}

void passes_on() {
    std::vector<std::unique_ptr<std::string>> texts;
    std::thread maker([&] {
        for (int i = 0; i < 50; i++)
            texts.push_back(std::make_unique<std::string>(std::string(100, 'x')));
    });
    maker.join();
    CHECK(texts.size() == 50 && texts[49]->size() == 100);
    texts.clear();
}

} // namespace

int main() {
    allocates();
    fails();
    handles();
    passes_on();
    return 0;
}
