# SPDX-License-Identifier: Apache-2.0
"""With several jobs make goes on with whichever is over first, and tells it in that order."""

from pathlib import Path

import pytest
from tests.processes.harness import launch

from eitherway.find.trees import Checked, TreeSearch
from eitherway.model.words import Class
from eitherway.recording.store import Store
from eitherway.worlds.processes.known import in_any_order

MAKEFILE = """\
all: a b
a b: %: %.o
\tcat $< > $@
a.o b.o:
\techo $@ > $@; {besides}
"""


def checked(work: Path, besides: str, *words: str) -> Checked:
    (work / "Makefile").write_text(MAKEFILE.format(besides=besides), encoding="ascii")
    started = launch(work, "make", "-j2", *words)
    with TreeSearch(started, Store(work / "store"), jobs=2) as search:
        return search.check(600.0, lambda _: None)


@pytest.mark.parametrize("words", [(), ("-O",)])
@pytest.mark.usefixtures("box")
def test_what_it_tells_is_no_difference(work: Path, words: tuple[str, ...]) -> None:
    found = checked(work, "true", *words)
    assert found.findings == {}
    assert found.branches > 0


@pytest.mark.usefixtures("box")
def test_what_it_leaves_is_one(work: Path) -> None:
    found = checked(work, "echo $@ >> log")
    assert {finding.klass for finding in found.findings.values()} == {Class.OUTPUT_DIFFERS}
    shown = [order.output for each in found.findings.values() for order in each.orders]
    assert shown
    assert all(text.startswith("echo a.o > a.o") for text in shown)  # as it was written


def test_how_many_are_done_is_nothing_that_ninja_says_of_one() -> None:
    one, other = [b"[1/2] cc a\n", b"[2/2] cc b\n"], [b"[1/2] cc b\n", b"[2/2] cc a\n"]
    assert in_any_order(("ninja",), one) == in_any_order(("/usr/bin/ninja", "-v"), other)
    assert in_any_order(("cat",), one) != in_any_order(("cat",), other)
    assert in_any_order((), one) == one
