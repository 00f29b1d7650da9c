# SPDX-License-Identifier: Apache-2.0
"""C++ names without the defaults that nobody typed, and nothing else taken from them."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eitherway.model.names import LONGEST, bare, qualified
from eitherway.model.shortened import shortened

STRING = "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >"
SHORT = {
    STRING: "std::string",
    f"std::vector<{STRING}, std::allocator<{STRING} > >": "std::vector<std::string>",
    "std::map<int, long, std::less<int>, std::allocator<std::pair<int const, long> > >": (
        "std::map<int, long>"
    ),
    "std::set<char*, std::less<char*>, std::allocator<char*> >": "std::set<char*>",
    "std::unordered_map<int, A<B>, std::hash<int>, std::equal_to<int>, "
    "std::allocator<std::pair<int const, A<B> > > >": "std::unordered_map<int, A<B>>",
    "std::unique_ptr<int[], std::default_delete<int[]> >": "std::unique_ptr<int[]>",
    "std::queue<int, std::deque<int, std::allocator<int> > >": "std::queue<int>",
    "std::priority_queue<int, std::vector<int, std::allocator<int> >, std::less<int> >": (
        "std::priority_queue<int>"
    ),
    "std::basic_ostream<char, std::char_traits<char> >& std::operator<< <std::char_traits<char> >"
    "(std::basic_ostream<char, std::char_traits<char> >&, char const*)": (
        "std::ostream& std::operator<< <std::char_traits<char>>(std::ostream&, char const*)"
    ),
    "f(__gnu_cxx::__normal_iterator<int const*, std::vector<int, std::allocator<int> > >)": (
        "f(std::vector<int>::const_iterator)"
    ),
    "f(__gnu_cxx::__normal_iterator<int*, std::vector<int, std::allocator<int> > >)": (
        "f(std::vector<int>::iterator)"
    ),
    "std::__1::basic_string<wchar_t, std::__1::char_traits<wchar_t>, "
    "std::__1::allocator<wchar_t>>::size[abi:v15007]() const": "std::wstring::size() const",
    "std::chrono::_V2::steady_clock::now()": "std::chrono::steady_clock::now()",
}
KEPT = [
    "main",
    "bank::touch(int&)",
    "std::vector<int, pool::allocator<int>>::push_back(int const&)",
    "std::vector<int, std::allocator<long>>::data()",
    "std::map<int, int, std::greater<int>>::end()",
    "std::set<int, std::less<void>>::find(int const&)",
    "my::std::basic_string<char>::f()",
    "mystd::vector<int, std::allocator<int>>::f()",
    "operator>(A const&, std::vector<int> const&)",
    "std::function<void (int)>::operator()(int) const",
    "main::{lambda(std::vector<int>)#1}::operator()(std::vector<int>) const",
    "std::enable_if<(1 > 0), int>::type f<int>(int)",
    "std::vector<int",
    "std::f(]>)<",
    "std::)",
]


@pytest.mark.parametrize("name", SHORT)
def test_defaults_of_the_standard_library_are_left_out(name: str) -> None:
    assert shortened(name) == SHORT[name]


@pytest.mark.parametrize("name", KEPT)
def test_what_someone_wrote_stays(name: str) -> None:
    assert shortened(name) == name


def test_names_as_this_compiler_makes_them(tmp_path: Path) -> None:
    source = tmp_path / "names.cc"
    source.write_text(
        "#include <map>\n#include <string>\n#include <vector>\n"
        "namespace shop { void put(std::map<std::string, std::vector<std::string>> &) {} }\n"
    )
    made = tmp_path / "names.o"
    subprocess.run(["c++", "-c", source, "-o", made], check=True)
    listed = subprocess.run(["nm", "-C", made], check=True, capture_output=True, text=True).stdout
    (name,) = (line.split(" T ")[1] for line in listed.splitlines() if " T " in line)
    assert len(name) > 300
    assert shortened(name) == "shop::put(std::map<std::string, std::vector<std::string>>&)"


def test_a_name_beyond_all_bounds_stays() -> None:
    name = f"std::f<{'a' * LONGEST}>"
    assert shortened(name) == name


TYPES = ["std::vector<int, std::allocator<int> >", "basic_string<char>", STRING, "int", "vector"]
MARKS = [*"<>(){},*& ", "std::", "::f", "operator<", "operator()", "__cxx11::", " const", "->"]
PIECES = st.sampled_from([*TYPES, *MARKS])


@given(st.lists(PIECES, max_size=30).map("".join))
def test_any_text_is_shortened_once_and_means_the_same(text: str) -> None:
    once = shortened(text)
    assert shortened(once) == once
    assert len(once) <= len(text) + text.count(",")  # a space behind each comma


@given(st.sampled_from(sorted(SHORT)), st.sampled_from(["g", "shop::g", "operator<"]))
def test_a_function_keeps_its_name(argument: str, function: str) -> None:
    name = f"{function}({argument})"
    assert qualified(shortened(name)) == qualified(name) == function
    assert bare(shortened(name)) == bare(name)
