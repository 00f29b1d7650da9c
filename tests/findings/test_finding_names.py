# SPDX-License-Identifier: Apache-2.0
"""Names as compilers, demanglers and symbolizers spell them, and what remains of each."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eitherway.model import names
from eitherway.model.names import (
    bare,
    in_c_runtime,
    in_library,
    portable_variable,
    portable_words,
    qualified,
)
from eitherway.model.paths import portable_path
from eitherway.model.place import Place
from eitherway.model.text import printable

SPELLINGS = {
    "touch": [
        "touch",
        "touch(int&)",
        "bank::touch(int&)",
        "bank::(anonymous namespace)::touch(int&)",
        "bank::{anonymous}::touch",
        "touch.constprop.0",
        "touch.part.1",
        "touch.isra.2.constprop.0",
        "touch.cold",
        "touch.lto_priv.3",
        "touch.llvm.8123456789",
        "bank::touch(int&) [clone .isra.0]",
        "bank::touch(int&) [clone .constprop.0] [clone .cold]",
        "touch@plt",
        "touch@@BANK_1.0",
        "void bank::touch<int>(int&)",
        "std::enable_if<(1 > 0), int>::type bank::touch<int, (char)60>(int&)",
        "std::vector<std::pair<int, char> >* touch(std::function<void (int)> const&)",
        "bank::Box<bank::Item<int> >::touch() const &",
        "bank::touch[abi:cxx11](std::__cxx11::basic_string<char>)",
        "open(int)::Local::touch() const",
        "bank::touch::h0123456789abcdef",
        "void (*touch(int))(long)",
        "void (*bank::(anonymous namespace)::touch<int>(void (*)(int)))(int)",
        "void (*(*touch(int))(long))(char)",
        "int (bank::Box::*touch(int))(long) const",
        "int (&touch())[4]",
        "touch(int) [clone .cold]@plt",
        "touch.part.0@@BANK_1.0",
        "touch._omp_fn.0",
        "touch.omp_outlined",
    ],
    "operator()": [
        "operator()",
        "main::{lambda()#1}::operator()() const",
        "main::{lambda(auto:1)#2}::operator()<int>(int) const",
        "main::'lambda'()::operator()() const",
        "main::'lambda0'()::operator()() const::'lambda'(int)::operator()(int) const",
        "main::$_0::operator()() const",
        "main::{lambda()#1}::_FUN()",
        "main::$_0::__invoke()",
        "<lambda()>",
        "bank::Less::operator()(int, int) const",
        "bank::run::{{closure}}::h0123456789abcdef",
    ],
    "operator<": ["bool bank::operator< <int>(bank::Item<int> const&, int)", "operator<"],
    "operator<<": ["std::ostream& operator<<(std::ostream&, bank::Item const&)"],
    "operator->": ["bank::Pointer<bank::Item>::operator->() const"],
    "operator==": ["bank::Item::operator==(bank::Item const&) const", "operator=="],
    "operator bool": ["bank::Pointer<int>::operator bool() const"],
    "operator void": ["bank::Row::operator void (*)(int)() const"],
    "signal": ["void (*signal(int, void (*)(int)))(int)"],
    "touch.cold.x": ["touch.cold.x"],
    "touch.7": ["touch.7", "touch.7.cold"],
    "operator std::vector": ["bank::Row::operator std::vector<int>() const"],
    "~Item": ["bank::Item<int>::~Item()"],
    "cooperator": ["cooperator(int)"],
    "": ["", "??", "<null>", "<unknown>", ".omp_outlined."],
}


@pytest.mark.parametrize(
    ("spelling", "name"),
    [(spelling, name) for name, spellings in SPELLINGS.items() for spelling in spellings],
)
def test_every_spelling_of_a_function_is_one_name(spelling: str, name: str) -> None:
    assert bare(spelling) == name


@given(st.text(alphabet="ab:<>(){}[]'$_0.~& operator", max_size=60))
def test_no_name_is_too_strange(name: str) -> None:
    assert isinstance(bare(name), str)
    assert qualified(name).endswith(bare(name)) or bare(name) == "operator()"


HOSTILE = [
    "a::", ".cold", "<", "operator ", " [clone .x", " [clone .x]", "(a<", "@", "@a", " const", "&",
    "Aa1_", "'", "(*", "(*)", "(*a)(", "::h0123456789abcdef", ".1", ".omp_outlined\n", "_", "tmp",
    "0x1", "/", "./", "a/../", ":[1", "of size 1",
]  # fmt: skip


@pytest.mark.parametrize("ending", ["", "x)"])
@pytest.mark.parametrize("part", HOSTILE)
def test_the_work_on_a_hostile_name_grows_with_its_length(
    part: str, ending: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the limit of length: a square takes minutes, a power of two never ends."""
    monkeypatch.setattr(names, "LONGEST", 1 << 30)
    name = "f" + part * 30_000 + ending
    bare(name)
    portable_variable(name, frozenset())
    portable_path("/tmp/" + name)
    portable_words(name)


def test_a_name_has_a_length_up_to_which_it_is_looked_at() -> None:
    assert bare("f(" + "a" * names.LONGEST + ")::g") == "f"


