# SPDX-License-Identifier: Apache-2.0
"""`eitherway races` as a person types it, on recordings of small runs."""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest

from eitherway.cli import races as verb
from eitherway.model.place import Place
from eitherway.model.trace import Trace, TraceBuilder
from eitherway.model.words import OpFlag, OpKind, World
from eitherway.recording.manifest import Manifest
from eitherway.recording.store import Store
from eitherway.recording.trace import add_trace, write_trace
from eitherway.recording.write import RecordingWriter

ROOT = Path(__file__).parents[2]
SCHEMA = json.loads((ROOT / "format" / "finding.schema.json").read_text(encoding="utf-8"))

Races = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def races(tmp_path: Path) -> Races:
    environment = {name: value for name, value in os.environ.items() if name != "EITHERWAY_DIR"}

    def run(*args: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "eitherway", "races", *args],
            cwd=tmp_path,
            env={**environment, "PYTHONPATH": str(ROOT / "src")},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def bank(*, locked: bool) -> Trace:
    """Two threads add to a balance, with or without the lock of it; both take two locks in turn."""
    builder = TraceBuilder(World.THREADS)
    balance = builder.range(builder.object("global", "balance"), 0, 4)
    till, book = (builder.range(builder.object("mutex", name)) for name in ("till", "book"))
    main = builder.actor()
    last_release: int | None = None
    for number, (first, second) in enumerate([(till, book), (book, till)], start=1):
        start = builder.operation(main, OpKind.START)
        thread = builder.actor(f"clerk {number}", parent=main, started_by=start)

        def does(kind: OpKind, on: int, line: int, who: int = thread) -> int:
            place = Place(f"clerk_{who}", "/src/bank.c", 10 * who + line)
            return builder.operation(who, kind, on, stack=builder.stack([place]))

        builder.edge(start, does(OpKind.BEGIN, 0, 0))
        if locked:
            taken = does(OpKind.ACQUIRE, till, 1)
            if last_release is not None:
                builder.edge(last_release, taken)
        does(OpKind.LOAD, balance, 2)
        does(OpKind.STORE, balance, 2)
        if locked:
            last_release = does(OpKind.RELEASE, till, 3)
        else:
            for kind, lock, line in [
                (OpKind.ACQUIRE, first, 4),
                (OpKind.ACQUIRE, second, 5),
                (OpKind.RELEASE, second, 6),
                (OpKind.RELEASE, first, 7),
            ]:
                does(kind, lock, line)
    return builder.build()


def recorded(path: Path, *, locked: bool = False) -> None:
    write_trace(path, bank(locked=locked), Manifest(World.THREADS, "test"))


def test_races_of_a_recording_are_told(races: Races, tmp_path: Path) -> None:
    recorded(tmp_path / "run")
    done = races("run")
    assert done.returncode == 1, done.stderr
    assert "WARNING: EitherWay: data race\n" in done.stdout
    assert "SUMMARY: EitherWay: data race /src/bank.c:22 in clerk_2\n" in done.stdout
    assert "  Cycle in lock order graph: till => book => till\n" in done.stdout
    assert "actors of one run; another run, or code that was not recorded" in done.stdout
    assert done.stderr == "eitherway: next: eitherway races run --json FILE keeps this\n"


def test_the_document_fits_the_schema(races: Races, tmp_path: Path) -> None:
    recorded(tmp_path / "run")
    certain = json.loads(races("run", "--json", "-").stdout)
    kinds = [finding["kind"] for finding in certain["findings"]]
    assert sorted(kinds) == ["data-race", "deadlock"]
    document = json.loads(races("run", "--guesses", "--json", "-").stdout)
    jsonschema.Draft202012Validator(SCHEMA).validate(document)
    kinds = [finding["kind"] for finding in document["findings"]]
    assert sorted(kinds) == ["atomicity", "atomicity", "data-race", "deadlock"]
    for finding in document["findings"]:
        assert finding["sources"] == [{"tool": "eitherway", "file": "run"}]
        assert finding["evidence"] == "run"
        assert finding["seen"]["first"] == finding["seen"]["last"] != ""
        assert finding["seen"]["count"] == 1  # one run, however many pairs of accesses it has
        assert finding["explanation"][-2].endswith("a contradiction.")


def test_no_race_is_no_failure(races: Races, tmp_path: Path) -> None:
    recorded(tmp_path / "run", locked=True)
    done = races("run")
    assert (done.returncode, "WARNING" in done.stdout) == (0, False)
    assert "EitherWay: 0 findings\n  looked at " in done.stdout


def test_the_latest_of_the_store_is_the_default(races: Races, tmp_path: Path) -> None:
    store = Store(tmp_path / ".eitherway")
    with store.new() as slot:
        recorded(slot.path / "", locked=False)
    store.publish(slot.path)
    assert races().returncode == 1
    assert races(slot.path.name).returncode == 1
    assert races("19990101").returncode == 65


