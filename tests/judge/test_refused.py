# SPDX-License-Identifier: Apache-2.0
"""What the sandbox of an ordinary user refuses, and nobody else: no verdict is built on that."""

import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import mkdtemp

import pytest
from tests.judge.bench import bench
from tests.judge.conftest import Program
from tests.sandbox.harness import OTHER_USER, as_user

from eitherway.judge.trial import Trial
from eitherway.model.outcome import Ending, Outcome
from eitherway.model.words import Class


@pytest.fixture
def home() -> Iterator[Path]:
    """Of a user, in which all is its own; root's group has a file."""
    folder = Path(mkdtemp())
    (folder / "shared").write_text("as it was")
    if os.geteuid() == 0:
        os.chown(folder, OTHER_USER, OTHER_USER)
        os.chown(folder / "shared", OTHER_USER, 0)
    yield folder
    shutil.rmtree(folder)


def judged(program: Path, mode: str, file: Path) -> tuple[Class, str]:
    with bench([os.fspath(program), mode, os.fspath(file)], continuations=2) as made:
        ran = made.explorer.run(scheduler="round-robin", detect=True)
        findings = made.races_in(ran).values()
        (finding,) = (f for f in findings if f.operations[0].variable == "ready")
        told = made.judge.judged(finding, ran, lambda _: program.parent)
        return told.klass, told.reason


@pytest.mark.skipif(os.geteuid() != 0, reason="makes files of another group")
@pytest.mark.usefixtures("fixed")
@pytest.mark.parametrize("mode", ["opens", "opens_stream", "makes_it_short"])
def test_what_only_the_sandbox_refuses_is_no_harmless_race(
    program: Program, home: Path, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    """The program passes over the error, and nothing is seen from outside."""
    own = Path(shutil.copy(program("refused"), home))
    monkeypatch.setenv("HOME", os.fspath(home))
    monkeypatch.chdir(home)
    assert judged(own, mode, home / "shared") == (Class.OUTPUT_DIFFERS, "")
    klass, reason = as_user(OTHER_USER, lambda: judged(own, mode, home / "shared"))
    assert klass is Class.INCONCLUSIVE
    assert "EOVERFLOW" in reason


def test_a_refusal_in_both_orders_explains_no_difference() -> None:
    ends = Outcome(Ending.EXIT, refused=True)
    fails = replace(ends, ending=Ending.SIGNAL, code=6)
    allowed = replace(ends, refused=False)
    assert Trial(0, ends, ends).klass is Class.INCONCLUSIVE
    assert Trial(0, ends, allowed).klass is Class.INCONCLUSIVE
    assert Trial(0, fails, allowed, allowed).klass is Class.INCONCLUSIVE
    assert Trial(0, fails, ends, ends).klass is Class.SPEC_VIOLATED
