# SPDX-License-Identifier: Apache-2.0
"""A trace has what was asked for and nothing else, and taking one changes nothing of the run."""

import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from eitherway.detect import detect_all
from eitherway.errors import BadInput
from eitherway.model.trace import Operation, Trace
from eitherway.model.words import Kind, OpKind
from eitherway.recording.read import Recording
from eitherway.worlds.threads.build import build
from eitherway.worlds.threads.events import Events
from eitherway.worlds.threads.launch import Launch
from eitherway.worlds.threads.listing import listing
from eitherway.worlds.threads.recorded import Recorded
from eitherway.worlds.threads.run import run
from eitherway.worlds.threads.traced import Depth, TraceRequest, Where, trace_into, traced

HERE = Path(__file__).parent
BANK = HERE.parent.parent / "examples" / "bank.c"
VALUES = TraceRequest(Depth.VALUES)
U64 = 2**64 - 1


def launch_of(source: Path, folder: Path) -> Launch:
    build(source, folder / "program")
    return Launch.here([str(folder / "program")])


@pytest.fixture(scope="module")
def bank(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    launch = launch_of(BANK, tmp_path_factory.mktemp("bank"))
    return Recorded(launch, run(launch, seed=2))


@pytest.fixture(scope="module")
def widths(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    launch = launch_of(HERE / "values.c", tmp_path_factory.mktemp("values"))
    ran = run(launch, seed=1)
    assert ran.status == 0
    return Recorded(launch, ran)


def operations(trace: Trace) -> list[Operation]:
    return [trace.operation(index) for index in range(len(trace))]


def values_of(trace: Trace, name: str, kind: OpKind) -> list[int | None]:
    return [
        o.value
        for o in operations(trace)
        if o.kind is kind and o.range and o.range.object_name == name
    ]


# --- depth


@pytest.mark.parametrize("depth", list(Depth))
def test_taking_a_trace_changes_nothing_of_the_run(bank: Recorded, depth: Depth) -> None:
    _, ran = traced(bank, TraceRequest(depth))
    assert ran.differences(bank.ran) == []


def test_a_trace_of_a_run_that_is_no_replay_is_that_run(bank: Recorded, tmp_path: Path) -> None:
    """Asking does not use up what decides: not with every access told, and not in a window."""
    for number, request in enumerate([VALUES, TraceRequest(start=7, stop=30)]):
        path = tmp_path / str(number)
        path.mkdir()
        ran = run(bank.launch, seed=2, trace=path, request=request)
        assert set(ran.differences(bank.ran)) <= {"input"}


def test_synchronisation_alone_has_no_plain_access(bank: Recorded) -> None:
    deep, _ = traced(bank)
    flat, _ = traced(bank, TraceRequest(Depth.SYNC))
    expected = [
        (o.kind, o.actor) for o in operations(deep) if o.kind not in (OpKind.LOAD, OpKind.STORE)
    ]
    assert [(o.kind, o.actor) for o in operations(flat)] == expected
    assert len(flat.edges) == len(deep.edges)


def test_values_are_those_that_were_read_and_written(widths: Recorded) -> None:
    trace, ran = traced(widths, VALUES)
    assert ran.differences(widths.ran) == []
    assert values_of(trace, "one", OpKind.STORE) == [0xFF]
    assert values_of(trace, "two", OpKind.STORE) == [22222]
    assert values_of(trace, "four", OpKind.STORE) == [444444]
    assert values_of(trace, "eight", OpKind.STORE) == [444444000000]
    updates = values_of(trace, "counted", OpKind.UPDATE)
    assert updates == [10, 20, 30, 40, 50, 60, 61]


def test_what_is_wider_than_a_number_is_a_hash(widths: Recorded) -> None:
    trace, _ = traced(widths, VALUES)
    assert values_of(trace, "sixteen", OpKind.STORE) == [
        fnv((444444000000 << 64).to_bytes(16, "little"))
    ]
    (read,), (written,) = (
        values_of(trace, name, kind) for name, kind in (("from", OpKind.LOAD), ("to", OpKind.STORE))
    )
    assert read == written == fnv(b"forty bytes, the same in every run".ljust(40, b"\0"))


def fnv(data: bytes) -> int:
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 & U64
    return value


def test_a_value_that_nobody_can_look_at_any_more_is_told_as_none(widths: Recorded) -> None:
    trace, _ = traced(widths, VALUES)
    stores = [o for o in operations(trace) if o.place.function == "store_and_give_back"]
    assert [o.value for o in stores] == [0, 444444]


def test_values_make_no_other_races(bank: Recorded) -> None:
    plain, deep = (traced(bank, request)[0] for request in (TraceRequest(), VALUES))
    assert plain.values is None
    assert list(detect_all(plain)) == list(detect_all(deep))


# --- where and when


def test_a_window_has_its_steps_and_the_lives_of_all_threads(
    bank: Recorded, tmp_path: Path
) -> None:
    events = events_of(tmp_path / "all", bank, TraceRequest())
    window = events_of(tmp_path / "some", bank, TraceRequest(start=7, stop=30))
    lives = np.isin(events["op"], [OpKind.START, OpKind.BEGIN, OpKind.END, OpKind.JOIN])
    inside = (events["step"] >= 7) & (events["step"] < 30)
    assert window["step"].tolist() == events["step"][lives | inside].tolist()
    assert window["op"].tolist() == events["op"][lives | inside].tolist()


def events_of(path: Path, recorded: Recorded, request: TraceRequest) -> np.ndarray:
    path.mkdir()
    assert trace_into(path, recorded, request).differences(recorded.ran) == []
    with Recording.open(path) as recording:
        return Events.read(recording).events


def test_one_variable_has_its_accesses_and_all_synchronisation(bank: Recorded) -> None:
    deep, _ = traced(bank)
    where = variable(bank, "balance")
    narrow, ran = traced(bank, TraceRequest(where=where))
    assert ran.differences(bank.ran) == []
    names = {o.range.object_name for o in operations(narrow) if o.kind is OpKind.STORE and o.range}
    assert names == {"balance"}
    assert values_count(narrow, "balance") == values_count(deep, "balance") > 12
    kinds = {race.kind for race in detect_all(narrow)}
    assert Kind.DATA_RACE in kinds


def test_a_window_of_one_variable_is_that_part_of_all_of_it(bank: Recorded, tmp_path: Path) -> None:
    where = variable(bank, "balance")
    events = events_of(tmp_path / "all", bank, TraceRequest(where=where))
    lives = np.isin(events["op"], [OpKind.START, OpKind.BEGIN, OpKind.END, OpKind.JOIN])
    steps = events["step"][np.isin(events["op"], [OpKind.LOAD, OpKind.STORE])].tolist()
    for stop in (step + more for step in steps[3:8] for more in (0, 1)):
        request = TraceRequest(where=where, start=steps[1], stop=stop)
        window = events_of(tmp_path / str(len(list(tmp_path.iterdir()))), bank, request)
        inside = (events["step"] >= steps[1]) & (events["step"] < stop)
        for column in ("step", "op", "thread"):
            assert window[column].tolist() == events[column][lives | inside].tolist()


def variable(recorded: Recorded, name: str) -> Where:
    from eitherway.symbols.variables import variables_of

    (found,) = [v for v in variables_of(recorded.launch.command[0]).variables if v.name == name]
    return Where(found.start, found.start + found.size, relative=True)


def values_count(trace: Trace, name: str) -> int:
    return sum(o.range is not None and o.range.object_name == name for o in operations(trace))


@pytest.mark.parametrize("frames", [0, 1, 5, 6])
def test_of_the_callers_the_nearest_are_told(widths: Recorded, frames: int) -> None:
    """main calls a function that calls itself five times."""
    deep, _ = traced(widths)
    short, _ = traced(widths, TraceRequest(frames=frames))
    stacks, told = (
        [o.stack for o in operations(trace) if o.place.function == "deep"]
        for trace in (deep, short)
    )
    assert [len(stack) for stack in stacks] == [7]
    assert told == [stacks[0][: frames + 1]]


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: TraceRequest(start=3, stop=3),
        lambda: TraceRequest(start=-1),
        lambda: TraceRequest(stop=2**64),
        lambda: TraceRequest(frames=-1),
        lambda: Where(5, 5),
        lambda: Where(-1, 5),
    ],
)
def test_what_nothing_could_be_told_of_is_not_asked(wrong: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match=r"no |cannot"):
        wrong()


