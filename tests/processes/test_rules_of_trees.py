# SPDX-License-Identifier: Apache-2.0
"""What a user says that processes must do, and what a branch says by itself."""

from pathlib import Path

import pytest
from tests.processes.harness import eitherway, launch

from eitherway.errors import Exit
from eitherway.find.specification import Specification
from eitherway.find.tree_rules import Rules
from eitherway.find.trees import Checked, TreeSearch
from eitherway.model.words import Class
from eitherway.recording.store import Store
from eitherway.sandbox.box import Sandbox
from eitherway.worlds.processes.errors import error_lines, is_log

LOST_UPDATE = """\
echo 0 > count
(read n < count; echo $((n + 1)) > count) &
(read n < count; echo $((n + 1)) > count) &
wait
"""


def checked(work: Path, script: str, rules: Rules | None = None) -> Checked:
    with TreeSearch(
        launch(work, "sh", "-c", script), Store(work / "store"), jobs=2, rules=rules
    ) as search:
        return search.check(600.0, lambda _: None)


@pytest.mark.usefixtures("box")
def test_a_checker_looks_at_the_files_of_each_branch(work: Path) -> None:
    (work / "look.sh").write_text("read n < count; test $n = 2 || { echo lost; exit 1; }\n")
    rules = Rules(Specification(checker=("sh", "look.sh")))
    (finding,) = checked(work, LOST_UPDATE, rules).findings.values()
    assert finding.klass is Class.SPEC_VIOLATED
    assert "the checker is not content: lost" in finding.consequence
    assert [order.does.startswith("the checker") for order in finding.orders] == [True, False]
    content = Rules(Specification(checker=("true",)))
    assert {f.klass for f in checked(work, LOST_UPDATE, content).findings.values()} == {
        Class.OUTPUT_DIFFERS
    }


@pytest.mark.usefixtures("box")
def test_what_must_be_the_same_is_told_apart_from_the_rest(work: Path) -> None:
    rules = Rules(same=(f"{work}/count",))
    (finding,) = checked(work, LOST_UPDATE, rules).findings.values()
    assert finding.klass is Class.SPEC_VIOLATED
    assert f"{work}/count is not what the recorded run left" in finding.consequence
    elsewhere = Rules(same=(f"{work}/other",))
    (finding,) = checked(work, LOST_UPDATE, elsewhere).findings.values()
    assert finding.klass is Class.OUTPUT_DIFFERS


@pytest.mark.usefixtures("box")
def test_an_error_in_a_log_is_a_failure(work: Path) -> None:
    script = "mkdir log; (: > a) & ([ -e a ] || echo 'ERROR: no a' > log/b); wait"
    (finding,) = checked(work, script).findings.values()
    assert finding.klass is Class.SPEC_VIOLATED
    assert f"file {work}/log/b says 'ERROR: no a'" in finding.consequence


@pytest.mark.usefixtures("box")
def test_a_difference_of_many_lines_is_told_by_lines(work: Path) -> None:
    script = "seq 3 > f; (sed s/2/x/ f > f.new; mv f.new f) & (cat f; cat f) > g; wait"
    words = [line for f in checked(work, script).findings.values() for line in f.explanation]
    assert any("/g lacks '2' and has besides 'x'" in line for line in words) or any(
        "/g lacks 'x' and has besides '2'" in line for line in words
    )


@pytest.mark.usefixtures("box")
def test_lines_that_change_places_are_not_told_as_missing(work: Path) -> None:
    words = [
        line
        for finding in checked(work, "(echo a >> log) & (echo b >> log) & wait").findings.values()
        for line in finding.explanation
    ]
    assert f"In the other order file {work}/log has the same lines in another order." in words


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (b"mv: cannot stat 'x': No such file\n", ["mv: cannot stat 'x': No such file"]),
        (b"ERROR 1\nERROR 1\nfine\n", ["ERROR 1"]),
        (b"pid 4711: fatal\n", ["pid #: fatal"]),
        (b"no terror here, 0 mirrors\n", []),
        (b"failed " + b"x" * 300, ["failed " + "x" * 110 + "..."]),
        (b"error \xff\n", ["error \\xff"]),
        (b"", []),
    ],
)
def test_lines_that_speak_of_errors(text: bytes, told: list[str]) -> None:
    assert list(error_lines(text)) == told


@pytest.mark.usefixtures("box")
def test_a_recorded_run_that_is_not_what_is_asked_for_is_no_success(work: Path) -> None:
    """Nothing races, so no order is to blame."""
    (work / "expected").write_text("other\n")
    for asked, says in (("--checker", "false"), ("--expect-output", "expected")):
        done = eitherway(work, "check", asked, says, "--", "echo", "this")
        assert done.returncode == Exit.INCONCLUSIVE, done.stderr
        assert "the recorded run itself is not what is asked for: " in done.stdout
    content = eitherway(work, "check", "--checker", "true", "--", "echo", "this")
    assert (content.returncode, "asked for" in content.stdout) == (Exit.OK, False)


def test_which_files_are_logs() -> None:
    assert all(map(is_log, ["/var/log/x", "a/logs/b", "build.log"]))
    assert not any(map(is_log, ["catalog", "/home/logan/x", "logic.c"]))


def test_a_checker_that_never_ends_is_refused(
    work: Path, box: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    from eitherway.errors import BadInput
    from eitherway.find import specification

    monkeypatch.setattr(specification, "_TIME", 0.1)
    rules = Rules(Specification(checker=("sleep", "1000")))
    with pytest.raises(BadInput, match="did not end within"):
        checked(work, "true", rules)
    assert not box.strays()
