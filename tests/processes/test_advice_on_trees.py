# SPDX-License-Identifier: Apache-2.0
"""A finding names the two commands, their lines and targets, and what would put them in order."""

import shutil
import subprocess
from pathlib import Path

import pytest
from benchmarks import racepro
from tests.processes.harness import launch

from eitherway.find.trees import TreeSearch
from eitherway.model.finding import Finding
from eitherway.model.words import Class
from eitherway.recording.store import Store
from eitherway.worlds.processes.make import rules_in

LOUD = {Class.SPEC_VIOLATED, Class.OUTPUT_DIFFERS}
NINJA = """\
rule directory
  command = mkdir o
rule file
  command = echo x > o/$out.t; cp o/$out.t $out
build o: directory
build a: file
build all: phony o a
default all
"""


def loud(work: Path, *command: str) -> list[Finding]:
    with TreeSearch(launch(work, *command), Store(work / "store"), jobs=2) as search:
        found = search.check(600.0, lambda _: None).findings.values()
    return [finding for finding in found if finding.klass in LOUD]


@pytest.mark.usefixtures("box")
def test_an_edge_that_ninja_lacks(work: Path) -> None:
    if shutil.which("ninja") is None:
        pytest.skip("there is no ninja")
    (work / "build.ninja").write_text(NINJA, encoding="ascii")
    words = [line for finding in loud(work, "ninja", "-j2") for line in finding.explanation]
    assert "An order-only input puts them in order: build a: ... || o" in " ".join(words)


@pytest.mark.usefixtures("box")
def test_one_name_for_two_temporary_files(work: Path) -> None:
    """Who renames does not find the name taken that it renames."""
    script = "for i in 1 2; do (echo $i > t; mv t o$i) & done; wait"
    advice = [finding.explanation[-1] for finding in loud(work, "sh", "-c", script)]
    assert advice
    assert all(line.startswith("Both make this name and do something with") for line in advice)


BY_ITSELF = "all: a b\na:\n\techo x > a\nb:\n\twc -c a\n"  # as `cc -c m.c`, and no shell
BY_ONE_SHELL = ".ONESHELL:\nall: a b\na:\n\tx=1\n\techo $$x > a\nb:\n\tx=1\n\tcat a\n"
BY_OTHERS = """\
all: a b
a b:
\t$(MAKE) -C $@
.PHONY: a b
"""


@pytest.mark.parametrize(
    ("makefiles", "words"),
    [
        ({".": BY_ITSELF}, ()),
        ({".": BY_ONE_SHELL}, ()),
        ({"under": BY_ITSELF}, ("-C", "under")),
        ({".": BY_OTHERS, "a": "a:\n\techo x > a\n", "b": "b:\n\tcat ../a/a\n"}, ()),
    ],
    ids=["no shell", "one shell", "elsewhere", "other makes"],
)
@pytest.mark.usefixtures("box")
def test_a_prerequisite_that_a_makefile_lacks(
    work: Path, makefiles: dict[str, str], words: tuple[str, ...]
) -> None:
    """With that line nothing races any more."""
    for name, text in makefiles.items():
        (work / name).mkdir(exist_ok=True)
        (work / name / "Makefile").write_text(text, encoding="ascii")
    found = loud(work, "make", "-j2", *words)
    lines = {finding.explanation[-1].rpartition(": ")[0] for finding in found}
    assert lines == {"This line in Makefile puts them in order: b"}
    assert all(finding.explanation[-1].endswith("b: a") for finding in found)
    with (work / next(iter(makefiles)) / "Makefile").open("a", encoding="ascii") as file:
        file.write("b: a\n")
    assert loud(work, "make", "-j2", *words) == []


def test_a_recipe_of_two_targets_says_nothing_of_which() -> None:
    told = "M:1: target 'a' does not exist\ntrue\nM:2: target 'b' does not exist\ntrue\nfalse\n"
    assert set(rules_in(told)) == {"true false", "false"}


