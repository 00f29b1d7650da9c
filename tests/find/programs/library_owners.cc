// SPDX-License-Identifier: Apache-2.0
// What the library shares among owners that it counts by itself: two threads have a copy each, look
// at it and let go of it; whoever is last destroys it. `wrong`: what is let go of is looked at
// afterwards.
#include <cstring>
#include <filesystem>
#include <functional>
#include <locale>
#include <memory>
#include <string>
#include <thread>

struct Facet : std::locale::facet {
    static std::locale::id id;
    int value = 7;

    ~Facet() override {
        value = 0;
    }
};

std::locale::id Facet::id;

static bool locales(bool right) {
    auto first = std::make_unique<std::locale>(std::locale::classic(), new Facet);
    const Facet &facet = std::use_facet<Facet>(*first);
    int seen[2] = {};
    auto look = [](std::locale own, int &result) {
        result = std::use_facet<Facet>(own).value;
        own = std::locale::classic();
    };
    std::thread one(look, *first, std::ref(seen[0])), other(look, *first, std::ref(seen[1]));
    first.reset();
    int late = right ? 7 : facet.value;
    one.join();
    other.join();
    return seen[0] == 7 && seen[1] == 7 && late == 7;
}

static bool directories() {
    using Iterator = std::filesystem::recursive_directory_iterator;
    auto first = std::make_unique<Iterator>("/proc/self/fdinfo");
    std::string seen[2];
    auto look = [](Iterator own, std::string &result) { result = own->path().string(); };
    std::thread one(look, *first, std::ref(seen[0])), other(look, *first, std::ref(seen[1]));
    first.reset();
    one.join();
    other.join();
    return seen[0] == seen[1];
}

int main(int, char **arguments) {
    bool right = std::strcmp(arguments[1], "right") == 0;
    bool same = locales(right) && directories();
    return right && !same;
}