# --- ends


CRASH = """
#include <assert.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
volatile int counter;
sigset_t all;
static long unseen(long number, long one, long two) {
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(one), "S"(two)
                     : "rcx", "r11", "memory");
    return result;
}
int main(int count, char **arguments) {
    counter = 1;
    switch (arguments[1][0]) {
    case 's': *(volatile int *)8 = 2; break;
    case 'a': abort();
    case 'A': assert(counter == 2);
    case '_': _exit(3);
    case 'q': quick_exit(3);
    case 'e':
        execl("/does/not/exist", "x", (char *)0);
        counter = 2;
        execl("/bin/true", "true", (char *)0);
    case 'k':
        for (int i = 0; i < 20000; i++)
            counter = i;
        unseen(SYS_kill, unseen(SYS_getpid, 0, 0), SIGKILL);
    case 'r': raise(SIGKILL);
    case 'm':
        sigfillset(&all);
        sigprocmask(SIG_BLOCK, &all, 0);
        *(volatile int *)8 = 2;
    }
    return count;
}
"""


@pytest.fixture(scope="module")
def crash(tmp_path_factory: pytest.TempPathFactory) -> Launch:
    folder = tmp_path_factory.mktemp("crash")
    (folder / "crash.c").write_text(CRASH, encoding="utf-8")
    return launch_of(folder / "crash.c", folder)


