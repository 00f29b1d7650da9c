# SPDX-License-Identifier: Apache-2.0
"""The store: names, `latest`, retention; one process and many."""

import errno
import os
import re
import stat
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.recording import samples
from tests.recording.whole import check

from eitherway.errors import BadInput, Unavailable, UsageError
from eitherway.recording.read import Recording
from eitherway.recording.retention import Retention
from eitherway.recording.store import Store
from eitherway.recording.write import RecordingWriter

ROOT = Path(__file__).parents[2]


class Clock:
    """A second passes each time it is read."""

    def __init__(self) -> None:
        self.time = datetime(2025, 1, 2, 3, 4, 5, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.time += timedelta(seconds=1)
        return self.time


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """A store whose clock is ours."""
    return Store(tmp_path / ".eitherway", now=Clock())


def record(store: Store) -> Path:
    """A complete recording that is the latest."""
    with store.new() as slot:
        samples.write_sample(slot.path, operations=4)
    store.publish(slot.path)
    return slot.path


def mode(path: Path) -> int:
    """The permission bits."""
    return stat.S_IMODE(path.lstat().st_mode)


def start(code: str, *words: str | Path) -> "subprocess.Popen[str]":
    """A Python process that can import what we can."""
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, words)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(["src", "."])},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("mask", [0o000, 0o777])
def test_it_is_nobody_elses_business_whatever_the_umask(store: Store, mask: int) -> None:
    before = os.umask(mask)
    try:
        path = record(store)
    finally:
        os.umask(before)
    assert {mode(place) for place in (store.root, store.root / "recordings", path)} == {0o700}
    assert {mode(store.root / name) for name in ("lock", ".gitignore")} == {0o600}
    assert (store.root / ".gitignore").read_text() == "*\n"


def test_it_is_where_the_environment_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EITHERWAY_DIR", str(tmp_path / "elsewhere"))
    assert Store.default().root == tmp_path / "elsewhere"
    monkeypatch.delenv("EITHERWAY_DIR")
    assert Store.default().root == Path(".eitherway")


def test_looking_creates_nothing(store: Store) -> None:
    assert store.entries() == []
    assert store.latest() is None
    with pytest.raises(BadInput, match="has no complete recording"):
        store.find("latest")
    with pytest.raises(BadInput, match="has no recording named 'x'"):
        store.find("x")
    assert not store.root.exists()


def test_newest_first(store: Store) -> None:
    paths = [record(store) for _ in range(3)]
    assert [entry.path for entry in store.entries()] == paths[::-1]
    assert all(entry.complete and entry.size > 0 for entry in store.entries())


def test_two_at_the_same_instant_get_two_names(tmp_path: Path) -> None:
    instants = iter([datetime(2025, 1, 1, tzinfo=UTC)] * 3 + [datetime(2025, 1, 2, tzinfo=UTC)])
    store = Store(tmp_path / "s", now=lambda: next(instants))
    names = [store.new().path.name for _ in range(2)]
    assert names == ["20250101-000000-000000", "20250102-000000-000000"]


def test_latest_is_the_one_that_was_completed_last(store: Store) -> None:
    first, second = store.new(), store.new()
    samples.write_sample(second.path, operations=4)
    store.publish(second.path)
    assert store.find("latest") == second.path
    samples.write_sample(first.path, operations=4)
    store.publish(first.path)
    assert store.latest() == first.path
    assert os.readlink(store.root / "latest") == f"recordings/{first.path.name}"
    assert check(store.root / "latest").manifest.complete


def test_a_file_of_somebody_named_latest_is_not_replaced(store: Store) -> None:
    with store.new() as slot:
        samples.write_sample(slot.path, operations=4)
    (store.root / "latest").write_text("mine")
    with pytest.raises(Unavailable, match="has a latest that is no symbolic link"):
        store.publish(slot.path)
    assert (store.root / "latest").read_text() == "mine"


def test_what_is_not_complete_is_never_the_latest(store: Store) -> None:
    path = record(store)
    slot = store.new()
    RecordingWriter(slot.path, samples.MANIFEST).close()
    with pytest.raises(ValueError, match="is not complete"):
        store.publish(slot.path)
    assert store.latest() == path


