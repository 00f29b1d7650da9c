# SPDX-License-Identifier: Apache-2.0
"""`check`, `record`, `races` and `replay` of process trees, as a person meets them."""

import json
import os
import re
import shutil
import signal
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from tests.processes.harness import LOST_UPDATE, eitherway, tool

from eitherway.sandbox.processes import children


def test_check_names_the_file_and_both_ends(work: Path) -> None:
    (work / "two.sh").write_text(LOST_UPDATE, encoding="ascii")
    done = eitherway(
        work, "check", "--seconds", "600", "--json", "found.json", "--", "sh", "two.sh"
    )
    assert done.returncode == 1, done.stderr
    assert "the processes of sh" in done.stderr
    assert f"{work}/count is '2\\n'; in the other order file {work}/count is '1\\n'" in done.stdout
    assert "a lock (flock)" in done.stdout
    assert sorted(os.listdir(work)) == [".eitherway", "found.json", "two.sh"]
    document = json.loads((work / "found.json").read_text(encoding="utf-8"))
    (finding,) = document["findings"]
    assert (finding["world"], finding["class"]) == ("processes", "output-differs")
    assert finding["confidence"]["arms"] == ["flip", "control", "prefix"]
    again = eitherway(work, *finding["replay"].split()[1:])
    assert (again.returncode, "the same, call by call" in again.stderr) == (0, True)