@pytest.mark.parametrize(
    ("how", "status", "stores"),
    [
        ("s", -signal.SIGSEGV, [1, 0]),
        ("m", -signal.SIGSEGV, [1, 0]),
        ("a", -signal.SIGABRT, [1]),
        ("A", -signal.SIGABRT, [1]),
        ("r", -signal.SIGKILL, [1]),
        ("_", 3, [1]),
        ("q", 3, [1]),
        ("e", 0, [1, 2]),
    ],
)
def test_a_trace_is_whole_however_the_program_ends(
    crash: Launch, tmp_path: Path, how: str, status: int, stores: list[int]
) -> None:
    launch = replace(crash, command=(*crash.command, how))
    ran = run(launch, trace=tmp_path, request=VALUES)
    assert ran.status == status
    with Recording.open(tmp_path) as recording:
        found = Events.read(recording)
    assert found.values is not None
    assert found.values[found.events["op"] == OpKind.STORE].tolist() == stores


@pytest.mark.parametrize("how", ["s", "a", "A", "r"])
def test_a_trace_of_a_run_that_died_goes_on_to_its_death(
    crash: Launch, tmp_path: Path, how: str
) -> None:
    """Without a tracer nobody of ours is told of the death, and accesses come before it."""
    ran = run(replace(crash, command=(*crash.command, how)))
    again = run(replace(crash, command=(*crash.command, how)), replay=ran, trace=tmp_path)
    assert again.differences(ran) == []


def test_what_a_killed_program_left_is_incomplete(crash: Launch, tmp_path: Path) -> None:
    """Killed as by others: the runtime does not see it come."""
    launch = replace(crash, command=(*crash.command, "k"))
    assert run(launch, trace=tmp_path, request=VALUES).status == -signal.SIGKILL
    with pytest.raises(BadInput, match="incomplete"):
        Recording.open(tmp_path)
    with Recording.open(tmp_path, incomplete=True) as recording:
        found = Events.read(recording)
        lines = list(listing(recording))
    assert found.values is not None
    stored = found.values[found.events["op"] == OpKind.STORE].tolist()
    assert stored == [1, *range(len(stored) - 1)]
    assert 10_000 < len(stored) < 20_000
    assert len(lines) == len(found.events) + 1


# --- for people


def test_a_listing_has_a_line_for_each_operation(widths: Recorded, tmp_path: Path) -> None:
    trace_into(tmp_path, widths, VALUES)
    with Recording.open(tmp_path) as recording:
        count = len(Events.read(recording).events)
        lines = list(listing(recording))
    assert len(lines) == count + 1
    assert lines[0].split() == ["step", "thread", "operation", "on", "value", "at"]
    (eight,) = [line for line in lines if " eight " in line]
    assert eight.split()[1:7] == ["T0", "write", "of", "8", "eight", "444444000000"]
    assert eight.endswith(" main")
    assert any("atomic update of 4" in line and "counted" in line for line in lines)
    assert any("stack of T0-0x" in line for line in lines)


@pytest.mark.parametrize("address", ["-1", "-2", "-4", "-8"])
def test_a_store_at_the_end_of_all_addresses_ends_there(tmp_path: Path, address: str) -> None:
    """As one through a pointer of a torn container: it crashes, and its trace can be read."""
    store = f"*(volatile int *)(unsigned long){address} = 1;"
    (tmp_path / "wild.c").write_text(f"int main(void) {{ {store} }}\n", encoding="utf-8")
    launch = launch_of(tmp_path / "wild.c", tmp_path)
    ran = run(launch, seed=1)
    assert ran.status == -signal.SIGSEGV
    (folder := tmp_path / "trace").mkdir()
    trace_into(folder, Recorded(launch, ran), VALUES)
    with Recording.open(folder) as recording:
        rows = Events.read(recording).events
    assert np.all(rows["address"] + rows["size"] > rows["address"])