def test_a_latest_that_was_removed_or_forged_is_none(store: Store) -> None:
    path = record(store)
    for file in path.iterdir():
        file.unlink()
    assert store.latest() is None
    (store.root / "latest").unlink()
    (store.root / "latest").symlink_to("/etc/..")
    assert store.latest() is None


def test_a_name_is_found_by_its_beginning(store: Store) -> None:
    paths = [record(store) for _ in range(2)]
    assert store.find(paths[0].name) == paths[0]
    assert store.find("20250102-030407") == paths[1]
    with pytest.raises(BadInput, match="'2025' could be several recordings: 20250102-030407"):
        store.find("2025")
    for nothing in ("1999", "", "..", "../..", "/", "a\0b"):
        with pytest.raises(BadInput, match="has no recording named"):
            store.find(nothing)


def test_publishing_keeps_the_retention_and_tells(tmp_path: Path) -> None:
    told: list[str] = []
    store = Store(tmp_path / "s", keep=Retention(count=2), tell=told.append, now=Clock())
    paths = [record(store) for _ in range(2)]
    assert told == []
    record(store)
    assert not paths[0].exists()
    assert len(store.entries()) == 2
    assert told[0].startswith(f"removed {paths[0].name}: the store keeps the newest (")
    assert "EITHERWAY_KEEP=2, EITHERWAY_KEEP_BYTES=4294967296" in told[0]
    store.keep = Retention(count=0)
    with store.new() as slot:
        samples.write_sample(slot.path, operations=4)
    assert len(store.publish(slot.path)) == 2
    assert told[1].startswith("removed 2 older recordings: ")


def test_the_documented_retention_is_the_one_in_force() -> None:
    text = (ROOT / "docs" / "recording-format.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `(EITHERWAY_KEEP\w*)` \| (\w+) \|", text, re.MULTILINE))
    assert len(rows) == 2
    assert Retention.of_environment(rows) == Retention()


def test_the_retention_is_in_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EITHERWAY_DIR", str(tmp_path / "s"))
    assert Store.default().keep == Retention(count=50, size=4 << 30)
    monkeypatch.setenv("EITHERWAY_KEEP", "7")
    monkeypatch.setenv("EITHERWAY_KEEP_BYTES", "500M")
    assert Store.default().keep == Retention(count=7, size=500 << 20)
    monkeypatch.setenv("EITHERWAY_KEEP", "0")
    monkeypatch.setenv("EITHERWAY_KEEP_BYTES", "12")
    assert Store.default().keep == Retention(count=0, size=12)


@pytest.mark.parametrize("name", ["EITHERWAY_KEEP", "EITHERWAY_KEEP_BYTES"])
@pytest.mark.parametrize("text", ["-1", "many", "1.5", "3X", "\x1b[31m", "٣", "9" * 30])
def test_a_retention_that_is_none_is_told(name: str, text: str) -> None:
    with pytest.raises(UsageError, match=f"{name}=.* is not a ") as caught:
        Retention.of_environment({name: text})
    assert caught.value.message.isprintable()


def test_retention_by_count(store: Store) -> None:
    paths = [record(store) for _ in range(5)]
    assert store.prune(Retention(count=2)) == [path.name for path in (paths[2], paths[1], paths[0])]
    assert [entry.path for entry in store.entries()] == [paths[4], paths[3]]
    assert sorted(os.listdir(store.root / "recordings")) == [path.name for path in paths[3:]]


def test_retention_by_size(store: Store) -> None:
    paths = [record(store) for _ in range(4)]
    size = store.entries()[0].size
    assert store.prune(Retention(size=2 * size + 1)) == [paths[1].name, paths[0].name]
    assert store.prune(Retention(size=2 * size + 1)) == []


def test_the_latest_stays_however_little_is_kept(store: Store) -> None:
    paths = [record(store) for _ in range(3)]
    store.publish(paths[0])
    assert store.prune(Retention(count=0, size=0)) == [paths[2].name, paths[1].name]
    assert store.latest() == paths[0]


