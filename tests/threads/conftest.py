# SPDX-License-Identifier: Apache-2.0
"""Programs of this folder, built once for each worker."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from eitherway.worlds.threads.build import build

Program = Callable[[str], str]


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    """The path of a built program, by the name of its source."""
    folder = tmp_path_factory.mktemp("programs")

    @cache
    def built(name: str) -> str:
        build(Path(__file__).parent / "programs" / f"{name}.c", folder / name)
        return str(folder / name)

    return built
