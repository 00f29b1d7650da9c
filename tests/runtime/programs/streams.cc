// SPDX-License-Identifier: Apache-2.0
// flags: -std=c++20
// C++ streams from several threads: standard ones, files, and std::osyncstream.
#include "check.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <set>
#include <sstream>
#include <string>
#include <syncstream>
#include <thread>
#include <unistd.h>
#include <vector>

template <typename F> static void by_four(F function) {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; i++)
        threads.emplace_back(function, i);
}

static void whole_lines() {
    std::ostringstream to;
    by_four([&](int number) {
        for (int i = 0; i < 10; i++)
            std::osyncstream(to) << number << ' ' << i << ' ' << 0.5 << '\n';
    });
    std::istringstream from(to.str());
    std::multiset<std::string> lines;
    for (std::string line; std::getline(from, line);)
        lines.insert(line);
    CHECK(lines.size() == 40);
    for (int number = 0; number < 4; number++)
        for (int i = 0; i < 10; i++)
            CHECK(lines.count(std::to_string(number) + " " + std::to_string(i) + " 0.5") == 1);
}

// Characters may mix, but none is lost: cout over a file, tied to stdio.
static void standard_output() {
    char name[] = "/tmp/eitherway-streams-XXXXXX";
    int file = mkstemp(name), kept = dup(1);
    CHECK(file >= 0 && kept >= 0 && dup2(file, 1) == 1);
    by_four([](int number) {
        for (int i = 0; i < 10; i++)
            if (i % 2)
                std::cout << std::string(7, static_cast<char>('a' + number)) << std::flush;
            else
                std::printf("%c%c%c", 'A' + number, 'A' + number, 'A' + number);
    });
    std::cout.flush();
    std::fflush(stdout);
    CHECK(dup2(kept, 1) == 1);
    std::ifstream read(name);
    std::string text(std::istreambuf_iterator<char>(read), {});
    CHECK(unlink(name) == 0 && close(file) == 0 && close(kept) == 0);
    CHECK(text.size() == 4 * (5 * 7 + 5 * 3));
    for (char letter : {'a', 'b', 'c', 'd'})
        CHECK(std::count(text.begin(), text.end(), letter) == 35);
}

static void own_files() {
    by_four([](int number) {
        std::string name =
            "/tmp/eitherway-streams-" + std::to_string(getpid()) + "-" + std::to_string(number);
        std::ofstream(name) << number << "\n" << std::string(10000, 'x') << "\n";
        std::ifstream read(name);
        int seen = -1;
        std::string line;
        CHECK(read >> seen >> line && seen == number && line.size() == 10000);
        CHECK(unlink(name.c_str()) == 0);
    });
}

int main() {
    whole_lines();
    standard_output();
    own_files();
    return 0;
}
