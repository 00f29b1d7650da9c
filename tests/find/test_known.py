# SPDX-License-Identifier: Apache-2.0
"""What a search has found is tried first by the next, and listed until it is removed."""

from dataclasses import replace
from pathlib import Path

import pytest

from eitherway.find import saved
from eitherway.find.known import Known
from eitherway.find.ways import limited
from eitherway.findings.merge import stamped
from eitherway.model.finding import Finding, FoundOperation
from eitherway.model.identity import identified
from eitherway.model.words import Class, Kind, World
from eitherway.recording.store import CHECKED, Store
from eitherway.worlds.threads.launch import Launch
from eitherway.worlds.threads.places import NOWHERE, Places
from eitherway.worlds.threads.policies import Turn

PROGRAM = "/bin/true"  # any ELF file has what a build is known by


def launch(*arguments: str, stdin: bytes = b"") -> Launch:
    return Launch((PROGRAM, *arguments), "/", {}, stdin)


def test_recordings_come_back_newest_first_and_once(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    Known(launch(), store).add(["1", "2"])
    Known(launch(), store).add(["3", "1"])
    assert Known(launch(), store).names == ("3", "1", "2")


def test_a_recording_that_is_gone_is_passed_over(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    Known(launch(), store).add(["20200101-000000-000000"])
    assert list(Known(launch(), store).runs()) == []


@pytest.mark.parametrize("other", [launch("-x"), launch(stdin=b"x")])
def test_other_arguments_or_input_know_nothing(tmp_path: Path, other: Launch) -> None:
    store = Store(tmp_path / "store")
    Known(launch(), store).add(["1"])
    assert Known(other, store).names == ()


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"recordings": 1}', b'{"recordings": [[1]]}'])
def test_what_cannot_be_read_is_nothing_known(tmp_path: Path, data: bytes) -> None:
    store = Store(tmp_path / "store")
    Known(launch(), store).add(["1"])
    (path,) = (store.root / CHECKED).iterdir()
    path.write_bytes(data)
    assert Known(launch(), store).names == ()


def test_places_are_known_by_the_build_whatever_its_arguments_are(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    Known(launch(), store).add_places(Places.of([5]))
    Known(launch("-x"), store).add_places(Places.of([7]))
    assert Known(launch(stdin=b"x"), store).places == Places.of([5, 7])
    assert Known(Launch(("/bin/false",), "/", {}, b""), store).places == NOWHERE


@pytest.mark.parametrize("data", [b"x", b"\xff", b"AAAAAB" * 2, b"AAAAAA" * 5000])
def test_places_that_cannot_be_read_are_none(tmp_path: Path, data: bytes) -> None:
    store = Store(tmp_path / "store")
    Known(launch(), store).add_places(Places.of([5]))
    (path,) = (store.root / CHECKED).iterdir()
    path.write_bytes(data)
    assert Known(launch(), store).places == NOWHERE


def test_findings_are_merged_with_those_of_earlier_searches(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    one, other = (
        identified(Finding(World.THREADS, Kind.DATA_RACE, (FoundOperation("a", "b", variable=v),)))
        for v in "xy"
    )
    assert saved.add(store, [one]) == 1
    assert saved.add(store, [other, one]) == 2
    saved.path_of(store).write_text("{")
    assert saved.add(store, [one]) == 1


def test_what_is_held_is_there_until_it_is_judged(tmp_path: Path) -> None:
    """Whoever is killed in between has it still; else it is as if it had not been held."""
    store = Store(tmp_path / "store")
    old, new, gone = (
        stamped(
            identified(
                Finding(World.THREADS, Kind.DATA_RACE, (FoundOperation("a", "b", variable=v),))
            ),
            "2026-01-02T03:04:05Z",
        )
        for v in "xyz"
    )
    saved.add(store, [old])
    held = saved.hold(store, [old, new, gone])
    assert {finding.id for finding in saved.known(store)} == {old.id, new.id, gone.id}
    judged = replace(new, klass=Class.K_WITNESS_HARMLESS)
    assert saved.add(store, [old, judged], held) == 2
    found = {finding.id: finding for finding in saved.known(store)}
    assert found[new.id].klass is Class.K_WITNESS_HARMLESS
    assert (found[new.id].seen.count, found[old.id].seen.count) == (1, 2)


def test_no_more_schedules_than_asked_for() -> None:
    turns = [Turn("a", range(3)), Turn("b", range(10, 20)), Turn("c", range(5))]
    assert list(limited(turns, 5)) == [Turn("a", range(3)), Turn("b", range(10, 12))]
    assert list(limited(turns, None)) == turns
