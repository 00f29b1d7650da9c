# SPDX-License-Identifier: Apache-2.0
"""Runs a program that was built for our runtime under one schedule."""

import os
import selectors
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from eitherway.worlds.threads import inputs
from eitherway.worlds.threads import schedule as schedules
from eitherway.worlds.threads.captured import Capture, Captured
from eitherway.worlds.threads.launch import Launch
from eitherway.worlds.threads.schedule import Schedule
from eitherway.worlds.threads.shared import memory
from eitherway.worlds.threads.trace_request import USUAL, TraceRequest

Sink = Callable[[bytes], None]


@dataclass(frozen=True, slots=True)
class Ran:
    """What one run did, and all that is needed to do it again."""

    status: int  # as subprocess tells it: negative is a signal
    out: Captured
    err: Captured
    schedule: Schedule
    inputs: bytes = field(repr=False)

    def differences(self, other: "Ran") -> list[str]:
        """In what two runs differ; empty when they are the same to the bit."""
        pairs = {
            "exit status": (self.status, other.status),
            "standard output": (self.out, other.out),
            "standard error": (self.err, other.err),
            "number of steps": (self.schedule.steps, other.schedule.steps),
            "schedule": (self.schedule.hash, other.schedule.hash),
            "input": (self.inputs, other.inputs),
        }
        return [name for name, (mine, theirs) in pairs.items() if mine != theirs]


class Memories:
    """The memories that runs share with us, one run at a time; given back with the stack."""

    def __init__(self, stack: ExitStack) -> None:
        self.record = stack.enter_context(schedules.empty())
        self.inputs = stack.enter_context(inputs.empty())

    @contextmanager
    def options(self, replay: Ran | None) -> Iterator[dict[str, int]]:
        """Descriptors for the next run, by the option that names them."""
        schedules.clear(self.record)
        inputs.clear(self.inputs)
        own = {"record": self.record, "inputs": self.inputs}
        if replay is None:
            yield own
            return
        filled = (schedules.filled(replay.schedule), inputs.filled(replay.inputs))
        with filled[0] as schedule, filled[1] as given:
            yield {**own, "replay": schedule, "given": given}

    def ran(self, status: int, out: Captured, err: Captured) -> Ran:
        """What is in them when the run is over."""
        return Ran(status, out, err, schedules.read(self.record), inputs.read(self.inputs))


def run(
    launch: Launch,
    *,
    seed: int = 0,
    scheduler: str = "random-walk",
    replay: Ran | None = None,
    trace: Path | None = None,
    request: TraceRequest = USUAL,
    show: tuple[Sink, Sink] | None = None,
) -> Ran:
    """Run under a policy and seed, or as an earlier run.

    With `trace`, what is asked for of the operations is noted in that empty directory; with `show`,
    standard output and standard error are handed on as they come.
    """
    with ExitStack() as stack:
        memories = Memories(stack)
        descriptors = stack.enter_context(memories.options(replay))
        asked: dict[str, int] = {}
        if trace is not None:
            descriptors["trace"] = stack.enter_context(opened(trace))
            asked = request.options()
        options: dict[str, object] = {"scheduler": scheduler, "seed": seed, **descriptors, **asked}
        if replay is not None:
            options["scheduler"] = "replay"
        process = subprocess.Popen(
            launch.command,
            cwd=launch.directory,
            env=launch.environment_with(options),
            stdin=stack.enter_context(memory("stdin", launch.stdin)),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=list(descriptors.values()),
        )
        with process:
            out, err = _collect(process, show)
        return memories.ran(process.returncode, out, err)


@contextmanager
def opened(directory: Path) -> Iterator[int]:
    """A descriptor of a directory."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _collect(
    process: subprocess.Popen[bytes], show: tuple[Sink, Sink] | None
) -> tuple[Captured, Captured]:
    captures = (Capture(), Capture())
    with selectors.DefaultSelector() as selector:
        for index, stream in enumerate((process.stdout, process.stderr)):
            if stream is not None:
                selector.register(stream, selectors.EVENT_READ, index)
        while selector.get_map():
            for key, _ in selector.select():
                data = os.read(key.fd, 1 << 16)
                if not data:
                    selector.unregister(key.fileobj)
                captures[key.data].add(data)
                if show and data:
                    show[key.data](data)
    return captures[0].captured(), captures[1].captured()


def show_on(out: IO[bytes], err: IO[bytes]) -> tuple[Sink, Sink]:
    """Sinks that hand output on at once."""

    def sink(stream: IO[bytes]) -> Sink:
        def write(data: bytes) -> None:
            stream.write(data)
            stream.flush()

        return write

    return sink(out), sink(err)
