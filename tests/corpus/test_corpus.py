# SPDX-License-Identifier: Apache-2.0
"""`check` tells of every program of the corpus what is true, and nothing else.

The seed and the number of schedules are fixed, so the outcome is too; `benchmarks/corpus.py`
measures how much luck is in it.
"""

from pathlib import Path

import pytest
from tests.corpus.checked import build, checked
from tests.corpus.expect import Truth, truths
from tests.corpus.told import compared, told_of

SCHEDULES = 200
MORE = {"paper_apache_45605": 3000}  # what is rarely met
# A run that hangs is waited for: as few as show it, and not for long.
OPTIONS = {"paper_pfscan": ("--schedules", "100", "--timeout", "1")}


@pytest.mark.parametrize("truth", truths(), ids=lambda truth: truth.name)
def test_what_is_true_is_told(truth: Truth, tmp_path: Path) -> None:
    program = tmp_path / truth.name
    build(truth.source, program)
    schedules = str(MORE.get(truth.name, SCHEDULES))
    options = OPTIONS.get(truth.name, ("--schedules", schedules))
    document = checked(program, "--seed", "1", *options)
    result = compared(truth, [told_of(finding, truth.source) for finding in document.findings])
    assert [one.words for one in result.missed] == []
    assert [str(one) for one in result.false] == []
    assert [note for note in document.summary.notes if "a bug in EitherWay" in note] == []