@pytest.mark.parametrize("level", ["0", "1"])  # as if a make had started the tool itself
def test_what_make_lacks_is_told_as_a_line_that_mends_it(
    work: Path, level: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MAKELEVEL", level)
    makefile = work / "Makefile"
    rules = "all: d/a d/b\nd/a: d\n\techo a > d/a\nd:\n\tmkdir d\nd/b:\n\techo b > d/b\n"
    makefile.write_text(rules, encoding="ascii")
    done = eitherway(work, "check", "--seconds", "600", "--", "make", "-j2")
    assert done.returncode == 1, done.stderr
    assert "This line in Makefile puts them in order: d/b: | d\n" in done.stdout
    makefile.write_text(f"{rules}d/b: | d\n", encoding="ascii")
    words = ("check", "--seconds", "600", "--fail-on", "spec-violated")
    mended = eitherway(work, *words, "--", "make", "-j2")
    assert mended.returncode == 0, mended.stdout


def test_a_recorded_run_that_fails_is_told(work: Path) -> None:
    done = eitherway(work, "check", "--", "sh", "-c", "exit 3")
    assert "the recorded run: exit status 3" in done.stdout


def test_an_order_that_could_not_be_had_is_none_that_did_not_matter(work: Path) -> None:
    looks = "(until test -d d; do sleep 1; done; echo x > d/a) & mkdir d; wait"
    done = eitherway(work, "check", "--seconds", "600", "--", "sh", "-c", looks)
    why = "the second looks again and again until the first has gone on"
    assert f"in 1 the other order could not be had: {why}\n" in done.stdout
    tried = re.search(r"(\d+) races, (\d+) of them tried .* in (\d+) the order", done.stdout)
    assert tried is not None, done.stdout
    assert int(tried[1]) == int(tried[2]) == int(tried[3]) + 1


def test_races_that_are_inconclusive_are_counted_with_the_reason(work: Path) -> None:
    """Nanoseconds are others in each branch."""
    script = "(echo a > x) & cat x 2> /dev/null; date +%N; wait"
    done = eitherway(work, "check", "--seconds", "600", "--", "sh", "-c", script)
    counted = re.search(r"the order did not matter, (\d+) inconclusive\n", done.stdout)
    assert counted is not None, done.stdout
    why = "what the program does differs with the recorded order of the two as well"
    told = f"{counted[1]} further races, inconclusive, of which nothing came that is not told above"
    assert f"{told}: {why}\n" in done.stdout


def test_nothing_found_is_said_with_what_was_looked_at(work: Path) -> None:
    done = eitherway(work, "check", "--", "sh", "-c", "echo hello")
    assert (done.returncode, "0 findings" in done.stdout) == (0, True)
    assert "system calls of 1 process," in done.stdout
    assert done.stdout.startswith("hello\n")


def test_record_ends_as_the_command_does(work: Path) -> None:
    done = eitherway(work, "record", "--", "sh", "-c", "echo out; echo err >&2; exit 7")
    assert (done.returncode, done.stdout) == (7, "out\n")
    assert done.stderr.startswith("err\n") or "\nerr\n" in done.stderr
    killed = eitherway(work, "record", "--", "sh", "-c", "kill -KILL $$")
    assert killed.returncode == 128 + signal.SIGKILL


def test_races_of_a_recording_are_listed(work: Path) -> None:
    eitherway(work, "record", "--", "sh", "-c", LOST_UPDATE)
    done = eitherway(work, "races")
    assert (done.returncode, "load-store race" in done.stdout) == (1, True)


@pytest.mark.parametrize("recorder", ["ptrace", "bpf"])
def test_what_is_not_in_a_recording_is_told(work: Path, recorder: str) -> None:
    script = "import os, select; select.select([], [], [], 0); os.fork() or os.setsid()"
    words = ["record", "--recorder", recorder, "--", sys.executable, "-c", script]
    done = eitherway(work, *words)
    if "BPF cannot be used" in done.stderr:
        pytest.skip("this machine has no BPF")
    assert done.returncode == 0, done.stderr
    for told in (done.stderr, eitherway(work, "races").stdout):
        assert "have no meaning here: setsid (1)" in told
        assert ("whose answers BPF does not see: pselect6 (1)" in told) == (recorder == "bpf")
    assert ("can be done again" in done.stderr) == (recorder == "ptrace")


def test_what_the_machine_tells_is_told_again(work: Path) -> None:
    script = (
        "cat /proc/sys/kernel/random/uuid /proc/uptime /proc/loadavg; head -c 8 /dev/urandom | od; "
        "cat /proc/self/comm"
    )
    first = eitherway(work, "record", "--", "sh", "-c", script)
    again = eitherway(work, "replay")
    assert (again.returncode, again.stdout) == (0, first.stdout), again.stderr
    assert first.stdout.endswith("\ncat\n")


def test_who_runs_a_command_is_known_by_name_alone(work: Path) -> None:
    """What `ps` tells of them would be another thing in each run, and have the command's words."""
    show = "tr '\\0' ' ' < /proc/1/cmdline; tr '\\0' ' ' < /proc/$PPID/cmdline"
    first = eitherway(work, "record", "--", "sh", "-c", show)
    assert first.stdout == "eitherway-sandbox eitherway-tracer ", first.stderr
    again = eitherway(work, "replay")
    assert (again.returncode, again.stdout) == (0, first.stdout), again.stderr


def test_much_at_a_time_is_told_again(work: Path) -> None:
    """A call may take or give more than there is room for in one place of a recording."""
    made = "dd bs=300000 count=2 if=/dev/urandom status=none | base64 > text"
    script = f"{made}; dd if=text bs=300000 status=none"
    first = eitherway(work, "record", "--", "sh", "-c", script)
    again = eitherway(work, "replay")
    assert first.returncode == 0, first.stderr
    assert len(first.stdout) > 800_000
    assert (again.returncode, again.stdout == first.stdout) == (0, True), again.stderr


def test_a_replay_that_writes_something_else_is_not_the_same(work: Path) -> None:
    (work / "f").write_text("1\n", encoding="ascii")
    eitherway(work, "record", "--", "cat", "f")
    (work / "f").write_text("2\n", encoding="ascii")
    again = eitherway(work, "replay")
    assert again.returncode == 2
    assert "not the same: standard output of 'cat f' is not what it was" in again.stderr


@pytest.mark.parametrize("source", ["head -c 8 /dev/urandom", "cat /proc/sys/kernel/random/uuid"])
def test_random_bytes_are_the_same_in_all_branches(work: Path, source: str) -> None:
    script = f"(echo a > x) & cat x > y 2> /dev/null; wait; rm -f x y; {source} > z"
    done = eitherway(work, "check", "--seconds", "600", "--", "sh", "-c", script)
    assert (done.returncode, "0 findings" in done.stdout) == (0, True), done.stdout


def test_a_copied_recording_is_not_followed(work: Path) -> None:
    eitherway(work, "record", "--", "true")
    shutil.copytree((work / ".eitherway" / "latest").resolve(), work / "copy")
    done = eitherway(work, "replay", "./copy")
    assert (done.returncode, "was not made in that place" in done.stderr) == (65, True)


def test_what_is_not_there_yet_says_so(work: Path) -> None:
    done = eitherway(work, "check", "--seconds", "600", "--", "sh", "-c", LOST_UPDATE)
    assert done.returncode == 1
    for words in (["replay", "--gdb"], ["replay", "--times", "2"]):
        refused = eitherway(work, *words)
        assert refused.returncode == 69, refused.stderr
        assert "Traceback" not in refused.stderr


def test_what_a_recording_shows_and_cannot_be_tried_is_not_said_to_be_missing(work: Path) -> None:
    """One process that waits twice: who ends first has another order, its two waits have not."""
    script = "trap : USR1; (exit 0) & sh -c 'exit 0'; wait"
    assert eitherway(work, "record", "--", "sh", "-c", script).returncode == 0
    assert "wakeup-waits race" in eitherway(work, "races").stdout
    (name,) = os.listdir(work / ".eitherway" / "recordings")
    told = eitherway(work, "judge", f".eitherway/recordings/{name}").stdout
    assert "is not judged: its calls have one order only" in told
    assert "does not show it" not in told


def test_a_sentence_does_not_hold_a_line_without_end(work: Path) -> None:
    script = "for i in 1 2; do printf %05000d $i > f & done; wait; cat f"
    done = eitherway(work, "check", "--json", "found.json", "--", "sh", "-c", script)
    assert done.returncode == 1, done.stderr
    (finding,) = json.loads((work / "found.json").read_text(encoding="utf-8"))["findings"]
    told = [line for line in finding["explanation"] if "0000" in line]
    assert told
    assert max(map(len, told)) < 1000
    assert any("... (5,002 characters)" in line for line in told)


def test_a_kept_finding_is_judged_and_explained_again(work: Path) -> None:
    first = eitherway(work, "check", "--seconds", "600", "--", "sh", "-c", LOST_UPDATE)
    assert first.returncode == 1
    for verb in ("judge", "explain"):
        words = [verb, "EW-", "--json", f"{verb}.json"]
        done = eitherway(work, *words)
        assert done.returncode == 1, done.stderr
        (finding,) = json.loads((work / f"{verb}.json").read_text(encoding="utf-8"))["findings"]
        assert finding["class"] == "output-differs"
        assert len(finding["orders"]) == 2
        again = eitherway(work, *finding["replay"].split()[1:])
        assert again.returncode == 0, again.stderr
    shutil.rmtree(work / ".eitherway" / "recordings")
    gone = eitherway(work, "explain", "EW-")
    assert (gone.returncode, "Traceback" in gone.stderr) == (65, False)


@pytest.mark.parametrize(
    "words",
    [
        ["check", "--driver", "true"],
        ["check", "--scheduler", "pct"],
        ["check", "--schedules", "3"],
        ["check", "--stop-at-first"],
        ["check", "--judge"],
        ["check", "--no-judge"],
        ["check", "--seed", "1"],
        ["record", "--verify"],
        ["record", "--driver", "true"],
        ["record", "--recorder", "bpf", "--timeout", "1"],
    ],
    ids=" ".join,
)
def test_no_option_is_passed_over(work: Path, words: list[str]) -> None:
    done = eitherway(work, *words, "--", "touch", "made")
    option = [word for word in words if word.startswith("--")][-1]
    assert done.returncode == 69
    assert f"eitherway: {option} is not there yet for processes" in done.stderr
    assert "the run" not in done.stderr


@pytest.mark.parametrize(
    ("path", "script", "code"),
    [
        ("mistyped", "echo a > made", 2),
        ("made", "echo a > made", 0),
        ("there", "cat there", 0),
        ("there", "rm there", 0),
        ("a", "mkdir a; echo a > a/f", 0),
    ],
)
def test_what_is_to_be_the_same_must_be_somewhere(
    work: Path, path: str, script: str, code: int
) -> None:
    """Of a name that nobody has, every order leaves the same."""
    (work / "there").write_text("there\n", encoding="utf-8")
    done = eitherway(work, "check", "--expect-same", path, "--", "sh", "-c", script)
    told = f"nothing lies at {work}/{path}, before it nor after"
    assert (done.returncode, told in done.stdout) == (code, code == 2), done.stdout


@pytest.mark.parametrize("command", ["./missing", "/etc/passwd", "/"])
def test_what_is_no_program_is_refused(work: Path, command: str) -> None:
    done = eitherway(work, "check", "--", command)
    assert done.returncode == 64
    assert not (work / ".eitherway").exists()


def test_what_a_killed_tracer_left_can_be_read_when_asked(work: Path) -> None:
    script = "i=0; while [ $i -lt 300 ]; do echo $i > f; i=$((i + 1)); done; echo go; read x < p"
    os.mkfifo(work / "p")
    running = tool(work, "record", "--", "sh", "-c", script)
    assert running.stdout is not None
    assert running.stdout.readline() == b"go\n"
    for helper in children(running.pid):  # with the first the sandbox ends, and all that is in it
        with suppress(ProcessLookupError):
            os.kill(helper, signal.SIGKILL)
    _, errors = running.communicate(timeout=300)
    assert (running.returncode, b"killed" in errors) == (69, True)
    (name,) = os.listdir(work / ".eitherway" / "recordings")
    assert eitherway(work, "races", name).returncode == 65
    part = eitherway(work, "races", "--incomplete", name)
    assert part.returncode == 2, part.stderr
    assert "looked at" in part.stdout


# ---- by BPF


# One write sets both off: had the first one ended before a second write, its end would order them.
BOTH_THERE = """\
mkfifo go
exec 3<>go
(read x <&3; echo a > count) &
(read x <&3; echo b > count) &
printf 'x\\ny\\n' >&3
wait
"""


def test_what_was_only_looked_at_has_races_and_no_replay(work: Path) -> None:
    (work / "two.sh").write_text(BOTH_THERE, encoding="ascii")
    done = eitherway(work, "record", "--recorder", "bpf", "--", "sh", "two.sh")
    if "BPF cannot be used" in done.stderr:
        pytest.skip(f"this machine refuses: {done.stderr}")
    assert done.returncode == 0, done.stderr
    assert "recorded by bpf" in done.stderr
    assert sorted(os.listdir(work)) == [".eitherway", "two.sh"]
    races = eitherway(work, "races")
    assert (races.returncode, f"{work}/count" in races.stdout) == (1, True)
    again = eitherway(work, "replay")
    assert (again.returncode, "recorded by BPF" in again.stderr) == (69, True)


def test_bpf_is_not_for_threads(work: Path) -> None:
    done = eitherway(work, "record", "--world", "threads", "--recorder", "bpf", "--", "true")
    assert (done.returncode, "--world processes" in done.stderr) == (64, True)
