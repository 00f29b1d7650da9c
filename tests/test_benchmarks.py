# SPDX-License-Identifier: Apache-2.0
"""What the benchmarks stand on: they say what is missing, and notice what differs."""

import subprocess
from pathlib import Path

import pytest
from benchmarks import (
    detecting,
    kernel_clock,
    lives,
    measure,
    one_call,
    pairs,
    parts,
    recording,
    replays,
    running,
    sources,
)
from benchmarks.subjects.all import ALL, chosen
from benchmarks.subjects.kernels import KERNELS
from benchmarks.subjects.subject import Job, Size

from eitherway.errors import Exit, Unavailable, UsageError
from eitherway.worlds.threads.captured import Captured
from eitherway.worlds.threads.family import Member
from eitherway.worlds.threads.run import Ran
from eitherway.worlds.threads.schedule import Schedule


def fake_apt(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    for name in ("apt-get", "dpkg-source"):
        program = folder / name
        program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    monkeypatch.setattr(sources, "CACHE", folder / "cache")


@pytest.mark.parametrize(
    ("said", "fix"),
    [
        ("E: You must put some 'deb-src' URIs in your sources.list", "deb-src"),
        ("E: Unable to find a source package for pbzip2", "deb-src"),
        ("E: Failed to fetch http://deb.example/x.dsc  404  Not Found", "network"),
    ],
)
def test_a_source_that_cannot_be_had(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str, fix: str
) -> None:
    fake_apt(tmp_path, monkeypatch, f'echo "{said}" >&2; exit 100')
    with pytest.raises(Unavailable) as problem:
        sources.source("pbzip2")
    assert said in problem.value.message
    assert fix in problem.value.fix


def test_a_source_is_fetched_once_and_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_apt(
        tmp_path, monkeypatch, f"echo >>{tmp_path}/calls; mkdir some-1.0; test -f {tmp_path}/net"
    )
    with pytest.raises(Unavailable):
        sources.source("some")
    (tmp_path / "net").touch()
    assert sources.source("some").name == "some-1.0"
    assert sources.source("some").name == "some-1.0"
    assert (tmp_path / "calls").read_text(encoding="utf-8") == "\n\n"


def test_without_apt_it_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "CACHE", tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Unavailable, match="apt-get"):
        sources.source("some")


def test_what_is_missing_is_the_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    def main() -> None:
        raise Unavailable("there is no tclsh", fix="apt-get install tcl")

    with pytest.raises(SystemExit) as left:
        measure.started(main)
    assert left.value.code == Exit.UNAVAILABLE
    assert "apt-get install tcl" in capsys.readouterr().err


def test_programs_by_name() -> None:
    assert chosen([]) == list(ALL)
    assert [subject.name for subject in chosen(["xz", "array"])] == ["xz", "array"]
    with pytest.raises(UsageError, match="there is no program"):
        chosen(["nosuch"])


def test_every_table_has_its_place() -> None:
    page = Path(__file__).parent.parent / "docs" / "benchmarks.md"
    text = page.read_text(encoding="utf-8")
    for name in (
        "threads cost",
        "detection cost",
        "detection growth",
        "replays",
        "right output",
        "schedules",
        "switches",
        "forks",
        "corpus",
        "classes",
        "judging cost",
        "copies",
        "recording",
        "one call",
        "one call, controls",
        "one call in the kernel",
        "lives",
        "parts of a call",
        "tree detection",
        "flips",
    ):
        assert f"<!-- begin: {name} -->" in text
        assert f"<!-- end: {name} -->" in text


# --- replays


def ran(out: bytes = b"", digest: int = 1) -> Ran:
    return Ran(0, Captured(len(out), out.hex()), Captured(), (Member(Schedule(1, digest)),))


