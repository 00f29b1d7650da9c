# SPDX-License-Identifier: Apache-2.0
"""What the user says that a run must do counts like what every run must."""

import re
import sys
from pathlib import Path

import pytest
from tests.judge.bench import bench

from eitherway.errors import BadInput
from eitherway.find.specification import Specification
from eitherway.model.finding import Finding
from eitherway.model.words import Class
from eitherway.worlds.threads.captured import Captured
from eitherway.worlds.threads.run import Ran

pytestmark = pytest.mark.usefixtures("fixed")

IS_TWO = (sys.executable, "-c", "import sys; sys.exit(sys.stdin.read() != '2\\n' and 'not two')")


def judged(program: str, mode: str, specification: Specification, folder: Path) -> list[Finding]:
    with bench([program, mode], specification=specification) as made:
        ran = made.explorer.run(seed=0, detect=True)
        return [
            made.judge.judged(finding, ran, lambda _: folder)
            for finding in made.races_in(ran).values()
        ]


@pytest.mark.parametrize(
    ("specification", "words"),
    [
        (Specification(expected=b"2\n"), "not what is expected"),
        (Specification(checker=IS_TWO), "the checker is not content: not two"),
    ],
)
def test_output_that_must_not_be_is_a_violation(
    consequences: str, tmp_path: Path, specification: Specification, words: str
) -> None:
    (finding,) = judged(consequences, "lost_update", specification, tmp_path)
    assert finding.klass is Class.SPEC_VIOLATED
    assert words in finding.consequence


def test_output_that_says_nothing_is_no_difference(consequences: str, tmp_path: Path) -> None:
    ignored = Specification(ignored=(re.compile(rb"^\d+$"),))
    (finding,) = judged(consequences, "lost_update", ignored, tmp_path)
    assert finding.klass is Class.K_WITNESS_HARMLESS
    other = Specification(ignored=(re.compile(rb"^x"),))
    (finding,) = judged(consequences, "lost_update", other, tmp_path)
    assert finding.klass is Class.OUTPUT_DIFFERS


def test_what_is_wrong_in_both_orders_is_not_the_pairs(consequences: str, tmp_path: Path) -> None:
    (finding,) = judged(consequences, "redundant", Specification(expected=b"7\n"), tmp_path)
    assert finding.klass is Class.INCONCLUSIVE
    assert finding.reason.startswith("the program fails in the same way in both orders: it is not")


def test_more_output_than_is_kept_cannot_be_checked() -> None:
    ran = Ran(0, Captured(size=9, beginning=b"12345"), Captured(), ())
    assert Specification().outcome(ran).complaints == ()
    with pytest.raises(BadInput, match="5 of 9 bytes"):
        Specification(expected=b"").outcome(ran)


def test_a_checker_that_cannot_run_is_told() -> None:
    ran = Ran(0, Captured(), Captured(), ())
    with pytest.raises(BadInput, match="/none did not run"):
        Specification(checker=("/none",)).outcome(ran)
