# SPDX-License-Identifier: Apache-2.0
"""Libraries that were never rebuilt reach the runtime of the program that loads them."""

import pytest
from tests.cc.harness import CARRIER, Shop

LIBRARY = f"""
#include <pthread.h>
{CARRIER}
static void *body(void *id) {{ *(long *)id = kernel_thread(); return 0; }}
/* 1: the thread it starts is the kernel's own; 0: it shares its caller's */
int starts_a_kernel_thread(void) {{
    pthread_t thread;
    long id = 0;
    if (pthread_create(&thread, 0, body, &id) || pthread_join(thread, 0))
        return -1;
    return id != kernel_thread();
}}
"""
LOADS = """
#include <dlfcn.h>
#include <stdio.h>
int main(void) {
    void *library = dlopen("./lib.so", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return puts(dlerror()), 2;
    int (*probe)(void) = (int (*)(void))dlsym(library, "starts_a_kernel_thread");
    return probe();
}
"""
LINKS = "int starts_a_kernel_thread(void);\nint main(void) { return starts_a_kernel_thread(); }\n"


@pytest.mark.parametrize("how", ["loaded", "linked"])
def test_a_thread_of_a_plain_library_is_a_green_one(shop: Shop, how: str) -> None:
    """What the kernel says: under control there is one thread, natively there are two."""
    shop.write("lib.c", LIBRARY)
    shop.plain("-shared", "-fPIC", "-O1", "lib.c", "-o", "lib.so", "-pthread").ok()
    shop.write("main.c", LOADS if how == "loaded" else LINKS)
    words = ["main.c", "-o", "main", "-ldl", "-Wl,-rpath,$ORIGIN"]
    words += ["lib.so"] if how == "linked" else []
    shop.plain(*words).ok()
    assert shop.run("./main").status == 1
    shop.cc(*words).ok()
    assert shop.run("./main").status == 0
    assert not shop.is_instrumented("lib.so")


def test_an_instrumented_library_is_loaded_late(shop: Shop) -> None:
    shop.write("lib.c", LIBRARY)
    shop.cc("-shared", "-fPIC", "-O1", "lib.c", "-o", "lib.so").ok()
    shop.write("main.c", LOADS)
    shop.cc("main.c", "-o", "main").ok()
    assert shop.run("./main").status == 0


def test_the_cxx_library_reaches_the_runtime(shop: Shop) -> None:
    """std::thread is started inside libstdc++."""
    shop.write(
        "a.cpp",
        f"#include <thread>\n{CARRIER}\nint main() {{\n  long id = 0;\n"
        "  std::thread([&] { id = kernel_thread(); }).join();\n"
        "  return id != kernel_thread();\n}\n",
    )
    for words in ([], ["-static-libstdc++", "-static-libgcc"]):
        shop.cxx("a.cpp", *words, "-o", "a").ok()
        assert shop.run("./a").status == 0


def test_only_what_the_runtime_takes_over_is_exported(gcc: Shop) -> None:
    gcc.write("a.c", "int mine(void) { return 1; }\nint main(void) { return mine(); }\n")
    gcc.cc("a.c", "-o", "a").ok()
    exported = gcc.symbols("a", "-D", "--defined-only")
    assert "pthread_create" in exported
    assert "mine" not in exported
    assert not [name for name in exported if name.startswith("ew_")]
