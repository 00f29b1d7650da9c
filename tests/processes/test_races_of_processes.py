# SPDX-License-Identifier: Apache-2.0
"""From a command to the pair of calls that is to blame; right programs are left in peace."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.processes.harness import OTHER_USER, as_each, folder, launch, ran

from eitherway.detect import detect_all
from eitherway.find.trees import Checked, TreeSearch
from eitherway.findings.from_races import findings_of
from eitherway.model.finding import Finding, Source
from eitherway.model.race import OVERLAPPING
from eitherway.model.words import Class, Kind
from eitherway.recording.store import Store
from eitherway.sandbox.box import Sandbox
from eitherway.worlds.processes.overlapping import marked
from eitherway.worlds.processes.traced import traced

LOST_UPDATE = """\
echo 0 > count
sh -c 'read n < count; echo $((n + 1)) > count' &
sh -c 'read n < count; echo $((n + 1)) > count' &
wait
cat count
"""
SECONDS = 600.0


def checked(work: Path, script: str) -> Checked:
    return checked_command(work, "sh", "-c", script)


def checked_command(work: Path, *command: str) -> Checked:
    with TreeSearch(launch(work, *command), Store(work / "store")) as search:
        return search.check(SECONDS, lambda _: None)


@pytest.fixture(params=[0, OTHER_USER], ids=["root", "user"])
def user(request: pytest.FixtureRequest) -> int:
    if os.geteuid() != 0 and request.param == 0:
        pytest.skip("the tests run as an ordinary user")
    return int(request.param) if os.geteuid() == 0 else os.geteuid()


def test_a_lost_update_is_found_and_blamed_on_one_pair(user: int) -> None:
    with folder(user) as work:
        found = as_each(user, lambda: checked(work, LOST_UPDATE))
        assert not (work / "count").exists()  # nothing of it has happened here
    (finding,) = found.findings.values()
    assert finding.klass is Class.OUTPUT_DIFFERS
    assert [operation.op for operation in finding.operations] == ["write", "read"]
    assert {operation.variable for operation in finding.operations} == {f"{work}/count"}
    assert any(r"'2\n'" in line and r"'1\n'" in line for line in finding.explanation)
    assert finding.confidence.matching == "strict"
    assert found.tried == found.races > 1


def test_it_is_the_same_every_time() -> None:
    with folder() as work:
        first, second = (checked(work, LOST_UPDATE) for _ in range(2))
    assert list(first.findings) == list(second.findings)
    assert first.calls == second.calls
    assert first.branches == second.branches


def test_a_missing_prerequisite() -> None:
    script = "(mkdir d) & (test -d d && echo x > d/a; test -d d); wait"
    with folder() as work:
        found = checked(work, script)
    assert {finding.klass for finding in found.findings.values()} == {Class.OUTPUT_DIFFERS}
    assert all("mkdir" in {op.op for op in f.operations} for f in found.findings.values())


def test_who_looks_at_proc_races_with_who_starts() -> None:
    """What `ps | grep` suffers from: is it the shell still, or the command already?"""
    with folder() as work:
        found = checked(work, "sleep 1 & cat /proc/$!/cmdline | tr '\\0' ' '; wait")
    (finding,) = (f for f in found.findings.values() if f.klass is Class.OUTPUT_DIFFERS)
    assert {op.op for op in finding.operations} == {"execve", "read"}
    assert "/cmdline" in "".join(op.variable for op in finding.operations)


def test_what_was_read_of_a_process_before_hides_nothing() -> None:
    """So `ps` does: of each process it reads some files in /proc, and its command line last."""
    others = "/proc/$!/limits " * 3
    with folder() as work:
        found = checked(work, f"sleep 1 & grep -hao '^sleep' {others} /proc/$!/cmdline; wait")
    (finding,) = (f for f in found.findings.values() if f.klass is Class.OUTPUT_DIFFERS)
    assert [op.op for op in finding.operations] == ["execve", "read"]
    assert finding.operations[1].variable.endswith("/cmdline")


FIRST_CHILD = """\
my $a = fork; exit 0 unless $a;
my $b = fork; exit 0 unless $b;
my $first = wait; print $first == $a ? "A" : "B"; wait; exit($first != $a);
"""


def test_a_wait_that_could_find_the_other_child() -> None:
    with folder() as work:
        (work / "first.pl").write_text(FIRST_CHILD, encoding="ascii")
        found = checked_command(work, "perl", "first.pl")
    (finding,) = found.findings.values()
    assert (finding.kind, finding.klass) == (Kind.WAIT_WAKEUPS, Class.SPEC_VIOLATED)
    assert "finds process 6 first, the program ends with exit status 1" in finding.consequence


def test_a_recipe_that_needs_what_another_makes() -> None:
    with folder() as work:
        (work / "Makefile").write_text(
            "all: d/a d/b\nd/a: d\n\techo a > d/a\nd:\n\tmkdir d\nd/b:\n\techo b > d/b\n",
            encoding="ascii",
        )
        found = checked_command(work, "make", "-j2")
    failing = [f for f in found.findings.values() if f.klass is Class.SPEC_VIOLATED]
    assert failing
    assert {"mkdir"} <= {op.op for finding in failing for op in finding.operations}
    assert all("exit status 2" in finding.consequence for finding in failing)


RIGHT = {
    "a lock": "add() { flock 9; read n < count; echo $((n + 1)) > count; }; echo 0 > count; "
    "(add) 9> lock & (add) 9> lock & wait; cat count",
    "a directory as a lock": "add() { until mkdir lock 2> /dev/null; do sleep 1; done; "
    "read n < count; echo $((n + 1)) > count; rmdir lock; }; echo 0 > count; "
    "(add) & (add) & wait; cat count",
    "a pipe": "echo 1 > a; (cat a > b; echo done) | (read word; cat b)",
    "waiting": "(echo 1 > a) & wait; cat a",
    "different files": "(echo 1 > a) & (echo 2 > b) & wait; cat a b",
    "a file as a lock": "add() { until (set -C; : > lock) 2> /dev/null; do sleep 1; done; "
    "read n < count; echo $((n + 1)) > count; rm lock; }; echo 0 > count; "
    "(add) & (add) & wait; cat count",
    "a name that is taken over": "echo 1 > a; (echo 1 > b; mv b a) & read n < a; echo $n; wait",
    "lines that are appended": "(echo x >> a) & (echo x >> a) & wait; cat a",
}
RIGHT_MAKEFILE = """\
all: d/a d/b
d/a: | d
\techo a > d/a
d/b: d/a | d
\tcp d/a d/b
d:
\tmkdir d
"""
LOCKED = """\
use Fcntl ':flock', ':seek';
open my $file, '+<', 'count';
flock $file, LOCK_EX;
my $n = <$file>;
seek $file, 0, SEEK_SET;
print $file $n + 1, "\\n";
"""


def test_a_right_makefile_is_left_in_peace() -> None:
    with folder() as work:
        (work / "Makefile").write_text(RIGHT_MAKEFILE, encoding="ascii")
        found = checked_command(work, "make", "-j2")
    assert not loud(found)
    assert not any(found.left_out) or set(found.left_out) == {"tokens of make's jobserver"}


def test_a_lock_that_is_held_until_the_end_is_one() -> None:
    with folder() as work:
        (work / "add.pl").write_text(LOCKED, encoding="ascii")
        script = "echo 0 > count; perl add.pl & perl add.pl & wait; cat count"
        assert not loud(checked(work, script))
        (work / "add.pl").write_text(LOCKED.replace("flock $file", "# $file"), encoding="ascii")
        assert {finding.klass for finding in loud(checked(work, script))} == {Class.OUTPUT_DIFFERS}


@pytest.mark.parametrize("script", RIGHT.values(), ids=RIGHT)
def test_right_programs_are_left_in_peace(script: str) -> None:
    with folder() as work:
        found = checked(work, script)
    assert not loud(found)


def loud(found: Checked) -> list[Finding]:
    shown = (Class.SPEC_VIOLATED, Class.OUTPUT_DIFFERS)
    return [finding for finding in found.findings.values() if finding.klass in shown]


COUNT_IN = {
    "python": "import os\nn = open('count').read()\nopen('count', 'w').write(str(int(n) + 1))\n",
    "perl": "open F, 'count'; $n = <F>; open G, '>count'; print G $n + 1;\n",
}


@pytest.mark.parametrize(("language", "text"), COUNT_IN.items(), ids=COUNT_IN)
def test_it_is_the_same_in_any_language(language: str, text: str) -> None:
    interpreter = {"python": "/usr/bin/python3 -S -E", "perl": "perl"}[language]
    if shutil.which(interpreter.split()[0]) is None:
        pytest.skip(f"there is no {language}")
    with folder() as work:
        (work / "add").write_text(text, encoding="ascii")
        script = f"printf 0 > count; {interpreter} add & {interpreter} add & wait; cat count"
        found = checked(work, script)
    assert any(
        operation.variable == f"{work}/count"
        for finding in loud(found)
        for operation in finding.operations
    )


def test_a_static_program_is_seen_like_any_other() -> None:
    source = 'int main(void) { FILE *f = fopen("f", "w"); fputs("x", f); return fclose(f); }'
    with folder() as work:
        (work / "touch.c").write_text(f"#include <stdio.h>\n{source}\n", encoding="ascii")
        subprocess.run(["gcc", "-static", "-o", "touch", "touch.c"], cwd=work, check=True)
        found = checked(work, "./touch & cat f 2> /dev/null; wait")
    assert any("./touch" in op.actor for f in loud(found) for op in f.operations)


def test_a_java_program_is_recorded_and_its_races_are_found() -> None:
    if shutil.which("java") is None:
        pytest.skip("there is no java")
    text = """\
