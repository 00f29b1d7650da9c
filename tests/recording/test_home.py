# SPDX-License-Identifier: Apache-2.0
"""Where a store may be: nothing that is not ours is changed."""

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.recording import samples

from eitherway.errors import Exit, Unavailable
from eitherway.recording.store import Store

State = dict[str, tuple[int, bytes]]


@pytest.fixture(autouse=True)
def _umask() -> Iterator[None]:
    """What these tests make is not writable by others unless they say so."""
    before = os.umask(0o022)
    yield
    os.umask(before)


def state(root: Path) -> State:
    """Mode and content of everything below, links not followed."""
    found: State = {}
    for path in [root, *sorted(root.rglob("*"))]:
        status = path.lstat()
        data = path.read_bytes() if stat.S_ISREG(status.st_mode) else b""
        found[str(path)] = (status.st_mode, data)
    return found


def record(store: Store) -> None:
    """A complete recording."""
    with store.new() as slot:
        samples.write_sample(slot.path, operations=4)
    store.publish(slot.path)


def checkout(tmp_path: Path) -> Path:
    """A directory with somebody's work in it, readable by all."""
    work = tmp_path / "work"
    work.mkdir(mode=0o755)
    work.chmod(0o755)
    (work / "precious.c").write_text("int main;")
    return work


def a_link(tmp_path: Path) -> Path:
    (checkout(tmp_path) / ".eitherway").symlink_to("../victim")
    (tmp_path / "victim").mkdir(mode=0o755)
    return tmp_path / "work" / ".eitherway"


def a_link_to_nothing(tmp_path: Path) -> Path:
    (checkout(tmp_path) / ".eitherway").symlink_to("../victim")
    return tmp_path / "work" / ".eitherway"


def a_link_inside(tmp_path: Path) -> Path:
    (checkout(tmp_path) / ".eitherway").mkdir()
    (tmp_path / "victim").mkdir(mode=0o755)
    (tmp_path / "work" / ".eitherway" / "recordings").symlink_to("../../victim")
    return tmp_path / "work" / ".eitherway"


def like_tmp(tmp_path: Path) -> Path:
    work = checkout(tmp_path)
    work.chmod(0o1777)
    return work


def for_the_group(tmp_path: Path) -> Path:
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty").chmod(0o770)
    return tmp_path / "empty"


def recordings_for_all(tmp_path: Path) -> Path:
    (tmp_path / "shared" / "recordings").mkdir(parents=True)
    (tmp_path / "shared" / "recordings").chmod(0o777)
    return tmp_path / "shared"


def a_file(tmp_path: Path) -> Path:
    (tmp_path / "file").write_text("x")
    return tmp_path / "file"


def a_fifo(tmp_path: Path) -> Path:
    os.mkfifo(tmp_path / "fifo")
    return tmp_path / "fifo"


@pytest.mark.parametrize(
    ("place", "why"),
    [
        (checkout, "it holds other things, and no recordings of ours"),
        (a_link, "it is a symbolic link, not a directory"),
        (a_link_to_nothing, "it is a symbolic link, not a directory"),
        (a_link_inside, "it has recordings, which is a symbolic link, not a directory"),
        (like_tmp, r"it can be written by others \(mode 1777\)"),
        (for_the_group, r"it can be written by others \(mode 0770\)"),
        (recordings_for_all, r"it has recordings, which can be written by others \(mode 0777\)"),
        (a_file, "it is a file, not a directory"),
        (a_fifo, "it is a FIFO, not a directory"),
    ],
)
def test_what_is_not_ours_is_refused_and_left_as_it_is(
    place: Callable[[Path], Path], why: str, tmp_path: Path
) -> None:
    store = Store(place(tmp_path))
    before = state(tmp_path)
    for use in (store.new, store.prune, store.prepare):
        with pytest.raises(Unavailable, match=why) as caught:
            use()
        assert caught.value.exit_code == Exit.UNAVAILABLE
        assert "EITHERWAY_DIR=" in caught.value.fix
    assert state(tmp_path) == before


def test_what_belongs_to_another_user_is_refused(tmp_path: Path) -> None:
    (tmp_path / "theirs").mkdir()
    try:
        os.chown(tmp_path / "theirs", 12345, -1)
    except PermissionError:
        pytest.skip("only root can give a directory away")
    with pytest.raises(Unavailable, match=f"it belongs to user 12345, not to {os.geteuid()}"):
        Store(tmp_path / "theirs").new()


def test_an_empty_directory_is_used_and_not_changed(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine").chmod(0o755)
    record(Store(tmp_path / "mine"))
    record(Store(tmp_path / "mine"))  # it has our mark now
    assert stat.S_IMODE((tmp_path / "mine").stat().st_mode) == 0o755
    assert stat.S_IMODE((tmp_path / "mine" / "recordings").stat().st_mode) == 0o700
    assert sorted(os.listdir(tmp_path / "mine")) == ["latest", "lock", "recordings"]


def test_a_file_named_lock_keeps_its_mode(tmp_path: Path) -> None:
    (tmp_path / "mine" / "recordings").mkdir(parents=True, mode=0o700)
    (tmp_path / "mine" / "lock").touch()
    (tmp_path / "mine" / "lock").chmod(0o644)
    record(Store(tmp_path / "mine"))
    assert stat.S_IMODE((tmp_path / "mine" / "lock").stat().st_mode) == 0o644


def test_a_lock_that_leads_elsewhere_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "mine" / "recordings").mkdir(parents=True, mode=0o700)
    (tmp_path / "mine" / "lock").symlink_to(tmp_path / "victim")
    with pytest.raises(Unavailable, match="cannot write"):
        Store(tmp_path / "mine").new()
    assert not (tmp_path / "victim").exists()


def test_what_a_killed_process_began_to_make_is_completed(tmp_path: Path) -> None:
    (tmp_path / "begun").mkdir(mode=0o700)
    record(Store(tmp_path / "begun"))
    assert Store(tmp_path / "begun").latest() is not None


def test_parents_are_made(tmp_path: Path) -> None:
    record(Store(tmp_path / "not" / "there" / "yet"))
    assert Store(tmp_path / "not" / "there" / "yet").latest() is not None