def test_a_baseline_and_a_later_run(races: Races, tmp_path: Path) -> None:
    recorded(tmp_path / "one")
    recorded(tmp_path / "two")
    races("one", "--write-baseline", "known.txt", "--json", "one.json")
    assert races("two", "--baseline", "known.txt").returncode == 0
    again = races("--findings", "one.json", "--findings", "one.json", "--json", "-")
    assert {finding["seen"]["count"] for finding in json.loads(again.stdout)["findings"]} == {2}


def test_an_incomplete_recording_is_read_when_asked(races: Races, tmp_path: Path) -> None:
    writer = RecordingWriter(tmp_path / "cut", Manifest(World.THREADS, "test"))
    add_trace(writer, bank(locked=False))
    writer.abandon()
    assert races("cut").returncode == 65
    done = races("cut", "--incomplete")
    assert done.returncode == 1
    assert "cut is incomplete: what came after" in done.stdout
    assert "next: eitherway races cut --incomplete --json FILE" in done.stderr


def test_nothing_found_in_a_part_is_inconclusive(races: Races, tmp_path: Path) -> None:
    writer = RecordingWriter(tmp_path / "cut", Manifest(World.THREADS, "test"))
    add_trace(writer, bank(locked=True))
    writer.abandon()
    done = races("cut", "--incomplete")
    assert (done.returncode, "0 findings" in done.stdout) == (2, True), done.stderr
    assert "which says nothing about what is missing" in done.stderr


def test_a_whole_recording_is_whole_also_when_less_would_do(races: Races, tmp_path: Path) -> None:
    recorded(tmp_path / "run", locked=True)
    assert races("run", "--incomplete").returncode == 0


def test_nothing_to_look_at_is_bad_input(races: Races, tmp_path: Path) -> None:
    RecordingWriter(tmp_path / "cut", Manifest(World.THREADS, "test")).close()
    recorded(tmp_path / "damaged")
    (tmp_path / "damaged" / "trace.blocks").write_bytes(b"")
    for name in ("cut", "damaged"):
        done = races(name, "--incomplete")
        assert (done.returncode, done.stdout) == (65, ""), done.stderr
        assert "nothing to look at" in done.stderr


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["run", "--findings", "x.json"], "give a RECORDING or --findings, not both"),
        (["--incomplete", "--findings", "x.json"], "--incomplete is about recordings"),
        (["--findings", "-", "--findings", "-"], "can be read only once"),
        (["a", "b"], "unrecognized arguments: b"),
        ([""], "RECORDING: the name of a file must not be empty"),
        (["--findings", ""], "--findings: the name of a file must not be empty"),
        (["none", "--json", "no/such/folder/x"], "no/such/folder/x cannot be written: No such"),
    ],
)
def test_what_does_not_fit_is_a_usage_error(races: Races, args: list[str], message: str) -> None:
    done = races(*args)
    assert (done.returncode, message in done.stderr) == (64, True), done.stderr


@pytest.mark.parametrize("name", ["none", "./none", "known.txt"])
def test_what_is_no_recording_is_bad_input(races: Races, tmp_path: Path, name: str) -> None:
    (tmp_path / "known.txt").write_text("eitherway-baseline 1\n", encoding="utf-8")
    done = races(name)
    assert done.returncode == 65, done.stderr
    assert "Traceback" not in done.stderr


def test_files_are_read_before_the_work(races: Races) -> None:
    done = races("none", "--baseline", "missing.txt")
    assert "missing.txt cannot be read" in done.stderr


def test_a_failed_try_lock_holds_nothing(races: Races, tmp_path: Path) -> None:
    builder = TraceBuilder(World.THREADS)
    balance = builder.range(builder.object("global", "balance"), 0, 4)
    till = builder.range(builder.object("mutex", "till"))
    for number in range(2):
        actor = builder.actor()
        builder.operation(actor, OpKind.ACQUIRE, till, flags=OpFlag.TRY | OpFlag.FAILED)
        stack = builder.stack([Place(f"clerk_{number}", "bank.c", 1 + number)])
        builder.operation(actor, OpKind.STORE, balance, stack=stack)
    write_trace(tmp_path / "run", builder.build(), Manifest(World.THREADS, "test"))
    assert "(A holds no lock, B holds no lock)" in races("run").stdout


def test_a_search_that_was_cut_short_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Then nothing found is no answer."""
    monkeypatch.setattr("eitherway.detect.deadlock.STEPS", 0)
    recorded(tmp_path / "run")
    monkeypatch.chdir(tmp_path)
    parser = argparse.ArgumentParser()
    verb.add_arguments(parser)
    assert verb.run(parser.parse_args(["run", "--fail-on", "none"])) == 0  # the data race is found
    shown = capsys.readouterr().out
    assert "deadlock" in shown.partition("looked at")[2]