def replays_of(
    monkeypatch: pytest.MonkeyPatch, runs: list[Ran], traces: list[bytes]
) -> replays.Replays:
    """A recording, and replays that give these runs and leave these traces."""

    def again(_job: Job, _first: Ran, trace: Path | None = None) -> Ran:
        if trace is not None:
            (trace / "events").write_bytes(traces.pop(0))
        return runs.pop(0)

    monkeypatch.setattr(replays, "recorded", lambda _job, _seed: ran())
    monkeypatch.setattr(replays, "replayed", again)
    return replays.Replays(Job((), Path(), right=bool), seed=1)


def test_replays_that_differ_are_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    found = replays_of(monkeypatch, [ran(), ran(b"x"), ran(digest=2), ran()], [])
    assert found.same(4) == 2


def test_traces_that_differ_are_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    found = replays_of(monkeypatch, [ran(), ran(), ran(b"x"), ran()], [b"a", b"b", b"a", b"a"])
    assert found.same_traced(4) == 2


def test_what_is_missing_from_a_hundred_is_bold() -> None:
    assert replays._of(100, 100) == "100 of 100"
    assert replays._of(99, 100) == "**99 of 100**"


# --- the cost of looking for races


def seconds(processor: float, resident: int = 1024) -> running.Spent:
    return running.Spent(processor, processor / 2, resident)


def test_the_share_of_libtsans_cost_is_the_median_of_the_rounds() -> None:
    found = {
        "bare": [seconds(1.0), seconds(2.0), seconds(1.0)],
        "ours": [seconds(3.0), seconds(4.0), seconds(9.0)],
        "libtsan": [seconds(11.0), seconds(12.0), seconds(11.0)],
    }
    assert detecting.share(found) == pytest.approx(0.2)
    assert detecting.ratio(found["ours"], found["bare"], detecting.processor) == 3.0


def test_what_is_over_a_bar_is_bold() -> None:
    assert detecting.held(0.50, 0.5) == "0.50"
    assert detecting.held(0.51, 0.5) == "**0.51**"


# --- the cost of recording trees


def test_costs_of_recorders_are_held_against_straces() -> None:
    found: recording.Rounds = {
        "bare": [recording.Measured(seconds(1.0)), recording.Measured(seconds(1.0))],
        "strace": [recording.Measured(seconds(5.0)), recording.Measured(seconds(5.0))],
        "ptrace": [recording.Measured(seconds(3.0), 100, 0), recording.Measured(seconds(3.0), 100)],
    }
    assert recording.share(found, "ptrace") == pytest.approx(0.5)
    assert recording.per_call(found, "ptrace") == pytest.approx(2e7)


def test_what_a_recorder_takes_itself_is_told_apart() -> None:
    took = running.Spent(3.0, 3.0, 1024, own=0.5)
    found: recording.Rounds = {"bpf": [recording.Measured(took, 100)]}
    assert recording.in_recorder(found, "bpf") == pytest.approx(5e6)
    assert recording.in_recorder(found, "bpf", start=0.2) == pytest.approx(3e6)


def test_an_interval_is_as_wide_as_its_figures() -> None:
    sharp = pairs.estimate([480.0, 490.0, 500.0, 510.0, 520.0] * 8)
    noisy = pairs.estimate([-500.0, 0.0, 500.0, 1000.0, 1500.0] * 8)
    assert sharp.value == noisy.value == 500
    assert 480 <= sharp.low <= 500 <= sharp.high <= 520
    assert noisy.high - noisy.low > sharp.high - sharp.low
    assert pairs.estimate([480.0, 490.0, 500.0, 510.0, 520.0] * 8) == sharp


@pytest.mark.parametrize(
    ("low", "high", "told"),
    [
        (350, 450, "400 [350, 450]"),
        (350, 550, "400 [350, 550] ?"),
        (510, 550, "**400 [510, 550]**"),
    ],
)
def test_what_cannot_be_told_from_the_bar_is_said(low: float, high: float, told: str) -> None:
    assert pairs.Estimate(400, low, high).told(500) == told


def test_each_runs_once_in_a_round_and_each_is_as_often_the_first() -> None:
    order: list[str] = []

    def noted(name: str) -> int:
        order.append(name)
        return len(order)

    found = pairs.in_turn({"a": lambda: noted("a"), "b": lambda: noted("b")}, 20)
    assert [len(runs) for runs in found.values()] == [20, 20]
    rounds = [tuple(order[at : at + 2]) for at in range(0, 40, 2)]
    assert rounds.count(("a", "b")) == rounds.count(("b", "a")) == 10


