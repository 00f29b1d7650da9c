// SPDX-License-Identifier: Apache-2.0
// thread_local objects: made when first used, destroyed in reverse order, before keys; huge ones.
#include "check.h"

#include <cstring>
#include <exception>
#include <pthread.h>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

static std::string *said;
static int made;

struct Says {
    std::string word;
    explicit Says(const char *text) : word(text) {
        made++;
    }
    ~Says() {
        *said += word;
    }
};

static thread_local Says first("first "), second("second ");
static thread_local std::vector<int> numbers = {1, 2, 3};
static thread_local char huge[5 << 20];
static thread_local int simple = 41;

struct MakesAnother { // one that is made while others are destroyed is destroyed next
    ~MakesAnother() {
        static thread_local Says late("late ");
        *said += "maker " + late.word;
    }
};
static thread_local MakesAnother maker;

static void use(std::string *out) {
    said = out;
    first.word += "a ";
    Says local("local ");
    static thread_local Says inner("inner ");
    inner.word += "b ";
    CHECK(numbers.size() == 3 && simple == 41 && huge[0] == 0 && huge[sizeof huge - 1] == 0);
    numbers.push_back(4);
    simple++;
    huge[0] = huge[sizeof huge - 1] = 1;
}

static void destruction() {
    for (int i = 0; i < 5; i++) {
        std::string out;
        std::thread thread(use, &out);
        thread.join();
        CHECK(out == "local inner b maker late late second first a ");
    }
    CHECK(made == 5 * 5); // first, second, local, inner, late
}

static pthread_key_t key;
static void key_destructor(void *) {
    *said += "key ";
}

static void before_keys() {
    std::string out;
    CHECK(pthread_key_create(&key, key_destructor) == 0);
    std::thread thread([&] {
        said = &out;
        CHECK(pthread_setspecific(key, &key) == 0);
        static thread_local Says object("object ");
        (void)object.word.size();
    });
    thread.join();
    CHECK(out == "object key ");
}

static std::exception_ptr caught;

static void exceptions_across_threads() {
    std::thread thrower([] {
        try {
            throw std::runtime_error("from a thread");
        } catch (...) {
            caught = std::current_exception();
            std::this_thread::yield();
        }
    });
    thrower.join();
    try {
        std::rethrow_exception(caught);
        CHECK(!"thrown");
    } catch (const std::runtime_error &error) {
        CHECK(strcmp(error.what(), "from a thread") == 0);
    }
    caught = nullptr;
}

int main() {
    std::string out;
    destruction();
    before_keys();
    exceptions_across_threads();
    said = new std::string;
    return 0;
}
