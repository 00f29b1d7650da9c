# SPDX-License-Identifier: Apache-2.0
"""The programs of this folder, each built once for each worker."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
from tests.corpus.checked import addresses_as_before

from eitherway.worlds.threads.launch import fix_addresses

Program = Callable[[str], str]
_SOURCES = Path(__file__).parent / "programs"


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    """The path of a built program, by the name of its source.

    Not optimised, or a loop that waits for a plain variable would look once.
    """
    folder = tmp_path_factory.mktemp("judge")

    @cache
    def built(name: str) -> str:
        command = [sys.executable, "-m", "eitherway", "cc", "-g", str(_SOURCES / f"{name}.c")]
        subprocess.run([*command, "-o", str(folder / name)], check=True)
        return str(folder / name)

    return built


@pytest.fixture
def consequences(program: Program) -> str:
    """Its path."""
    return program("consequences")


@pytest.fixture
def fixed() -> Iterator[None]:
    """Addresses are the same in every run."""
    with addresses_as_before():
        if not fix_addresses():
            pytest.skip("addresses cannot be fixed on this machine")
        yield
