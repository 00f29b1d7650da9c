// SPDX-License-Identifier: Apache-2.0
// One of each: races on a global and on the heap, a ring of locks, a use after free, a leaked thread.
#include <pthread.h>
#include <cstdlib>
#include <cstdio>
#include <thread>
#include <mutex>
#include <vector>
namespace shop {
struct Shelf { int count; int *items; };
static Shelf shelf;
std::mutex one, two;
int *block;
static void put(int n) { shelf.count += n; block[2] = n; }
static void both() { std::lock_guard<std::mutex> a(one); std::lock_guard<std::mutex> b(two); shelf.count++; }
static void reverse() { std::lock_guard<std::mutex> a(two); std::lock_guard<std::mutex> b(one); shelf.count--; }
}
static void *leaves(void *) { return nullptr; }
int main() {
  shop::block = static_cast<int *>(malloc(40));
  std::thread t1([] { for (int i = 0; i < 100; i++) shop::put(1); });
  std::thread t2([] { for (int i = 0; i < 100; i++) shop::put(2); });
  t1.join(); t2.join();
  std::thread t3(shop::both); t3.join();
  std::thread t4(shop::reverse); t4.join();
  free(shop::block);
  std::thread t5([] { shop::block[2] = 5; }); t5.join();
  pthread_t leaked; pthread_create(&leaked, nullptr, leaves, nullptr);
  pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; pthread_mutex_lock(&m); pthread_mutex_destroy(&m);
  return shop::shelf.count > 1000;
}
