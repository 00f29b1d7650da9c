// SPDX-License-Identifier: Apache-2.0
// Accesses from inlined functions, templates, lambdas and the standard library, whose stacks must
// give the same names whatever the compiler inlines.
#include <algorithm>
#include <functional>
#include <vector>

extern "C" void watch(const char *name, void *from, unsigned long size);
extern "C" void elsewhere(void); // may touch anything: no access is merged with one across it

namespace shop {
namespace {

int stock;
int sales;
std::vector<int> prices;

struct Discount {
    int percent;
    void operator()(int &price) const {
        price -= price * percent / 100;
    }
};

} // namespace

template <typename T> struct Shelf {
    T *slot;
    void put(T amount) {
        *slot += amount;
    }
    template <typename Scale> T count(Scale scale) const {
        return *slot * static_cast<T>(scale);
    }
};

static inline void sell_one(int &counter) {
    counter = counter + 1;
}

void deliver(int amount) {
    Shelf<int> shelf{&stock};
    shelf.put(amount);
}

int audit() {
    Shelf<int> shelf{&stock};
    sell_one(sales);
    return shelf.count<double>(2.0);
}

static __attribute__((noinline)) void reset_all() {
    stock = 0;
    sales = 0;
}

int sum() {
    int total = 0;
    for (auto price : prices)
        total += price;
    return total;
}

} // namespace shop

static void apply(const std::function<void(int)> &action, int times) {
    action(times);
}

static int visits() {
    static int counter;
    if (counter == 0)
        watch("counter", &counter, sizeof counter);
    return counter += 1;
}

int main(int argc, char **) {
    shop::prices.assign(4, argc);
    watch("stock", &shop::stock, sizeof shop::stock);
    watch("sales", &shop::sales, sizeof shop::sales);
    watch("prices", shop::prices.data(), 4 * sizeof(int));
    shop::deliver(2 + argc);
    elsewhere();
    apply([](int n) { shop::stock += n; }, argc);
    apply([](int n) { std::fill_n(shop::prices.begin(), 2 + n, n); }, argc);
    std::for_each(shop::prices.begin(), shop::prices.end(), shop::Discount{argc});
    elsewhere();
    int seen = shop::audit() + shop::sum() + visits() + visits();
    elsewhere();
    shop::reset_all();
    return seen > 100000;
}
