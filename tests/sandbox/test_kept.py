# SPDX-License-Identifier: Apache-2.0
"""What a sandbox had written is there again and nothing else, or it is said that it cannot be."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.sandbox.harness import Place, as_user
from tests.sandbox.shell import ACTIONS, listed_in, script_of

from eitherway.sandbox import kept as keeping
from eitherway.sandbox.box import Sandbox
from eitherway.sandbox.kept import Kept

Actions = list[tuple[str, ...]]


def do(box: Sandbox, work: Path, script: str) -> None:
    with box.popen(["sh", "-c", script], cwd=work) as process:
        process.wait()


@contextmanager
def kept_in(box: Sandbox) -> Iterator[Kept | None]:
    """What is written now; who is inside lives meanwhile, and at the end all is forgotten."""
    with box.popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as cat:
        yield box.keep(box.process_of(cat))
    box.reset()


@settings(max_examples=60)
@given(before=st.lists(ACTIONS, max_size=5), after=st.lists(ACTIONS, min_size=1, max_size=5))
def test_all_is_as_it_was(box: Sandbox, fresh: Place, before: Actions, after: Actions) -> None:
    then = listed_in(box, fresh.work, script_of(before))
    with kept_in(box) as kept:
        do(box, fresh.work, script_of(after))
        assert kept
        if kept.put_back():
            assert listed_in(box, fresh.work) == then


BACK = {
    "a file is made": "echo more > new",
    "directories are made": "mkdir -p one/two && echo more > one/two/three && ln -s one link",
    "a directory of outside gets a file": "echo more > dir/new",
    "one is written": "echo more >> own",
    "one grows shorter": ": > own",
    "one is deleted": "rm own",
    "one is replaced": "echo other > other && chmod 640 other && mv other own",
    "nothing is done": "true",
}


@pytest.mark.parametrize("script", BACK.values(), ids=list(BACK))
def test_what_can_be_put_back_is(box: Sandbox, fresh: Place, script: str) -> None:
    then = listed_in(box, fresh.work, "echo some > own; chmod 640 own")
    with kept_in(box) as kept:
        for _ in range(2):
            do(box, fresh.work, script)
            assert kept
            assert kept.put_back()
            assert listed_in(box, fresh.work) == then


LOST = {
    "a file of outside is written": "echo more >> keep",
    "a file of outside is deleted": "rm gone",
    "a directory of its own goes": "rmdir folder",
    "other permissions": "chmod 600 own",
    "another name of the same": "ln own new",
    "a file becomes a directory": "rm own && mkdir own",
    "a directory of outside has other permissions": "chmod 700 dir",
}


@pytest.mark.parametrize("script", LOST.values(), ids=list(LOST))
def test_what_cannot_is_said(box: Sandbox, fresh: Place, script: str) -> None:
    do(box, fresh.work, "echo some > own; chmod 640 own; mkdir folder")
    with kept_in(box) as kept:
        do(box, fresh.work, script)
        assert kept
        assert not kept.put_back()


def test_what_must_stay_itself_is_not_replaced(box: Sandbox, fresh: Place) -> None:
    do(box, fresh.work, "echo some > own")
    with kept_in(box) as kept:
        assert kept
        kept.pin([str(fresh.work / "own")])
        do(box, fresh.work, "echo more >> own")
        assert kept.put_back()
        do(box, fresh.work, "rm own")
        assert not kept.put_back()


def test_files_are_known_by_their_paths(box: Sandbox, fresh: Place) -> None:
    names = {"own": True, "folder": False, "keep": False, "none": False}
    do(box, fresh.work, "echo some > own; mkdir folder")
    with kept_in(box) as kept:
        assert kept
        assert {name: kept.has_file(str(fresh.work / name)) for name in names} == names


@pytest.mark.parametrize(("limit", "least"), [("ROOM", len("four\n")), ("MANY", None)])
def test_there_may_be_too_much(
    box: Sandbox, fresh: Place, monkeypatch: pytest.MonkeyPatch, limit: str, least: int | None
) -> None:
    """A file lies in directories that are written too."""
    above = len(fresh.work.parts) - 1
    monkeypatch.setattr(keeping, limit, above + 1 if least is None else least)
    do(box, fresh.work, "echo four > own")
    with kept_in(box) as kept:
        do(box, fresh.work, "echo 5 > more")
        assert kept
        assert not kept.put_back()
        with kept_in(box) as more:
            assert more is None


def put_back_by(place: Place) -> bool:
    """A whole story, by whoever we are."""
    with Sandbox(work=[str(place.work)]) as box:
        then = listed_in(box, place.work, "echo some > own; echo more > dir/own")
        with kept_in(box) as kept:
            do(box, place.work, "echo more >> own; rm dir/own; echo new > new")
            return bool(kept and kept.put_back() and listed_in(box, place.work) == then)


@pytest.mark.usefixtures("package")
def test_any_user_can_do_it(place: Place) -> None:
    assert as_user(place.user, lambda: put_back_by(place))
