# SPDX-License-Identifier: Apache-2.0
"""A compiler's command line is read as the compilers read it."""

import string
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eitherway.errors import UsageError
from eitherway.worlds.threads.cc.arguments import Kind, Stage, parse, quote
from eitherway.worlds.threads.cc.wrapper import _whole

KNOWN = """
    -c -E -o -x c++ -ofile -xc none -I include -Iinclude -DX=1 -D -Wl,-z,defs -Wl,--trace -Xlinker
    -z defs -l m -lm -L. -MF a.d -MD -g -O2 a.c b.o lib.a - --output=x --shared -include -T script
    -flto -fsanitize=thread -print-search-dirs
"""
OTHER = st.text(string.ascii_letters + "-.,=/ ", min_size=1, max_size=8)
WORDS = st.one_of(st.sampled_from(KNOWN.split()), OTHER)


@given(st.lists(WORDS, max_size=12))
def test_nothing_of_a_command_line_is_lost(words: list[str]) -> None:
    words = [word for word in words if not word.startswith("@")]
    try:
        line = parse(words)
    except UsageError:
        return
    assert [word for argument in _whole(line) for word in argument.words] == words
    assert not line.from_file


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r"))))
def test_a_response_file_gives_back_the_words_it_was_made_of(
    tmp_path_factory: pytest.TempPathFactory, words: list[str]
) -> None:
    words = [word for word in words if not word.startswith("@")]
    file = tmp_path_factory.getbasetemp() / "words"
    file.write_text(quote(["-c", *words]), encoding="utf-8", newline="")
    try:
        read = parse([f"@{file}"])
    except UsageError:
        return
    assert [word for argument in _whole(read) for word in argument.words] == ["-c", *words]
    assert read.from_file


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("-c a.c\n-o  b.o\n", ["-c", "a.c", "-o", "b.o"]),
        ("-D'A B' -D\"C D\" E\\ F", ["-DA B", "-DC D", "E F"]),
        ("-D'a\\'b' \"\"", ["-Da'b", ""]),
        ("", []),
        ("\\", [""]),
        ("'open", ["open"]),
    ],
)
def test_a_response_file_is_split_as_the_compilers_split_it(
    tmp_path: Path, text: str, words: list[str]
) -> None:
    file = tmp_path / "words"
    file.write_text(text, encoding="utf-8")
    line = parse([f"@{file}", "x.c"])
    assert [word for argument in _whole(line) for word in argument.words] == [*words, "x.c"]


def test_a_response_file_may_name_another_but_not_itself(tmp_path: Path) -> None:
    inner, outer = tmp_path / "inner", tmp_path / "outer"
    inner.write_text("-c a.c")
    outer.write_text(f"@{inner} -g")
    assert parse([f"@{outer}"]).stage is Stage.COMPILE
    outer.write_text(f"@{outer}")
    with pytest.raises(UsageError, match="includes itself"):
        parse([f"@{outer}"])


def test_a_response_file_that_is_not_there_is_an_ordinary_word() -> None:
    assert [a.value for a in parse(["@nowhere", "a.c"]).of(Kind.OBJECT)] == ["@nowhere"]


@pytest.mark.parametrize(
    ("words", "stage"),
    [
        ("", Stage.ASK),
        ("-v", Stage.ASK),
        ("--version a.c", Stage.ASK),
        ("-print-prog-name=ld", Stage.ASK),
        ("-dumpmachine", Stage.ASK),
        ("--help=warnings", Stage.ASK),
        ("-cc1 a.c", Stage.ASK),
        ("-c a.c", Stage.COMPILE),
        ("--compile a.c", Stage.COMPILE),
        ("-S a.c", Stage.COMPILE),
        ("-E -", Stage.COMPILE),
        ("-M a.c", Stage.COMPILE),
        ("-fsyntax-only a.c", Stage.COMPILE),
        ("a.h", Stage.COMPILE),
        ("-x c++-header a", Stage.COMPILE),
        ("a.c", Stage.LINK),
        ("-MD a.c", Stage.LINK),
        ("a.o -v", Stage.LINK),
        ("-lm", Stage.LINK),
        ("-o c a.o", Stage.LINK),  # not -c: it is a value
        ("-I -c a.o", Stage.LINK),
    ],
)
def test_how_far_the_compiler_goes(words: str, stage: Stage) -> None:
    assert parse(words.split()).stage is stage


@pytest.mark.parametrize(
    "words", ["-o out a.o", "-oout a.o", "--output out a.o", "--output=out a.o", "-o x a.o -o out"]
)
def test_every_form_of_the_output_is_found(words: str) -> None:
    assert parse(words.split()).output == "out"


def test_a_language_holds_until_the_next() -> None:
    words = "a.o -x c b -x none c.o -xc++ d.c -x assembler - -x none e.s"
    line = parse(words.split())
    sources = [(a.value, a.language) for a in line.of(Kind.SOURCE)]
    assert sources == [("b", "c"), ("d.c", "c++"), ("-", "assembler"), ("e.s", "")]
    assert [a.value for a in line.of(Kind.OBJECT)] == ["a.o", "c.o"]


@pytest.mark.parametrize("words", ["-Wl,-z,defs", "-Wl,-z -Wl,defs", "-Xlinker -z -z x -zdefs"])
def test_words_for_the_linker_come_one_by_one(words: str) -> None:
    values = [argument.value for argument in parse(words.split()).of(Kind.LINKER)]
    assert values[:2] == ["-z", "defs"] or values == ["-z", "-z", "x", "-z", "defs"]


def test_an_option_without_its_value_is_refused() -> None:
    with pytest.raises(UsageError, match="-o lacks its value"):
        parse(["a.c", "-o"])
