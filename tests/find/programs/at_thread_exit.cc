// SPDX-License-Identifier: Apache-2.0
// A result that is there when its thread ends: whoever gets it comes behind all that thread has
// done. `wrong`: what the thread does besides is looked at without waiting for the result.
#include <cstring>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>

static std::string made;

static std::size_t value(bool waits) {
    std::promise<std::size_t> promise;
    std::future<std::size_t> future = promise.get_future();
    std::thread thread(
        [](std::promise<std::size_t> own) {
            made = "a text that is too long to be held in place";
            own.set_value_at_thread_exit(1);
            made += ", and more of it"; // it is not ready yet
        },
        std::move(promise));
    thread.detach();
    if (waits)
        future.wait();
    return made.size() + future.get();
}

// The thread is the only one that still has it: the library destroys it, behind who let it go.
static void forgotten() {
    std::promise<std::string> promise;
    std::thread thread;
    {
        std::future<std::string> future = promise.get_future();
        thread =
            std::thread([](std::promise<std::string> own) { own.set_value_at_thread_exit(made); },
                        std::move(promise));
        (void)future.wait_for(std::chrono::seconds(0));
    }
    thread.join();
}

static bool failure() {
    std::packaged_task<void()> task([] { throw std::runtime_error("nothing"); });
    std::future<void> future = task.get_future();
    std::thread thread([&task] { task.make_ready_at_thread_exit(); });
    bool told = false;
    try {
        future.get();
    } catch (const std::runtime_error &error) {
        told = std::strcmp(error.what(), "nothing") == 0;
    }
    thread.join();
    return told;
}

int main(int, char **arguments) {
    bool right = std::strcmp(arguments[1], "right") == 0;
    if (value(right) != 60 && right)
        return 1;
    forgotten();
    return failure() ? 0 : 1;
}
