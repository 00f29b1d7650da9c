# SPDX-License-Identifier: Apache-2.0
"""A directory to work in and a sandbox around it."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.processes.harness import folder

from eitherway.errors import Unavailable
from eitherway.sandbox.box import Sandbox
from eitherway.sandbox.isolation import Kind


@pytest.fixture
def work() -> Iterator[Path]:
    with folder(os.geteuid()) as path:
        yield path


@pytest.fixture
def box(work: Path) -> Iterator[Sandbox]:
    try:
        made = Sandbox(require=[Kind.FILES, Kind.PROCESSES], work=[str(work)])
    except Unavailable as problem:
        pytest.skip(f"this machine refuses: {problem.message}")
    with made:
        yield made
