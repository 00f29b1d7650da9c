# SPDX-License-Identifier: Apache-2.0
"""All that a program is started with, so that it can be started the same way again."""

import ctypes
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from eitherway import dispositions
from eitherway.errors import UsageError
from eitherway.worlds.threads.standard_input import Source

VARIABLE = "EITHERWAY_OPTIONS"
_WIDTH = 512  # of the options: a longer text would move the program's stack
_NO_RANDOM_ADDRESSES = 0x0040000  # ADDR_NO_RANDOMIZE


@dataclass(frozen=True, slots=True)
class Launch:
    """A command in its surroundings."""

    command: tuple[str, ...]
    directory: str
    environment: Mapping[str, str]
    stdin: bytes = field(default=b"", repr=False)
    source: Source = Source.GIVEN  # of standard input
    ignored: tuple[int, ...] = ()  # signals

    @classmethod
    def here(
        cls, command: Sequence[str], stdin: bytes = b"", source: Source = Source.GIVEN
    ) -> "Launch":
        """A command in the surroundings of this process."""
        kept = {name: value for name, value in os.environ.items() if name != VARIABLE}
        try:
            directory = os.getcwd()
        except FileNotFoundError:
            raise UsageError("the directory in which we are is gone", fix="cd elsewhere") from None
        return cls(tuple(command), directory, kept, stdin, source, dispositions.ignored())

    def environment_with(self, options: Mapping[str, object]) -> dict[str, str]:
        """The environment with options for the runtime, as native/runtime/options.h has them."""
        return {**self.environment, VARIABLE: options_text(options)}


def program_of(launch: Launch) -> str:
    """The file that the command starts."""
    return os.path.join(launch.directory, _on_path(launch) or launch.command[0])


def program_here(launch: Launch) -> str:
    """The same; a name that leads to no file is refused."""
    word = launch.command[0]
    if "/" not in word and _on_path(launch) is None:
        beside = os.path.exists(os.path.join(launch.directory, word))
        raise UsageError(f"{word} is not found on PATH", fix=f"./{word}" if beside else "")
    return program_of(launch)


def _on_path(launch: Launch) -> str | None:
    path = launch.environment.get("PATH", os.defpath)
    return shutil.which(launch.command[0], path=path)


def options_text(options: Mapping[str, object]) -> str:
    """Always as long, so that what lies above the stack is."""
    text = ":".join(f"{name}={value}" for name, value in options.items())
    return text.ljust(_WIDTH, ":")


def fix_addresses() -> bool:
    """Programs that are started from now on have the same addresses in every run.

    False where that is refused, as in a default container: schedules replay all the same, unless
    the program itself does something that depends on addresses.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    current = libc.personality(0xFFFFFFFF)
    return bool(libc.personality(current | _NO_RANDOM_ADDRESSES) != -1)
