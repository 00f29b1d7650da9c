# SPDX-License-Identifier: Apache-2.0
"""Accesses of long runs are traced without detection where that tells the same, else with it."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from tests.corpus.checked import addresses_as_before, build

from eitherway.find import confirm
from eitherway.find.confirm import Tracer
from eitherway.sandbox.box import Sandbox
from eitherway.worlds.threads.course import Plan
from eitherway.worlds.threads.explorer import Explorer
from eitherway.worlds.threads.launch import Launch, fix_addresses
from eitherway.worlds.threads.run import Ran

CORPUS = Path(__file__).parent.parent / "programs"
SEEDS = range(8)


@pytest.fixture(autouse=True)
def _all_are_long(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(confirm, "_SHORT", -1)
    with addresses_as_before():
        if not fix_addresses():
            pytest.skip("addresses cannot be fixed on this machine")
        yield


class Watched(Explorer):
    """Knows how its last run was traced."""

    detected = False

    def run(self, **how: object) -> Ran:
        self.detected = bool(how.get("detect"))
        return super().run(**how)  # type: ignore[arg-type]


@pytest.mark.parametrize(("name", "ways"), [("heap_race", {False}), ("free_race", {True})])
def test_the_same_is_told(tmp_path: Path, name: str, ways: set[bool]) -> None:
    build(CORPUS / f"{name}.c", tmp_path / name)
    launch = Launch.here([str(tmp_path / name)])
    detected = set()
    with Sandbox(require=()) as box, Watched(launch, box, plan=Plan(timeout=30)) as explorer:
        tracer = Tracer(explorer, fixed=True)
        for seed in SEEDS:
            ran = explorer.run(seed=seed, detect=True)
            if not ran.found.races:
                continue
            traced = tracer.accesses(ran)
            detected.add(explorer.detected)
            whole = tracer.trace(ran, traced.events.names.asked)
            assert not traced.differs
            assert len(traced.events.events)
            assert np.array_equal(traced.events.events, whole.events.events)
            assert np.array_equal(traced.events.names.memory, whole.events.names.memory)
    assert detected == ways