import java.nio.file.*;
class Put { public static void main(String[] a) throws Exception {
  Files.writeString(Path.of("f"), a[0]); } }
"""
    with folder() as work:
        (work / "Put.java").write_text(text, encoding="ascii")
        subprocess.run(["javac", "Put.java"], cwd=work, check=True)
        java = "java -Xint -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xshare:auto Put"
        with TreeSearch(
            launch(work, "sh", "-c", f"{java} x & cat f 2> /dev/null; wait"), Store(work / "store")
        ) as search:
            found = search.check(0.001, lambda _: None)  # the races are wanted, not what they do
    assert (found.calls > 1000, found.races > 0) == (True, True)


def test_calls_that_overlap_are_not_told_to_have_an_order(box: Sandbox, work: Path) -> None:
    """As who only looks on may see them; here the first of two is made to last longer."""
    found = traced(ran(box, work, "sh", "-c", "(echo 1 > f) & (echo 2 > f) & wait").log, str(work))
    races = [race for race in detect_all(found.trace) if race.kind is Kind.LOAD_STORE]
    assert marked(races, found) == races
    first, second = (int(found.call[operation]) for operation in races[0].operations)
    calls = found.log.calls
    calls["left"][first] = calls["entered"][second] + 1
    unsure = marked(races, found)[0]
    assert unsure.pattern == OVERLAPPING
    (finding,) = findings_of(found.trace, [unsure], source=Source("test"))
    assert "A and B were under way at the same time here" in finding.explanation[-1]


ENDS_SOUGHT = """\
for (1..2) { fork or do {
    sysopen F, "f", 0x41; sysseek F, 0, 2; syswrite F, "line of $_\\n"; exit 0;
} }
wait; wait;
"""


@pytest.mark.usefixtures("box")
def test_who_looks_for_the_end_of_a_file_may_look_too_early(work: Path) -> None:
    """And writes over what another appends."""
    (finding,) = checked_command(work, "perl", "-e", ENDS_SOUGHT).findings.values()
    assert finding.klass is Class.OUTPUT_DIFFERS
    assert {operation.op for operation in finding.operations} == {"lseek", "write"}


# Either of the files may come too late, and what is told is the same.
TWO_MISSING = """\
echo one > a &
echo two > b &
(sort a b 2> /dev/null | wc -l > n) &
wait
cat n
"""


def test_two_races_that_do_the_same_harm_do_not_hide_each_other(work: Path) -> None:
    """Where one file is late anyway, nothing comes of the order of the other."""
    found = checked(work, TWO_MISSING)
    assert found.findings
    for finding in found.findings.values():
        assert finding.klass is Class.OUTPUT_DIFFERS
        assert {each.variable for each in finding.operations} <= {f"{work}/a", f"{work}/b"}
        assert any("sort" in each.actor for each in finding.operations)
