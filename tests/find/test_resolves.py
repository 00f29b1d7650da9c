# SPDX-License-Identifier: Apache-2.0
"""What getaddrinfo gives are blocks of the program's heap, as what freeaddrinfo takes."""

from pathlib import Path

import pytest
from tests.corpus.checked import build, checked

from eitherway.model.words import Kind


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("resolves") / "resolves"
    build(Path(__file__).parent / "programs" / "resolves.c", program)
    return program


def test_answers_can_be_given_back(program: Path) -> None:
    assert checked(program, "--schedules", "20").findings == ()


def test_but_only_once(program: Path) -> None:
    document = checked(program, "--schedules", "20", arguments=["twice"])
    (error,) = [one for one in document.findings if one.kind is Kind.MEMORY_ERROR]
    assert error.operations[0].allocated