def test_what_a_living_process_writes_or_reads_stays(store: Store) -> None:
    read, written, unused = record(store), store.new(), record(store)
    record(store)
    writer = RecordingWriter(written.path, samples.MANIFEST)
    with Recording.open(read):
        assert store.prune(Retention(count=0)) == [unused.name]
    writer.finish()
    assert store.prune(Retention(count=0)) == [read.name]  # the slot is still ours
    written.close()
    assert store.prune(Retention(count=0)) == [written.path.name]


def test_what_a_killed_process_wrote_goes(store: Store) -> None:
    code = """
import sys
from pathlib import Path
from eitherway.recording.store import Store
from eitherway.recording.write import RecordingWriter
from tests.recording import samples
slot = Store(Path(sys.argv[1])).new()
writer = RecordingWriter(slot.path, samples.MANIFEST)
print(slot.path.name, flush=True)
sys.stdin.read()
"""
    process = start(code, store.root)
    assert process.stdout is not None
    name = process.stdout.readline().strip()
    assert store.prune(Retention(count=0)) == []
    process.kill()
    process.communicate()
    assert store.prune(Retention(count=0)) == [name]


def test_what_a_killed_prune_left_is_swept(store: Store) -> None:
    path = record(store)
    os.rename(path, path.with_name(f".removed-{path.name}"))
    assert store.entries() == []
    store.prune()
    assert os.listdir(store.root / "recordings") == []


def test_strangers_in_the_store_are_let_be(store: Store, tmp_path: Path) -> None:
    """Not removed: links, files, other names, and what holds more than a recording does."""
    paths = [record(store) for _ in range(3)]
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "precious").write_text("x")
    recordings = store.root / "recordings"
    (recordings / "0-link").symlink_to(tmp_path / "outside")
    (recordings / "20250101-000000-000000").symlink_to(tmp_path / "outside")
    (recordings / "0-file").write_text("x")
    for album in ("0-album", ".removed-album", paths[0].name):
        (recordings / album).mkdir(exist_ok=True)
        (recordings / album / "song.flac").write_text("x")
    before = {file for file in tmp_path.rglob("*") if paths[1] not in (file, file.parent)}
    assert store.prune(Retention(count=0)) == [paths[1].name]
    assert set(tmp_path.rglob("*")) == before


def test_a_place_below_a_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(Unavailable, match="cannot write"):
        Store(tmp_path / "file" / "below").new()


def test_a_disk_that_is_full_is_told_with_the_file(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.write_checked("a.json", b"{}")

    def full(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    draft = re.escape(str(store.root / "checked" / "a.json.new"))
    with pytest.raises(Unavailable, match=f"cannot write {draft}: No space left"):
        store.write_checked("a.json", b"{}")


MANY = """
import sys
from pathlib import Path
from tests.recording.whole import check
from eitherway.recording.retention import Retention
from eitherway.recording.store import Store
from tests.recording import samples
store = Store(Path(sys.argv[1]))
print("ready", flush=True)
sys.stdin.readline()
for _ in range(12):
    with store.new() as slot:
        samples.write_sample(slot.path, operations=4)
        store.publish(slot.path)
        store.prune(Retention(count=3))
        check(slot.path)
    print(slot.path.name, flush=True)
    latest = store.latest()
    assert latest is not None, "there is always a latest"
"""


def test_many_processes_share_one_store(store: Store) -> None:
    processes = [start(MANY, store.root) for _ in range(6)]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    outputs = [process.communicate("go\n") for process in processes]
    assert [process.returncode for process in processes] == [0] * 6
    names = [name for output, _ in outputs for name in output.split()]
    assert len(names) == len(set(names)) == 6 * 12
    store.prune(Retention(count=3))
    left = [entry.name for entry in store.entries()]
    latest = store.find("latest")
    assert set(left) <= set(names)
    assert len(left) == 3 or (len(left) == 4 and latest.name == left[-1])
    for entry in store.entries():
        check(entry.path)
    assert sorted(os.listdir(store.root)) == [".gitignore", "latest", "lock", "recordings"]
