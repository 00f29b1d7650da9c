# SPDX-License-Identifier: Apache-2.0
"""What one operation is about has the name that it has in the trace of all."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.corpus.checked import build

from eitherway.recording.read import Recording
from eitherway.worlds.threads.events import Events
from eitherway.worlds.threads.launch import Launch
from eitherway.worlds.threads.named import object_of, trace_of
from eitherway.worlds.threads.run import run

HERE = Path(__file__).parent
PROGRAMS = [
    (HERE / "programs" / "names.c", "heap"),
    (HERE / "programs" / "names.c", "thread-local"),
    (HERE / "programs" / "mapped.c", ""),
    (HERE.parent / "programs" / "cond_broadcast_right.c", ""),
    (HERE.parent / "programs" / "queue_right.c", ""),
]


@pytest.fixture(scope="module", params=PROGRAMS, ids=lambda one: f"{one[0].stem} {one[1]}".strip())
def events(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Events:
    source, way = request.param
    folder = tmp_path_factory.mktemp(source.stem)
    build(source, folder / "program")
    (folder / "trace").mkdir()
    launch = Launch.here([str(folder / "program"), *([way] if way else [])])
    run(launch, seed=3, trace=folder / "trace")
    with Recording.open(folder / "trace") as recording:
        return Events.read(recording)


def test_the_name_is_the_same(events: Events) -> None:
    assert all(names_of_both(events))


def test_so_it_is_where_all_memory_is_pages(events: Events) -> None:
    names = events.names
    bare = replace(names, memory=names.memory[:0], regions=names.regions[:0])
    assert all(names_of_both(replace(events, names=bare)))


def names_of_both(events: Events) -> Iterator[bool]:
    """Of one operation for each sort, thread and place."""
    trace = trace_of(events)
    _, first = np.unique(events.events[["op", "thread", "address"]], return_index=True)
    for number in first.tolist():
        touched = trace.operation(number).range
        assert touched is not None
        yield object_of(events, number) == (touched.object_kind, touched.object_name)