CMAKE = """\
cmake_minimum_required(VERSION 3.10)
project(p NONE)
"""
TWO_OUTPUTS = """\
add_custom_command(OUTPUT a COMMAND sh -c "echo > t; cp t a" VERBATIM)
add_custom_command(OUTPUT b COMMAND sh -c "cat t > b" VERBATIM)
add_custom_target(both ALL DEPENDS a b)
"""
TWO_TARGETS = """\
add_custom_target(first ALL COMMAND sh -c "echo > t" VERBATIM)
add_custom_target(second ALL COMMAND sh -c "cat t > b" VERBATIM)
"""
BUILDS = {"make": "Unix Makefiles", "ninja": "Ninja"}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (TWO_OUTPUTS, "DEPENDS a in the add_custom_command whose OUTPUT is b."),
        (TWO_TARGETS, "add_dependencies(second first)"),
    ],
    ids=["outputs", "targets"],
)
@pytest.mark.parametrize("builder", BUILDS)
@pytest.mark.usefixtures("box")
def test_what_cmake_wrote_is_mended_where_it_was_told_to(
    work: Path, builder: str, text: str, told: str
) -> None:
    if missing := [name for name in ("cmake", builder) if shutil.which(name) is None]:
        pytest.skip(f"there is no {missing[0]}")
    (work / "CMakeLists.txt").write_text(CMAKE + text, encoding="ascii")
    subprocess.run(
        ["cmake", "-G", BUILDS[builder], "."], cwd=work, check=True, stdout=subprocess.DEVNULL
    )
    found = loud(work, builder, "-j2")
    assert found
    assert all(finding.explanation[-1].endswith(told) for finding in found)
    assert not any("Progress" in op.variable for f in found for op in f.operations)


@pytest.mark.usefixtures("box")
def test_the_lines_of_two_scripts(work: Path) -> None:
    (work / "one.sh").write_text("# makes d\nmkdir d\n", encoding="ascii")
    (work / "two.sh").write_text("cd .\n\nls d > /dev/null\n", encoding="ascii")
    (work / "both.sh").write_text("sh one.sh &\nsh two.sh\nwait\n", encoding="ascii")
    words = [line for f in loud(work, "sh", "both.sh") for line in f.explanation]
    assert any(line.endswith("from line 2 of one.sh: mkdir d.") for line in words)
    assert any(line.endswith("from line 3 of two.sh: ls d > /dev/null.") for line in words)
    assert any("must wait until that is there" in line for line in words)


BACKGROUND = "(echo > go) &\ncat /etc/hostname > name\n{}cat go\nwait\n"


@pytest.mark.parametrize("shell", ["sh", "bash"])
@pytest.mark.usefixtures("box")
def test_a_shell_that_waits_for_one_child_may_find_another(work: Path, shell: str) -> None:
    """What the first did is not in order with what comes behind the wait for the second."""
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell}")
    (work / "go.sh").write_text(BACKGROUND.format(""), encoding="ascii")
    found = loud(work, shell, "go.sh")
    assert Class.SPEC_VIOLATED in {finding.klass for finding in found}
    words = [line for finding in found for line in finding.explanation]
    assert any(line.endswith("from line 1 of go.sh: (echo > go) &.") for line in words)
    assert any(line.endswith("from line 3 of go.sh: cat go.") for line in words)
    (work / "go.sh").write_text(BACKGROUND.format("wait\n"), encoding="ascii")
    assert loud(work, shell, "go.sh") == []


@pytest.mark.usefixtures("box")
def test_lines_that_are_alike_are_told_by_their_order(work: Path) -> None:
    line = "(read x < n; echo $((x + 1)) > n) &\n"
    (work / "two.sh").write_text(f"echo 0 > n\n{line}{line}wait\n", encoding="ascii")
    words = [each for finding in loud(work, "sh", "two.sh") for each in finding.explanation]
    assert any(each.startswith("The command of A") and "line 2 of two.sh" in each for each in words)
    assert any(each.startswith("The command of B") and "line 3 of two.sh" in each for each in words)