@pytest.mark.parametrize(
    "place",
    [
        Place("std::vector<int, std::allocator<int> >::push_back(int&&)"),
        Place("void std::__invoke_impl<void, f>(std::__invoke_other, f&&)"),
        Place("__invoke_impl<void, main()::<lambda()> >", "/usr/include/c++/12/bits/invoke.h", 61),
        Place("operator new(unsigned long)"),
        Place("memcpy"),
        Place("malloc", "../../../../src/libsanitizer/tsan/tsan_interceptors_posix.cpp", 647),
        Place("__interceptor_pthread_create"),
        Place("tzset_internal", "time/tzset.c", 401, module="/lib/x86_64-linux-gnu/libc.so.6"),
        Place("", module="/usr/lib/x86_64-linux-gnu/libstdc++.so.6"),
    ],
)
def test_what_every_program_stands_on_is_library(place: Place) -> None:
    assert in_library(place)


@pytest.mark.parametrize(
    "place",
    [
        Place("deposit", "bank.c", 12),
        Place("read", "reader.c", 3),  # a program may have a function of that name
        Place("stdlib_setup"),
        Place("standard::sort"),
        Place("std_sort"),
        Place("work", module="/usr/lib/libcurl.so.4"),
        Place("std::vector<int> make()"),
    ],
)
def test_the_program_is_not_library(place: Place) -> None:
    assert not in_library(place)


def test_the_c_runtime_is_the_smaller_part() -> None:
    assert in_c_runtime(Place("memcpy"))
    assert not in_c_runtime(Place("std::sort"))
    assert in_library(Place("std::sort"))


@pytest.mark.parametrize(
    ("path", "portable"),
    [
        ("src/gen.h", "src/gen.h"),
        ("/home/ann/shop/gen.h", "gen.h"),
        ("/build/x81/shop/gen.h", "gen.h"),
        ("/etc/passwd", "/etc/passwd"),
        ("/proc/1234/fd/5", "/proc/#/fd/#"),
        ("/tmp/tmp.Xa81kq", "tmp.#"),
        ("/tmp/tmpab12_x9z/lock", "lock"),
        ("/tmp/ccXa81kq.o", "cc#.o"),
        ("/tmp/shop.Xa81kq", "shop.#"),
        ("/var/tmp/shop-4711.pid", "shop-#.pid"),
        ("/tmp/settings.json", "settings.json"),
        ("/home/ann/x (deleted)", "x"),
        ("./src/gen.h", "src/gen.h"),
        ("src//gen.h", "src/gen.h"),
        ("src/./gen.h/", "src/gen.h"),
        ("../gen.h", "../gen.h"),
        ("//etc/passwd", "/etc/passwd"),
        ("/var/lib/jenkins/workspace/shop/gen.h", "gen.h"),
        ("/var/lib/dpkg/status", "/var/lib/dpkg/status"),
        ("/usr/src/app/gen.h", "gen.h"),
        ("/usr/share/zoneinfo/UTC", "/usr/share/zoneinfo/UTC"),
        ("/usr/local/lib/libshop.so", "/usr/local/lib/libshop.so"),
        ("/srv/ci/shop/gen.h", "gen.h"),
        ("/tmp/lockfile2", "lockfile2"),
        ("/tmp/Makefile1", "Makefile1"),
        ("/tmp/config_V1", "config_V1"),
        ("/tmp/ccache_stats", "ccache_stats"),
        ("/tmp/tmp_lockfile", "tmp_lockfile"),
        ("/tmp/config", "config"),
        ("/tmp/ConfigFile", "ConfigFile"),
        ("/tmp/shop_Xa81kq.lock", "shop_#.lock"),
        ("/tmp/tmp.k3Jx0aZq2B", "tmp.#"),
        ("/tmp/tmpqxzbtwpa", "tmp#"),
    ],
)
def test_a_path_without_what_differs(path: str, portable: str) -> None:
    assert portable_path(path) == portable


@pytest.mark.parametrize(
    ("variable", "portable"),
    [
        ("balance", "balance"),
        ("bank::(anonymous namespace)::balance", "balance"),
        ("'balance'", "balance"),
        ("counter.0", "counter"),
        ("visit()::counter", "counter"),
        ("visit.counter", "counter"),
        ("queue.head", "queue.head"),
        ("slots[17]", "slots"),
        ("Pool<int>::free_list", "free_list"),
        ("buffer+16", "buffer"),
        ("buffer+0x10", "buffer"),
        ("0x7f1020304050", ""),
        ("pipe:[4711]", "pipe"),
        ("item->next", "item->next"),
        ("./x.c", "x.c"),
        ("x.c", "x.c"),
    ],
)
def test_a_variable_as_any_build_spells_it(variable: str, portable: str) -> None:
    assert portable_variable(variable, frozenset({"visit"})) == portable


@pytest.mark.parametrize(
    ("words", "portable"),
    [
        ("heap block of 40 bytes at 0x7f10", "heap block"),
        ("heap block of size 168", "heap block"),
        ("thread T1 'worker'", "thread T 'worker'"),
        ("read of size 4", "read"),
    ],
)
def test_a_description_without_its_numbers(words: str, portable: str) -> None:
    assert portable_words(words) == portable


@given(st.text())
def test_nothing_printable_is_obeyed_by_a_terminal(text: str) -> None:
    shown = printable(text)
    assert not any(ord(sign) < 0x20 or 0x7F <= ord(sign) < 0xA0 for sign in shown)
    shown.encode("utf-8")


def test_what_a_terminal_would_obey_is_spelled_out() -> None:
    assert printable("a\x1b[2J\r\n\x9b\u202e\udc80 é 漢") == r"a\x1b[2J\r\n\x9b\u202e\udc80 é 漢"