def test_what_others_do_to_both_of_a_pair_is_no_cost() -> None:
    found: recording.Rounds = {
        "bare": [recording.Measured(seconds(took)) for took in (1.0, 5.0, 2.0)],
        "bpf": [
            recording.Measured(seconds(1.5), 100),
            recording.Measured(seconds(5.5)),
            recording.Measured(seconds(2.5)),
        ],
    }
    assert recording.in_pairs(found, "bpf", start=0.25) == pairs.Estimate(2.5e6, 2.5e6, 2.5e6)


def test_a_call_costs_its_tree_and_the_recorder() -> None:
    bare = [one_call.Cost(100, 0), one_call.Cost(300, 0)]
    seen = [one_call.Cost(250, 3000), one_call.Cost(450, 3000)]
    added = one_call.added(bare, seen, start=1000, count=20)
    assert added.bare == 200
    assert [part.value for part in (added.tree, added.recorder, added.together)] == [150, 100, 250]


def test_processes_are_made_when_asked() -> None:
    with lives.Maker() as maker:
        assert float(maker.asked("vfork 8")) > 0
        assert maker.asked("again") == "ready"
        assert float(maker.asked("fork 8")) > 0


def test_parts_of_a_call() -> None:
    calls = [kernel_clock.Ran(9000, 100), kernel_clock.Ran(8000, 100)]
    lives = [kernel_clock.Ran(1500, 10)]
    run = parts.Run(made=80, recorded=40, recorder=4e-6, ran=[*calls, *lives])
    found = parts.parts(run, parts.Nothing(coming=70, inside=50))
    assert found == parts.Parts(made=2, coming=297.5, programs=200, recorder=100)
    assert found.together == 597.5


def test_what_a_recording_costs_once_is_no_part_of_its_calls() -> None:
    found: recording.Rounds = {
        "bare": [recording.Measured(seconds(1.0))],
        "bpf": [recording.Measured(seconds(3.0), 100)],
    }
    assert recording.per_call(found, "bpf", start=0.5) == pytest.approx(1.5e7)


def test_a_tree_is_recorded_and_counted(tmp_path: Path) -> None:
    small = job(tmp_path, "echo right")
    told = recording.measured(small, tmp_path, recording.PTRACE)
    assert told.calls > 0
    assert told.size > 112 * told.calls
    assert 0 < told.spent.own < told.spent.processor  # without what it recorded


# --- jobs


def job(folder: Path, script: str, load: tuple[str, ...] = ()) -> Job:
    command = ("/bin/sh", "-c", script)
    return Job(command, folder / "work", right=lambda out: out == b"right\n", load=load)


def test_a_run_is_measured_and_its_answer_checked(tmp_path: Path) -> None:
    told = running.spent(job(tmp_path, "echo right"))
    assert 0 < told.wall < 60
    assert 0 < told.resident < 20_000
    with pytest.raises(SystemExit, match="output is wrong"):
        running.spent(job(tmp_path, "echo wrong"))
    with pytest.raises(subprocess.CalledProcessError):
        running.spent(job(tmp_path, "echo right; exit 1"))


def test_a_load_that_is_not_content_ends_it(tmp_path: Path) -> None:
    running.spent(job(tmp_path, "echo right", load=("/bin/true",)))
    with pytest.raises(SystemExit, match="ended with 1"):
        running.spent(job(tmp_path, "echo right", load=("/bin/false",)))


def test_no_run_finds_the_files_of_another(tmp_path: Path) -> None:
    for _ in range(2):
        running.spent(job(tmp_path, "test ! -e left && echo right && touch left"))


def test_kernels_know_their_answers(tmp_path: Path) -> None:
    for subject in KERNELS:
        running.spent(subject.job(subject.build(sources.BARE), Size.SMALL, tmp_path / "work"))
