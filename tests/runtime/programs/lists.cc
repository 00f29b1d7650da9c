// SPDX-License-Identifier: Apache-2.0
// std::list, whose nodes are linked by functions of the library: against a vector that is to hold
// the same, by all that links and unlinks, of one list and of two.
// flags: -std=c++17
#include "check.h"

#include <algorithm>
#include <iterator>
#include <list>
#include <random>
#include <thread>
#include <vector>

namespace {

using List = std::list<int>;
using Vector = std::vector<int>;

bool are_same(const List &list, const Vector &vector) {
    return list.size() == vector.size() && std::equal(list.begin(), list.end(), vector.begin()) &&
           std::equal(list.rbegin(), list.rend(), vector.rbegin());
}

class Both {
  public:
    explicit Both(unsigned seed) : random(seed) {}

    void step(Both &other) {
        switch (random() % 10) {
        case 0:
        case 1:
        case 2:
            insert();
            break;
        case 3:
            erase();
            break;
        case 4:
            list.reverse();
            std::reverse(vector.begin(), vector.end());
            break;
        case 5:
            list.sort();
            std::stable_sort(vector.begin(), vector.end());
            break;
        case 6:
            list.swap(other.list);
            vector.swap(other.vector);
            break;
        case 7:
            splice(other);
            break;
        case 8:
            turn();
            break;
        default:
            list.remove(5);
            vector.erase(std::remove(vector.begin(), vector.end(), 5), vector.end());
        }
        CHECK(are_same(list, vector) && are_same(other.list, other.vector));
    }

  private:
    List list;
    Vector vector;
    std::mt19937 random;

    std::size_t place(std::size_t count) {
        return random() % (count + 1);
    }

    void insert() {
        std::size_t at = place(vector.size());
        int value = static_cast<int>(random() % 10);
        list.insert(std::next(list.begin(), static_cast<long>(at)), value);
        vector.insert(vector.begin() + static_cast<long>(at), value);
    }

    void erase() {
        if (vector.empty())
            return;
        std::size_t at = place(vector.size() - 1);
        list.erase(std::next(list.begin(), static_cast<long>(at)));
        vector.erase(vector.begin() + static_cast<long>(at));
    }

    // Some of the other's into ours.
    void splice(Both &other) {
        long from = static_cast<long>(place(other.vector.size()));
        long to = from + static_cast<long>(place(other.vector.size() - from));
        long at = static_cast<long>(place(vector.size()));
        list.splice(std::next(list.begin(), at), other.list, std::next(other.list.begin(), from),
                    std::next(other.list.begin(), to));
        vector.insert(vector.begin() + at, other.vector.begin() + from, other.vector.begin() + to);
        other.vector.erase(other.vector.begin() + from, other.vector.begin() + to);
    }

    // The last ones to the begin.
    void turn() {
        long from = static_cast<long>(place(vector.size()));
        if (from == 0)
            return;
        list.splice(list.begin(), list, std::next(list.begin(), from), list.end());
        std::rotate(vector.begin(), vector.begin() + from, vector.end());
    }
};

void steps(unsigned seed) {
    Both one(seed), other(seed + 1);
    for (int i = 0; i < 60; i++)
        (i % 2 ? one : other).step(i % 2 ? other : one);
}

} // namespace

int main() {
    std::thread one(steps, 1), other(steps, 3);
    one.join();
    other.join();
}
