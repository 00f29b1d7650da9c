# SPDX-License-Identifier: Apache-2.0
"""What the user says that a run must do counts like what every run must."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.judge.bench import bench

from eitherway.errors import BadInput
from eitherway.find.specification import Specification
from eitherway.model.finding import Finding
from eitherway.model.words import Class
from eitherway.sandbox.processes import children
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


def test_what_a_checker_leaves_behind_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It holds the output of the checker open until we say so, which is after we are back."""
    monkeypatch.setattr("eitherway.find.specification._TIME", 0.1)
    monkeypatch.setattr("eitherway.find.specification._LEFT", 0.1)
    os.mkfifo(tmp_path / "go")
    go = os.open(tmp_path / "go", os.O_RDWR)
    checker = ("sh", "-c", f"cat {tmp_path}/go & exit 0")
    specification = Specification(checker=checker)
    with pytest.raises(BadInput, match="did not end within"):
        specification.complaints(Captured(), subprocess.Popen)
    os.write(go, b"on\n")
    os.close(go)


def specification_of(*ignored: bytes) -> Specification:
    return Specification(ignored=tuple(map(re.compile, ignored)))


def test_an_expression_that_never_ends_is_refused_by_its_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In time of the processor, of another process: ours can be interrupted meanwhile."""
    monkeypatch.setattr("eitherway.find.ignored._TIME", 0.1)
    specification = specification_of(b"^#", b"(x+x+)+y", b"z")
    assert specification.kept(b"# one\ntwo\nz\n") == b"two\n"
    for _ in range(2):
        with pytest.raises(BadInput, match=re.escape("--ignore-output '(x+x+)+y' takes more")):
            specification.kept(b"# one\n" + 44 * b"x")


def test_lines_that_are_ignored_are_taken_out_of_any_output() -> None:
    specification = specification_of(b"^#", b"\xff$")
    large = 200_000 * b"# a line\nanother\r"
    assert specification.kept(large) == 200_000 * b"another\r"
    assert specification.kept(b"") == b""
    assert specification.kept(b"\x00\n1\xff\n\xff2\n#") == b"\x00\n\xff2\n"


def test_who_looks_for_lines_is_started_again_when_somebody_kills_it() -> None:
    specification = specification_of(b"#again")
    assert specification.kept(b"one\n#again\n") == b"one\n"
    found = [number for number in children(os.getpid()) if _looks_for(number, b"#again")]
    os.kill(found[0], signal.SIGKILL)
    assert specification.kept(b"two\n#again\n") == b"two\n"


def _looks_for(process: int, expression: bytes) -> bool:
    return expression in Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0")


def test_who_looks_for_what_is_ignored_ends_with_the_specification() -> None:
    before = set(children(os.getpid()))
    specification = Specification(ignored=(re.compile(b"x"),))
    assert specification.kept(b"x\ny\n") == b"y\n"
    assert set(children(os.getpid())) > before
    del specification
    assert set(children(os.getpid())) == before
