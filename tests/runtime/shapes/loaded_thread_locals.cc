// SPDX-License-Identifier: Apache-2.0
// flags: -std=c++20
// A loaded library has thread_local objects: made at first use by each thread, destroyed at its end.
#include "team.h"

#include <dlfcn.h>
#include <string>
#include <thread>
#include <vector>

static std::string library() {
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    CHECK(length > 0);
    std::string program(path, (size_t)length);
    return program.substr(0, program.rfind('/')) + "/objects.so";
}

int main() {
    void *handle = dlopen(library().c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        fprintf(stderr, "%s\n", dlerror());
    CHECK(handle);
    auto next = (int (*)())dlsym(handle, "next_of_thread");
    auto alive = (int (*)())dlsym(handle, "objects_alive");
    CHECK(next && alive && alive() == 0);
    for (int round = 0; round < 3; round++) {
        std::vector<std::thread> threads;
        for (int i = 0; i < 5; i++)
            threads.emplace_back([&] {
                for (int turn = 1; turn <= 4; turn++)
                    CHECK(next() == 100 + turn);
                CHECK(alive() >= 1);
            });
        for (auto &thread : threads)
            thread.join();
        CHECK(alive() == 0);
    }
    CHECK(next() == 101 && alive() == 1);
    return 0;
}
