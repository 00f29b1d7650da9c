# SPDX-License-Identifier: Apache-2.0
"""Locks that are used wrongly are told, by what was wrong and with who had them."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.corpus.checked import build, checked

from eitherway.model.finding import Document
from eitherway.model.words import Kind

Check = Callable[[str], Document]


@pytest.fixture(scope="module")
def check(tmp_path_factory: pytest.TempPathFactory) -> Check:
    program = tmp_path_factory.mktemp("misuse") / "misuse"
    build(Path(__file__).parent / "programs" / "misuse.c", program)
    return lambda way: checked(program, "--schedules", "2", arguments=[way])


@pytest.mark.parametrize(
    ("way", "variable", "operations", "proof"),
    [
        ("reader", "rwlock", ["read lock", "unlock"], "what is not its own"),
        ("destroyed", "mutex", ["destruction", "lock"], "there is no lock"),
        ("recursive", "recursive", ["unlock"], "nobody has"),
        ("spin", "spin", ["unlock"], "nobody has"),
        ("rwlock-held", "rwlock", ["lock", "destruction"], "somebody has the lock at B"),
        ("rwlock-again", "rwlock", ["lock", "read lock"], "has the lock since A"),
    ],
)
def test_what_is_wrong_is_told(
    check: Check, way: str, variable: str, operations: list[str], proof: str
) -> None:
    document = check(way)
    (finding,) = document.findings
    assert finding.kind is Kind.LOCK_MISUSE
    assert {side.variable for side in finding.operations} == {variable}
    assert [side.op for side in finding.operations] == operations
    assert proof in finding.explanation[-1]
    assert not any("a bug in EitherWay" in note for note in document.summary.notes)


@pytest.mark.parametrize("way", ["made-again", "checking"])
def test_what_is_right_is_not(check: Check, way: str) -> None:
    assert check(way).findings == ()
