# SPDX-License-Identifier: Apache-2.0
"""A check, a use, and a change between them: found, forced, judged; right programs have none."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.processes.harness import PROGRAMS, compiled, folder, launch

from eitherway.find.trees import Checked, TreeSearch
from eitherway.model.finding import Finding
from eitherway.model.words import Arm, Class, Kind
from eitherway.recording.store import Store

LOUD = (Class.SPEC_VIOLATED, Class.OUTPUT_DIFFERS)


@pytest.fixture(scope="module")
def program() -> Iterator[str]:
    with folder() as place:
        yield str(compiled(PROGRAMS / "toctou.c", place / "toctou"))


def checked(work: Path, script: str) -> Checked:
    with TreeSearch(launch(work, "sh", "-c", script), Store(work / "store"), jobs=2) as search:
        return search.check(600.0, lambda _: None)


def loud(found: Checked) -> list[Finding]:
    return [finding for finding in found.findings.values() if finding.klass in LOUD]


def three(found: Checked) -> Finding:
    """The one finding that there is, and it is of three."""
    (finding,) = loud(found)
    assert finding.kind is Kind.TOCTOU
    assert finding.confidence.arms == (Arm.FLIP, Arm.CONTROL, Arm.PREFIX, Arm.SERIAL)
    assert found.parts  # its pairs are not told besides
    return finding


def calls(finding: Finding) -> list[str]:
    return [operation.op for operation in finding.operations]


@pytest.mark.usefixtures("box")
def test_in_a_shell(work: Path) -> None:
    """The shell looks, and its child uses."""
    script = "echo 1 > f; (exec rm f) & if [ -f f ]; then cat f; fi; wait"
    finding = three(checked(work, script))
    assert calls(finding) == ["newfstatat", "unlinkat", "openat"]
    assert "comes between the newfstatat by process" in finding.consequence
    assert "No such file" in finding.consequence
    assert [" comes between " in order.order for order in finding.orders] == [True, False]
    words = " ".join(finding.explanation)
    assert "So B can come between: C then uses something else than A saw." in words
    assert "To open it first" in words
    assert "a rename over the name leaves no moment without it" in words


@pytest.mark.usefixtures("box")
def test_in_python(work: Path) -> None:
    """A link that comes between makes it write elsewhere."""
    (work / "victim").write_text("precious\n", encoding="ascii")
    (work / "put.py").write_text(
        "import os\nif not os.path.exists('out'):\n    open('out', 'w').write('data')\n",
        encoding="ascii",
    )
    script = "(exec ln -s victim out) 2> /dev/null & exec /usr/bin/python3 -SEI put.py"
    found = [f for f in loud(checked(work, script)) if f.kind is Kind.TOCTOU]
    (finding,) = found
    assert calls(finding)[1:] == ["symlinkat", "openat"]
    words = " ".join(finding.explanation)
    assert f"file {work}/victim" in words
    assert "with O_EXCL it fails if there is one by then" in words
    assert (work / "victim").read_text(encoding="ascii") == "precious\n"


@pytest.mark.usefixtures("box")
def test_in_c(program: str, work: Path) -> None:
    for name in ("f", "secret"):
        (work / name).write_text("old\n", encoding="ascii")
    (work / "link").symlink_to("secret")
    script = f"(exec mv link f) & exec {program} checked"
    finding = three(checked(work, script))
    assert calls(finding)[1:] == ["renameat", "openat"]
    assert any(f"file {work}/secret" in line for line in finding.explanation)


@pytest.mark.usefixtures("box")
def test_a_directory_on_the_way(program: str, work: Path) -> None:
    for name in ("d", "other"):
        (work / name).mkdir()
    (work / "link").symlink_to("other")
    script = f"(mv d old && mv link d) & exec {program} 'on the way'"
    found = [f for f in loud(checked(work, script)) if f.kind is Kind.TOCTOU]
    assert found
    assert all(f.operations[0].op in ("lstat", "newfstatat") for f in found)
    assert any(
        "'d' is a directory on the way of the use" in s for f in found for s in f.explanation
    )


RIGHT = {
    "opened first": "(exec mv -f new f) & exec {} 'opened first'",
    "exclusive": "({} exclusive) & exec {} exclusive",
    "a retry": "add() {{ until mkdir lock 2> /dev/null; do sleep 1; done; rmdir lock; }}; "
    "(add) & add; wait",
    "locked": "(flock l sh -c 'rm f; echo 1 > f') & flock l sh -c 'test -f f && cat f'; wait",
    "in order": "(exec rm f) & wait; if [ -f f ]; then cat f; fi",
}


@pytest.mark.parametrize("script", RIGHT.values(), ids=RIGHT)
@pytest.mark.usefixtures("box")
def test_right_programs_have_none(program: str, work: Path, script: str) -> None:
    for name, text in {"f": "1\n", "new": "mine\n"}.items():
        (work / name).write_text(text, encoding="ascii")
    if "exclusive" in script:
        (work / "new").unlink()
    found = checked(work, script.format(program, program))
    assert not loud(found)


@pytest.mark.usefixtures("box")
def test_what_another_order_explains_is_a_race_of_two(program: str, work: Path) -> None:
    """When it comes between, the same is seen as when it comes first: no check is betrayed."""
    for name in ("f", "secret"):
        (work / name).write_text("old\n", encoding="ascii")
    (work / "link").symlink_to("secret")
    found = checked(work, f"(exec mv link f) & exec {program} 'no check'")
    assert {finding.kind for finding in loud(found)} == {Kind.LOAD_STORE}