@pytest.mark.usefixtures("box")
def test_a_line_that_only_looks_alike_is_not_told(work: Path) -> None:
    """Of `$run` the words are not in the script: the variable's line is not where it is used."""
    (work / "a.sh").write_text(
        'run=${NONE:-perl cat.pl}\nrun="cat f"\n(echo > f) &\n$run\nwait\n', encoding="ascii"
    )
    words = [line for finding in loud(work, "sh", "a.sh") for line in finding.explanation]
    assert any("line 3 of a.sh" in line for line in words)
    assert not any("line 1 of a.sh" in line for line in words)


@pytest.mark.usefixtures("box")
def test_where_a_command_works_is_told(work: Path) -> None:
    (work / "sub").mkdir()
    script = "(cd sub; echo 1 > a) &\n(cd sub; cat a)\nwait"
    words = [line for f in loud(work, "sh", "-c", script) for line in f.explanation]
    assert any(f"in {work}/sub" in line for line in words)


QUICK = ("debian-294579", "debian-438076", "launchpad-596064", "new-1", "new-2")


@pytest.mark.parametrize("name", QUICK)
@pytest.mark.usefixtures("box")
def test_bugs_of_racepro(name: str) -> None:
    (bug,) = (bug for bug in racepro.bugs() if bug.name == name)
    if missing := racepro.missing(bug):
        pytest.skip(f"there is no {missing[0]}")
    found = racepro.checked(bug, seconds=600.0)
    shown = [finding for finding in found.findings.values() if finding.klass in LOUD]
    assert shown
    assert found.tried == found.races
    if bug.rules.specification.checker:
        assert any("the checker is not content" in finding.consequence for finding in shown)


@pytest.mark.usefixtures("box")
def test_a_finding_shows_where_its_processes_come_from_and_the_life_of_its_file(
    work: Path,
) -> None:
    script = "echo 0 > f\n(sh -c 'read x < f; echo $x') &\n(echo 1 > f) &\nwait\ncat f"
    finding, *_ = loud(work, "sh", "-c", script)
    drawn = finding.history
    assert sum(moment.op in ("clone", "vfork", "fork") for moment in drawn.moments) >= 2
    others = [m for m in drawn.moments if m.touched.endswith("/f'") and not m.side]
    assert {drawn.actors[m.actor] for m in others} - {op.actor for op in finding.operations}
    assert all(order.output for order in finding.orders)


LOOKS = "job() { [ -e lock ] || { touch lock; echo one >> winners; }; }\njob & job & wait\n"
TRIES = "job() { mkdir lock 2>/dev/null && echo $1 > winner; }\njob 1 & job 2 & wait\n"


@pytest.mark.parametrize(
    ("script", "told"),
    [
        (LOOKS, "looks and makes at once."),
        (TRIES, "Only one of the two can make this name (O_EXCL, mkdir, link)"),
    ],
    ids=["looks", "tries"],
)
@pytest.mark.usefixtures("box")
def test_two_that_make_one_name(work: Path, script: str, told: str) -> None:
    """Who looks first and then makes needs O_EXCL; who has it is not told to wait for the other."""
    words = [" ".join(finding.explanation) for finding in loud(work, "sh", "-c", script)]
    assert any(told in text for text in words)
    assert not any("One makes what the other looks for" in text for text in words)


@pytest.mark.usefixtures("box")
def test_rules_that_the_run_itself_wrote(work: Path) -> None:
    """In a directory that it made, as a configure does."""
    rules = "all: a b\\na: c\\n\\tcp c a\\nb:\\n\\tcp c b\\nc:\\n\\techo c > c\\n"
    script = f"mkdir d; cd d; printf '{rules}' > Makefile; make -j2 -s"
    words = [line for finding in loud(work, "sh", "-c", script) for line in finding.explanation]
    assert "This line in Makefile puts them in order: b: c" in " ".join(words)
