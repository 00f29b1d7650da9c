// SPDX-License-Identifier: Apache-2.0
// The semaphore is released before the message is written.
// EXPECT: data-race message A B
#include <semaphore>
#include <thread>

static std::binary_semaphore sent(0);
static int message, seen;

static void send() {
    sent.release();
    message = 7; // A
}

static void receive() {
    sent.acquire();
    seen = message; // B
}

int main() {
    std::jthread one(send), two(receive);
}
