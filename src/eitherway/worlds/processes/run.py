# SPDX-License-Identifier: Apache-2.0
"""One run of a command and all that it starts, under the tracer, in a sandbox."""

import math
import os
import signal
import subprocess
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from eitherway.errors import Unavailable
from eitherway.installed import native
from eitherway.recording.read import Recording
from eitherway.sandbox.box import Sandbox
from eitherway.sandbox.isolation import Kind
from eitherway.worlds.processes.apart import is_kept, lacking
from eitherway.worlds.processes.log import Log
from eitherway.worlds.processes.plan import Plans, Turns
from eitherway.worlds.processes.recorded import Once, facts_of
from eitherway.worlds.processes.watching import RECORDER, Watching
from eitherway.worlds.threads.captured import Captured
from eitherway.worlds.threads.launch import Launch
from eitherway.worlds.threads.target import Sink, Started

TRACER = "bin/eitherway-tracer"
PATIENCE = 5  # seconds of sleep of all processes, until a branch is taken to hang
_REFUSED = 69  # of the tracer: this machine cannot


@dataclass(frozen=True, slots=True)
class Follow:
    """What a branch follows before it goes on by itself."""

    plans: Plans
    turns: Turns
    brief: bool = False  # of what is followed, the log need have no more than what was written


@dataclass(frozen=True, slots=True)
class Limits:
    """When a run is ended that does not end by itself; None: never."""

    patience: int | None = None  # seconds of sleep of all
    calls: int | None = None
    seconds: float | None = None
    rest: int | None = None  # seconds in which all slept, together

    def options(self) -> list[str]:
        """As the tracer takes them."""
        seconds = None if self.seconds is None else math.ceil(self.seconds)
        given = {
            "--patience": self.patience,
            "--most": self.calls,
            "--seconds": seconds,
            "--rest": self.rest,
        }
        return [word for option, n in given.items() if n is not None for word in (option, str(n))]


NO_LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class Ran:
    """What a run left."""

    log: Log
    out: Captured
    err: Captured


def run(
    launch: Launch,
    box: Sandbox,
    into: Path,
    *,
    seed: int | None = None,
    follow: Follow | None = None,
    limits: Limits = NO_LIMITS,
    show: tuple[Sink, Sink] | None = None,
    watching: Watching | None = None,
    redact: bool = False,
) -> Ran:
    """Run it as it comes, or with a seed one call at a time; what happened is then in `into`.

    What is followed comes before what the seed decides. With `watching` nothing is stopped: it runs
    as it comes, and what came from outside is not in the recording. With `redact` that is not, nor
    are the words of command lines, the environment and output.
    """
    with ExitStack() as stack:
        directory = os.open(into, os.O_RDONLY | os.O_DIRECTORY)
        stack.callback(os.close, directory)
        once = _once(box, watching, redact=redact)
        facts = _memory(stack, "eitherway-facts", facts_of(launch, into, once))
        stdin = _memory(stack, "eitherway-stdin", launch.stdin)
        words = [str(native(RECORDER if watching else TRACER))]
        words += ["--into", str(directory), "--facts", str(facts)]
        passed = [directory, facts]
        if watching is not None:
            words += ["--loader", str(watching.fileno())]
            passed.append(watching.fileno())
        if redact:
            words.append("--redact")
        words += limits.options()
        if watching is None and not _is_open(box):
            words.append("--apart")
        if seed is not None:
            words += ["--ordered", "--seed", str(seed)]
        if follow is not None:
            plan = stack.enter_context(follow.plans.file(follow.turns))
            words += ["--plan", str(plan), *(["--brief"] if follow.brief else [])]
            words += ["--began", str(follow.plans.began)]
            passed.append(plan)
        process = box.popen(
            [*words, "--", *launch.command],
            as_is=directory,
            pass_fds=passed,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=launch.directory,
            env=dict(launch.environment),
        )
        started = stack.enter_context(Started(process, lambda: box.process_of(process), show=show))
        while not started.wait(None):
            pass
        started.drain()
        out, err = started.written()
        _refuse(started.status, err, into)
    with Recording.open(into) as recording:
        return Ran(Log.read(recording), out, err)


def _once(box: Sandbox, watching: Watching | None, *, redact: bool) -> list[Once]:
    """What stands against doing it again."""
    against = {
        Once.NOT_APART: bool(lacking(box)) and not is_kept(box),
        Once.KEPT: is_kept(box),
        Once.LOOKED_ON: watching is not None,
        Once.REDACTED: redact,
    }
    return [reason for reason, holds in against.items() if holds]


def _is_open(box: Sandbox) -> bool:
    """Whether somebody outside could wake who sleeps in it."""
    kept_apart = (Kind.FILES, Kind.PROCESSES, Kind.NETWORK)
    return any(kind in box.isolation.missing for kind in kept_apart)


def _memory(stack: ExitStack, name: str, data: bytes) -> int:
    """A descriptor that these bytes can be read from."""
    descriptor = os.memfd_create(name)
    stack.callback(os.close, descriptor)
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def _refuse(status: int, err: Captured, into: Path) -> None:
    """A tracer that came to no end of its own has said why."""
    if (into / "MANIFEST").exists():
        return
    words = err.beginning.decode("utf-8", "replace").strip().rpartition("\n")[2]
    if status == -signal.SIGKILL:
        words = "the tracer was killed"
    words = words.removeprefix("eitherway-tracer: ").removeprefix("eitherway-recorder: ")
    fixes = (fix for begin, fix in _FIXES.items() if words.startswith(begin))
    fix = next(fixes, "eitherway doctor")
    raise Unavailable(words or f"the tracer ended with {status}", fix=fix)


_FIXES = {
    "BPF cannot": "--recorder ptrace",
    "the recording cannot be written": "EITHERWAY_DIR=DIRECTORY eitherway ..., where there is room",
}
