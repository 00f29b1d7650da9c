// SPDX-License-Identifier: Apache-2.0
// flags: -std=c++20
// Readers that never wait; a writer publishes a copy and frees the old one when nobody can see it.
#include "../programs/check.h"

#include <atomic>
#include <thread>
#include <vector>

struct Config {
    int version, twice;
    ~Config() {
        version = twice = -1; // who still looks will see it
    }
};

constexpr int READERS = 3;
static std::atomic<Config *> current;
static std::atomic<unsigned> epoch{1}, active[READERS];
static std::atomic<bool> stop;

static void read_some(int me) {
    for (int last = 0; !stop;) {
        active[me] = epoch.load();
        Config *config = current;
        int version = config->version;
        CHECK(version >= last && config->twice == 2 * version);
        last = version;
        active[me] = 0;
        std::this_thread::yield();
    }
}

static void wait_for_readers() {
    unsigned now = ++epoch;
    for (auto &reader : active)
        for (unsigned since; (since = reader) != 0 && since < now;)
            std::this_thread::yield();
}

int main() {
    current = new Config{0, 0};
    std::vector<std::thread> readers;
    for (int i = 0; i < READERS; i++)
        readers.emplace_back(read_some, i);
    for (int i = 1; i <= 12; i++) {
        Config *old = current.exchange(new Config{i, 2 * i});
        wait_for_readers();
        delete old;
    }
    stop = true;
    for (auto &reader : readers)
        reader.join();
    delete current;
    return 0;
}
