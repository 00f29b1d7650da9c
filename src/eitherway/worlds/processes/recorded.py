# SPDX-License-Identifier: Apache-2.0
"""How a recorded tree was started, so that it can be started the same way again."""

import json
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path

from eitherway.errors import BadInput, Unavailable
from eitherway.model import shape
from eitherway.model.words import World
from eitherway.recording.read import Recording
from eitherway.worlds.processes.log import Log
from eitherway.worlds.threads.launch import Launch


def _pair(value: object) -> tuple[str, str]:
    pair = shape.listing(shape.text)(value)
    if len(pair) != 2:
        raise shape.ShapeError("must be a name and a value")
    return pair[0], pair[1]


class Once(StrEnum):
    """Why a run cannot be done again."""

    NOT_APART = "not-apart"
    KEPT = "kept"
    LOOKED_ON = "looked-on"
    REDACTED = "redacted"


_WORDS = {
    Once.NOT_APART: "it ran among your own files and processes, which it may have changed",
    Once.KEPT: "it ran among your own files and processes, and what it did stayed (--keep)",
    Once.LOOKED_ON: "it was recorded by BPF, which keeps no input",
    Once.REDACTED: "what it was given and what came from outside are left out (--redact)",
}
_FIXES = {
    Once.NOT_APART: "eitherway doctor --world processes",
    Once.KEPT: "eitherway record -- CMD ARGS",
    Once.LOOKED_ON: "eitherway record --recorder ptrace -- CMD ARGS",
    Once.REDACTED: "eitherway record -- CMD ARGS",
}

_FACTS = shape.record(
    directory=shape.some_text,
    environment=shape.listing(_pair),
    stdin=shape.text,
    home=shape.text,
    once=shape.listing(shape.word(Once)),
)


def facts_of(launch: Launch, into: Path, once: Iterable[Once] = ()) -> bytes:
    """What a recording in this directory is to say."""
    reasons = tuple(once)
    redacted = Once.REDACTED in reasons
    told = {
        "directory": launch.directory,
        "environment": [] if redacted else list(launch.environment.items()),
        "stdin": "" if redacted else launch.stdin.decode("latin-1"),
        "home": _home(into),
        "once": reasons,
    }
    return json.dumps(told).encode()


def launch_of(recording: Recording) -> Launch:
    """Refused when the recording does not lie where it was made: to follow it is to start it.

    Refused too when what it holds is not enough to do the run again.
    """
    told = _told(recording)
    if once := told["once"]:
        words = "; ".join(_WORDS[reason] for reason in once)
        raise Unavailable(f"{recording.path} cannot be done again: {words}", fix=_FIXES[once[0]])
    if told["home"] != _home(recording.path):
        raise BadInput(
            f"{recording.path} was not made in that place, and to replay is to start what it names",
            fix="eitherway record -- CMD ARGS",
        )
    return Launch(
        recording.manifest.command,
        told["directory"],
        dict(told["environment"]),
        told["stdin"].encode("latin-1"),
    )


def directory_of(recording: Recording) -> str:
    """Where it was started, wherever the recording lies now."""
    return str(_told(recording)["directory"])


def _told(recording: Recording) -> shape.JsonObject:
    try:
        return _FACTS(json.loads(Log.read(recording).facts))
    except ValueError as error:
        raise BadInput(f"{recording.path} does not say how it was started") from error


def is_tree(recording: Recording) -> bool:
    """Whether it is of the processes world."""
    return recording.manifest.world is World.PROCESSES


def _home(path: Path) -> str:
    status = path.stat()
    return f"{status.st_dev} {status.st_ino}"
