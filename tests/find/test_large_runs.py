# SPDX-License-Identifier: Apache-2.0
"""Programs that are large in one way: their races are found, and it ends."""

from collections import Counter
from pathlib import Path

from tests.corpus.checked import build, checked

from eitherway.model.finding import Finding
from eitherway.model.trace import LEFT_OUT
from eitherway.model.words import Kind
from eitherway.sandbox.box import Sandbox
from eitherway.worlds.threads.explorer import Explorer
from eitherway.worlds.threads.launch import Launch


def found(tmp_path: Path, name: str, *arguments: str, schedules: int = 1) -> tuple[Finding, ...]:
    build(Path(__file__).parent / "programs" / f"{name}.c", tmp_path / name)
    document = checked(tmp_path / name, "--schedules", str(schedules), arguments=arguments)
    assert not any("a bug in EitherWay" in note for note in document.summary.notes)
    return document.findings


def test_a_race_below_thousands_of_calls(tmp_path: Path) -> None:
    (finding,) = found(tmp_path, "deep")
    deep = max(finding.operations, key=lambda side: len(side.stack))
    assert deep.stack[-1].function == LEFT_OUT.function
    assert {frame.function for frame in deep.stack[:-1]} == {"down"}


def test_a_race_before_the_stack_is_full(tmp_path: Path) -> None:
    """The program dies of it without a word, and its trace has the race all the same."""
    race, end = sorted(found(tmp_path, "stack_full", schedules=20), key=lambda one: one.kind)
    assert (race.kind, end.kind) == (Kind.DATA_RACE, Kind.FAILURE)
    assert {side.place.function for side in race.operations} == {"raise_it", "fall"}


def test_a_race_in_a_block_of_gigabytes(tmp_path: Path) -> None:
    (finding,) = found(tmp_path, "sparse")
    assert {side.part for side in finding.operations} == {"byte 5368709120"}


def test_one_race_of_hundreds_of_threads(tmp_path: Path) -> None:
    (finding,) = found(tmp_path, "many", "400")
    assert {side.variable for side in finding.operations} == {"counter"}


def test_one_place_is_not_told_of_each_of_hundreds_of_threads(tmp_path: Path) -> None:
    """What the runtime proposes is confirmed one by one, and there is not room for all."""
    build(Path(__file__).parent / "programs" / "many.c", tmp_path / "many")
    launch = Launch.here([str(tmp_path / "many"), "1000"])
    with Sandbox(require=()) as box, Explorer(launch, box) as explorer:
        rows = explorer.run(scheduler="round-robin", detect=True).found.rows
    sides = Counter((int(row["pc"]), int(row["op"]), int(row["past_op"])) for row in rows)
    assert 1 < max(sides.values()) <= 64


def test_a_race_beside_thousands_of_locks(tmp_path: Path) -> None:
    (finding,) = found(tmp_path, "many", "0", "5000")
    assert {side.variable for side in finding.operations} == {"counter"}
