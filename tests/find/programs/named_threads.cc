// SPDX-License-Identifier: Apache-2.0
// Two threads that race, each with a name that it was given in another way; main has one too.
#include <pthread.h>
#include <sys/prctl.h>

namespace bank {

template <typename Amount> class Account {
  public:
    void deposit(Amount amount) {
        balance += amount;
    }

  private:
    Amount balance = 0;
};

Account<int> account;

void *clerk(void *) {
    prctl(PR_SET_NAME, "clerk \033 of a long name");
    account.deposit(1);
    return nullptr;
}

void *teller(void *) {
    account.deposit(2);
    return nullptr;
}

} // namespace bank

int main() {
    pthread_t threads[2];
    pthread_setname_np(pthread_self(), "manager");
    pthread_create(&threads[0], nullptr, bank::clerk, nullptr);
    pthread_create(&threads[1], nullptr, bank::teller, nullptr);
    pthread_setname_np(threads[1], "first name");
    pthread_setname_np(threads[1], "teller");
    for (pthread_t thread : threads)
        pthread_join(thread, nullptr);
}
