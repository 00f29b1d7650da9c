// SPDX-License-Identifier: Apache-2.0
// The count inside is atomic, the shared_ptr itself is not: one copies it, the other changes it.
// EXPECT: data-race current A B
// MAY: memory-error - A B, because the object can be gone when it is copied
// MAY: data-race - A B, because its count can be touched while it is given back
// MAY: memory-error - B C, because the copy lets go of what is gone
// MAY: memory-error - C C, because it then gives it back again
// MAY: data-race - B C, because its count can be touched while it is given back
// MAY: failure SIGSEGV, for the same reason
// MAY: failure SIGABRT, for the same reason
#include <memory>
#include <thread>

static std::shared_ptr<int> current = std::make_shared<int>(1);

static void look() {
    std::shared_ptr<int> mine = current; // A
} // C

static void change() {
    current = std::make_shared<int>(2); // B
}

int main() {
    std::jthread one(look), two(change);
}
