# SPDX-License-Identifier: Apache-2.0
"""A compare-exchange is told as what it did: an update when it exchanged, a load when not."""

from pathlib import Path

from eitherway.model.trace import Trace
from eitherway.model.words import OpKind
from eitherway.worlds.threads.build import build
from eitherway.worlds.threads.launch import Launch
from eitherway.worlds.threads.recorded import Recorded
from eitherway.worlds.threads.run import run
from eitherway.worlds.threads.traced import traced

PROGRAM = Path(__file__).parent / "exchanges.c"


def updates(trace: Trace) -> int:
    return int((trace.operations["kind"] == OpKind.UPDATE).sum())


def test_as_many_updates_are_told_as_there_were_exchanges(tmp_path: Path) -> None:
    build(PROGRAM, tmp_path / "program")
    launch = Launch.here([str(tmp_path / "program")])
    loads = set[int]()
    for seed in range(5):
        ran = run(launch, seed=seed)
        assert ran.out.beginning == b"40 40\n"
        trace, _ = traced(Recorded(launch, ran))
        assert updates(trace) == 40
        loads.add(len(trace.operations))
    assert len(loads) > 1  # some exchanges failed, in some runs more than in others
