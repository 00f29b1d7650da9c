# SPDX-License-Identifier: Apache-2.0
"""A sandbox that stays: what it tells of changes, and how it becomes as new."""

import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.machine.restrict import restrict
from tests.sandbox.harness import Place, all_end, as_user, members, mount_privately, watch

from eitherway.errors import Unavailable, UsageError
from eitherway.sandbox.box import Sandbox
from eitherway.sandbox.changes import Change, How
from eitherway.sandbox.isolation import Kind, Limits, Way

CREATED, MODIFIED, DELETED = How.CREATED, How.MODIFIED, How.DELETED


@pytest.fixture(autouse=True)
def built(package: Path) -> None:
    """All use the programs built from the sources at hand."""


def shell(box: Sandbox, script: str, **options: Any) -> tuple[int, str]:
    with box.popen(["sh", "-c", script], stdout=subprocess.PIPE, text=True, **options) as process:
        output, _ = process.communicate()
    return process.returncode, output


def told(box: Sandbox, top: Path) -> set[tuple[str, How]]:
    """Changes below a directory, relative to it."""
    return {(os.path.relpath(change.path, top), change.how) for change in box.changes()
            if Path(change.path).is_relative_to(top)}  # fmt: skip


def within(place: Place, script: str) -> tuple[set[tuple[str, How]], bool, str]:
    """Changes in the directory of work, whether it is dirty, and the output."""

    def work() -> tuple[set[tuple[str, How]], bool, str]:
        os.chdir(place.work)
        with Sandbox(work=[str(place.work)]) as box:
            assert not box.dirty()
            assert box.changes() == []
            _, output = shell(box, script)
            return told(box, place.work), box.dirty(), output

    here = os.getcwd()
    try:
        return as_user(place.user, work)
    finally:
        os.chdir(here)


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("echo x > new", {("new", CREATED)}),
        ("mkdir -p a/b; echo x > a/b/c", {("a", CREATED), ("a/b", CREATED), ("a/b/c", CREATED)}),
        ("echo more >> keep", {("keep", MODIFIED)}),
        ("chmod 600 keep", {("keep", MODIFIED)}),
        ("touch keep", {("keep", MODIFIED)}),
        ("rm gone", {("gone", DELETED)}),
        ("rm -r dir2", {("dir2", DELETED)}),
        ("rm dir2/inner", {("dir2/inner", DELETED)}),
        ("chmod 700 dir2", {("dir2", MODIFIED)}),
        ("mv gone moved", {("gone", DELETED), ("moved", CREATED)}),
        ("mv gone keep", {("gone", DELETED), ("keep", MODIFIED)}),
        ("rm keep; mkdir keep; echo > keep/x", {("keep", MODIFIED), ("keep/x", CREATED)}),
        ("rmdir dir; echo > dir", {("dir", MODIFIED)}),
        ("rm keep; ln -s gone keep", {("keep", MODIFIED)}),
        ("rm -r dir2; mkdir dir2; echo > dir2/x",
         {("dir2/inner", DELETED), ("dir2/x", CREATED)}),
        ("echo x > new; rm new", set()),
        ("mkdir d; mv d e; rmdir e", set()),
        ("exec 3<> keep", set()),
        ("cp -p keep copy; cat copy > keep; touch -r copy keep; rm copy", set()),
        ("cp -p keep copy; echo KEEP | head -c 4 > keep; touch -r copy keep; rm copy",
         {("keep", MODIFIED)}),
        ("mkfifo pipe", {("pipe", CREATED)}),
        ("mkdir d; chmod 0 d", {("d", CREATED)}),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)  # fmt: skip
def test_changes_are_told(place: Place, script: str, expected: set[tuple[str, How]]) -> None:
    changes, dirty, _ = within(place, script)
    assert changes == expected
    assert dirty


@pytest.mark.parametrize("script", ["cat keep", "ls -lR . > /dev/null", "test -w keep", "exit 3"])
def test_reading_changes_nothing(place: Place, script: str) -> None:
    changes, dirty, _ = within(place, script)
    assert changes == set()
    assert not dirty


def test_directories_that_may_not_be_read(place: Place) -> None:
    changes, _, _ = within(place, "chmod 0 dir2; mkdir -p d; echo > d/x; chmod 300 d")
    assert {("dir2", MODIFIED), ("d", CREATED)} <= changes
    assert (("d/x", CREATED) in changes) == (place.user == 0)


def test_a_renamed_directory(place: Place) -> None:
    changes, _, output = within(place, "mv dir2 dir3; cat dir3/inner")
    assert output == "dir2/inner"
    assert {("dir2", DELETED), ("dir3", CREATED)} <= changes


