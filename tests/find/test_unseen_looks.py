# SPDX-License-Identifier: Apache-2.0
"""What a trace lets fear of a wake-up is run: what a library looks at is not in the trace."""

from pathlib import Path

import pytest
from tests.corpus.checked import build, checked

from eitherway.model.words import Class, Kind


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("unseen") / "unseen"
    build(Path(__file__).parent / "programs" / "unseen_looks.cc", made)
    return made


@pytest.mark.parametrize("way", ["tree", "text"])
@pytest.mark.parametrize("judge", [(), ("--judge",)])
def test_a_wake_up_that_is_not_lost_is_not_told(
    program: Path, way: str, judge: tuple[str, ...]
) -> None:
    document = checked(program, "--schedules", "60", *judge, arguments=[way])
    assert document.findings == ()
    feared = any("none was lost" in note for note in document.summary.notes)
    assert feared or way == "text"  # what is looked at of a text depends on the compiler


def test_one_that_is_lost_is_told_with_the_run_that_shows_it(program: Path) -> None:
    document = checked(program, "--schedules", "60", "--judge", arguments=["lost"])
    lost = [one for one in document.findings if one.kind is Kind.LOST_WAKEUP]
    assert [one.klass for one in lost] == [Class.SPEC_VIOLATED]


@pytest.mark.parametrize("seed", range(3))
def test_so_is_one_that_was_only_feared(program: Path, seed: int) -> None:
    """One schedule, which ends well, is enough: the other order is run."""
    options = ("--schedules", "1", "--seed", str(seed), "--judge")
    document = checked(program, *options, arguments=["lost"])
    assert all(one.klass is Class.SPEC_VIOLATED for one in document.findings)
