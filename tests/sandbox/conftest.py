# SPDX-License-Identifier: Apache-2.0
"""The sandbox built from the sources at hand, and a place to work for each user."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.sandbox.harness import OTHER_USER, SOURCES, Place, compile_c

import eitherway
from eitherway.errors import Unavailable
from eitherway.sandbox.box import Sandbox


@pytest.fixture(scope="session")
def programs() -> Iterator[Path]:
    """A folder that any user may enter; it can stand in for the package."""
    folder = Path(tempfile.mkdtemp(prefix="eitherway-test-", dir="/tmp"))
    folder.chmod(0o755)
    compile_c(SOURCES, folder / "bin" / "eitherway-sandbox")
    compile_c([Path(__file__).parent / "programs" / "vandal.c"], folder / "bin" / "vandal")
    yield folder
    shutil.rmtree(folder)


def fill(directory: Path, user: int) -> None:
    """What the vandal knows to spoil."""
    (directory / "dir").mkdir(parents=True)
    for name in ("keep", "gone", "mode", "dir2/inner"):
        (directory / name).parent.mkdir(exist_ok=True)
        (directory / name).write_text(name)
    for path in [directory, *directory.rglob("*")]:
        os.chown(path, user, user)


def make_place(programs: Path, user: int) -> Iterator[Place]:
    folder = Path(tempfile.mkdtemp(prefix="eitherway-test-", dir="/tmp"))
    folder.chmod(0o755)
    for name in ("home", "work"):
        fill(folder / name, user)
    loose = Path(tempfile.mkdtemp(prefix="eitherway-test-", dir="/tmp"))
    shutil.rmtree(loose)
    fill(loose, user)
    yield Place(
        user=user,
        program=programs / "bin" / "eitherway-sandbox",
        vandal=programs / "bin" / "vandal",
        home=folder / "home",
        work=folder / "work",
        loose=loose,
    )
    shutil.rmtree(folder)
    shutil.rmtree(loose)


@pytest.fixture(params=["root", "user"])
def place(programs: Path, request: pytest.FixtureRequest) -> Iterator[Place]:
    """As root, and as another user; only where the machine can isolate that one at all."""
    if os.geteuid() != 0 and request.param == "root":
        pytest.skip("the tests run as an ordinary user")
    user = {"root": 0, "user": OTHER_USER if os.geteuid() == 0 else os.geteuid()}[request.param]
    for made in make_place(programs, user):
        ran = made.run(["true"])
        missing = {kind: ran.report[kind]["why"]
                   for kind in ("files", "network", "processes", "privileges")
                   if ran.report[kind]["isolation"] == "none"}  # fmt: skip
        if missing:
            pytest.skip(f"this machine refuses: {missing}")
        yield made


@pytest.fixture
def package(programs: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The built programs in the place of the installed ones."""
    monkeypatch.setattr(eitherway, "__path__", [str(programs), *eitherway.__path__])
    return programs


@pytest.fixture(scope="module")
def fresh(programs: Path) -> Iterator[Place]:
    """A directory of work that stays as it is, for this user."""
    yield from make_place(programs, os.geteuid())


@pytest.fixture(scope="module")
def box(programs: Path) -> Iterator[Sandbox]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("eitherway.__path__", [str(programs)])
        try:
            made = Sandbox()
        except Unavailable as refused:
            pytest.skip(refused.message)
    with made:
        yield made