def test_changes_are_sorted_and_absolute(place: Place) -> None:
    with Sandbox() as box:
        shell(box, f"echo > {place.work}/b; echo > {place.work}/a; rm {place.work}/keep")
        assert box.changes() == [
            Change(f"{place.work}/a", CREATED),
            Change(f"{place.work}/b", CREATED),
            Change(f"{place.work}/keep", DELETED),
        ]


MOUNT_SCRIPT = """
cat dir2/mounted keep; echo x > dir2/mounted; echo x > dir/new; echo x > new; rm link
( echo x > keep ) 2>&- || echo no
"""


def with_mount_below(place: Place) -> tuple[str, set[tuple[str, How]], tuple[str, ...], bool]:
    os.chdir(place.work)
    with Sandbox() as box:
        clean = box.dirty()
        _, output = shell(box, MOUNT_SCRIPT)
        return output, told(box, place.work), box.read_only, clean


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount something to look at")
def test_a_mount_below_the_directory_of_work(place: Place) -> None:
    (place.work / "link").symlink_to("keep")

    def prepare() -> None:
        mount_privately(place.work / "dir2")
        (place.work / "dir2" / "mounted").write_text("outside\n")
        for path in (place.work / "dir2" / "mounted", place.work / "link"):
            os.chown(path, place.user, place.user, follow_symlinks=False)

    output, changes, read_only, dirty = as_user(
        place.user, lambda: with_mount_below(place), prepare
    )
    expected = {("dir2/mounted", MODIFIED), ("dir/new", CREATED), ("new", CREATED),
                ("link", DELETED)}  # fmt: skip
    assert not dirty
    if place.user == 0:
        assert output == "outside\nkeep"
        assert changes == expected | {("keep", MODIFIED)}
    else:  # the directory has a mount below it, so it is mirrored and its files are only shown
        assert output == "outside\nkeepno\n"
        assert changes == expected
        assert str(place.work / "keep") in read_only
    assert (place.work / "keep").read_text() == "keep"
    assert (place.work / "link").is_symlink()


def reset_again(place: Place) -> None:
    with Sandbox(work=[str(place.work)]) as box:
        first = box.isolation
        for _ in range(3):
            assert shell(box, f"cat {place.work}/keep")[1] == "keep"
            shell(box, f"echo x > {place.work}/keep; echo x > {place.work}/new")
            assert shell(box, f"cat {place.work}/keep")[1] == "x\n", "commands share what they do"
            assert box.dirty()
            box.reset()
            assert not box.dirty()
            assert box.changes() == []
            assert shell(box, f"test -e {place.work}/new")[0] == 1
            assert box.isolation == first


def test_a_reset_makes_all_as_it_was(place: Place) -> None:
    as_user(place.user, lambda: reset_again(place))


def daemon_inside(place: Place) -> None:
    with Sandbox() as box:
        script = f"{place.vandal} daemonise; readlink /proc/self/ns/pid"
        code, output = shell(box, script, env=place.environment())
        assert code == 0
        namespace = output.splitlines()[1]
        inside = members(namespace)
        assert box.dirty(), "a process is left"
        assert len(box.strays()) == 1
        assert set(box.strays()) <= inside
        watched = watch(inside)
        box.reset()
        assert all_end(watched)
        assert not box.dirty()
        assert box.strays() == ()


def test_a_process_that_is_left_makes_it_dirty_and_ends_with_a_reset(place: Place) -> None:
    as_user(place.user, lambda: daemon_inside(place))


def no_orphan_after(place: Place, victim: str) -> None:
    box = Sandbox()
    script = f"{place.vandal} daemonise; echo $(readlink /proc/self/ns/pid); exec sleep 1000"
    door = box.popen(["sh", "-c", script], stdout=subprocess.PIPE, text=True,
                     env=place.environment())  # fmt: skip
    assert door.stdout
    assert door.stdout.readline() == "daemonise ok\n"
    namespace = door.stdout.readline().rstrip()
    inside = members(namespace)
    # What ends before the box is closed: all, or the door's own command.
    if victim == "door":
        (ending,) = inside - {box._report.init} - set(box.strays())
        watched = watch([ending])
        door.kill()
        assert all_end(watched)
    elif victim == "keeper":
        watched = watch(inside)
        box._keeper.kill()
        assert all_end(watched)
    assert door.wait() == -signal.SIGKILL if victim != "close" else True
    watched = watch(members(namespace))
    box.close()
    assert all_end(watched)
    assert door.wait() == -signal.SIGKILL
    door.stdout.close()


@pytest.mark.parametrize("victim", ["door", "keeper", "close"])
def test_nothing_is_left(place: Place, victim: str) -> None:
    as_user(place.user, lambda: no_orphan_after(place, victim))


def test_a_box_whose_keeper_is_gone_says_so(place: Place) -> None:
    with Sandbox() as box:
        box._keeper.kill()
        box._keeper.wait()
        with pytest.raises(Unavailable, match="ended from outside"):
            box.reset()


