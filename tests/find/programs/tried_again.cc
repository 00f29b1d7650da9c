// SPDX-License-Identifier: Apache-2.0
// What was begun and left by an exception is tried again by the next thread, behind the first:
// once, by std::call_once, or by the initialiser of a static local.
#include <cstring>
#include <mutex>
#include <stdexcept>
#include <thread>

static int tries;

static int attempt() {
    if (++tries == 1)
        throw std::runtime_error("not yet");
    return tries;
}

static void once() {
    static std::once_flag flag;
    std::call_once(flag, attempt);
}

static void local() {
    static int value = attempt();
    if (value != 2)
        std::terminate();
}

int main(int argc, char **argv) {
    auto way = argc > 1 && std::strcmp(argv[1], "once") == 0 ? once : local;
    auto stubborn = [way] {
        for (;;)
            try {
                return way();
            } catch (const std::runtime_error &) {
            }
    };
    std::thread one(stubborn), other(stubborn), third(stubborn);
    one.join(), other.join(), third.join();
    return tries == 2 ? 0 : 1;
}