def test_a_door_is_an_ordinary_child(place: Place) -> None:
    with Sandbox() as box:
        reading, writing = os.pipe()
        process = box.popen(
            ["sh", "-c", "pwd; echo $WORD; cat; echo pipe > /proc/self/fd/$0; kill -USR1 $$",
             str(writing)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=place.work,
            env={"WORD": "word", "PATH": os.environ["PATH"]}, pass_fds=[writing],
        )  # fmt: skip
        os.close(writing)
        output, _ = process.communicate(b"input\n")
        assert output.decode().split() == [str(place.work), "word", "input"]
        assert process.returncode == -signal.SIGUSR1
        with os.fdopen(reading) as pipe:
            assert pipe.read() == "pipe\n"


def test_a_kill_of_all_inside_does_not_reach_a_door(place: Place) -> None:
    with Sandbox() as box:
        other = box.popen(["sleep", "1000"])
        code, output = shell(box, f"exec {place.vandal} kill-all", env=place.environment())
        assert (code, output) == (0, "kill-all ok\n")
        assert other.wait() == -signal.SIGKILL
        assert not box.dirty()


def test_signals_go_through_a_door(place: Place) -> None:
    with Sandbox() as box:
        # Of all that a shell does, only `wait` is certain to be interrupted.
        script = "trap 'echo got; exit 5' TERM; sleep 1000 >&- & echo ready; wait"
        process = box.popen(["sh", "-c", script], stdout=subprocess.PIPE, text=True)
        assert process.stdout
        assert process.stdout.readline() == "ready\n"
        process.terminate()
        assert process.stdout.read() == "got\n"
        process.stdout.close()
        assert process.wait() == 5


def test_commands_share_ports_and_pids() -> None:
    with Sandbox() as box:
        with box.popen(["sh", "-c", "echo $$; cat"], stdin=subprocess.PIPE,
                       stdout=subprocess.PIPE, text=True) as first:  # fmt: skip
            assert first.stdout
            pid = first.stdout.readline().strip()
            assert shell(box, f"cat /proc/{pid}/comm")[1] in ("sh\n", "cat\n")
            first.kill()
        links = {shell(box, "readlink /proc/self/ns/net")[1] for _ in range(2)}
    assert len(links) == 1
    assert links != {os.readlink("/proc/self/ns/net")}


def test_limits_hold_for_every_command() -> None:
    with Sandbox(limits=Limits(file_size=1000, disk=1 << 20)) as box:
        code, _ = shell(box, "head -c 2000 /dev/zero > /tmp/big")
        assert code != 0
        assert shell(box, "wc -c < /tmp/big")[1].strip() == "1000"


def test_the_way_is_told(place: Place) -> None:
    def ways() -> tuple[Way, Way, Way, tuple[Kind, ...]]:
        with Sandbox() as box:
            found = box.isolation
            return found.files.way, found.network.way, found.processes.way, found.missing

    files = Way.OVERLAY_ROOT if place.user == 0 else Way.OVERLAY_TOPS
    assert as_user(place.user, ways) == (files, Way.NAMESPACE, Way.NAMESPACE, ())


@pytest.fixture
def in_container(place: Place) -> Callable[[Callable[[], Any]], Any]:
    """Does work in a process that lacks what one in a default container lacks."""

    def do(work: Callable[[], Any]) -> Any:
        def restricted() -> Any:
            restrict("docker", nobody=False)
            return work()

        # Always in a process of its own: there is no way back from it.
        return as_user(-1 if place.user == 0 else place.user, restricted)

    return do


def test_what_is_required_and_refused_is_raised(
    in_container: Callable[[Callable[[], Any]], Any],
) -> None:
    with pytest.raises(Unavailable, match="cannot be isolated here: unshare") as caught:
        in_container(lambda: Sandbox().close())
    assert caught.value.fix == "eitherway doctor --all"


def test_without_isolation_a_box_still_runs_commands(
    place: Place, in_container: Callable[[Callable[[], Any]], Any]
) -> None:
    def work() -> tuple[tuple[Kind, ...], tuple[int, str], bool, list[Change]]:
        with Sandbox(require=()) as box:
            ran = shell(box, "(setsid sleep 1000 &) ; echo started")
            return box.isolation.missing, ran, box.dirty(), box.changes()

    assert in_container(work) == (tuple(Kind), (0, "started\n"), False, [])


@pytest.mark.parametrize("options", [{"shell": True}, {"close_fds": False}])
def test_a_command_is_a_list(options: dict[str, bool]) -> None:
    with Sandbox() as box, pytest.raises(UsageError):
        box.popen(["true"], **options)


def test_no_descriptor_is_left_open() -> None:
    before = sorted(os.listdir("/proc/self/fd"))
    with Sandbox() as box:
        box.reset()
        shell(box, "true")
    assert sorted(os.listdir("/proc/self/fd")) == before
