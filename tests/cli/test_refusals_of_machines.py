# SPDX-License-Identifier: Apache-2.0
"""What a machine, its limits or the surroundings do not permit: one message, the right code."""

import dataclasses
import errno
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from eitherway.errors import BadInput, Unavailable
from eitherway.model.trace import Table
from eitherway.recording.read import Recording
from eitherway.recording.store import Store
from eitherway.recording.token import Token
from eitherway.recording.write import RecordingWriter
from eitherway.worlds.threads.build import build
from eitherway.worlds.threads.launch import Launch
from eitherway.worlds.threads.recorded import Recorded, identity, load, save
from eitherway.worlds.threads.run import Ran, run
from eitherway.worlds.threads.schedule import SWITCH

Done = subprocess.CompletedProcess[str]
THREADS = """
#include <pthread.h>
static void *nothing(void *a) { return a; }
int main(void) {
    pthread_t t[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], 0, nothing, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
    return 0;
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("threads")
    (folder / "threads.c").write_text(THREADS, encoding="utf-8")
    build(folder / "threads.c", folder / "threads")
    return str(folder / "threads")


def shell(folder: Path, script: str) -> Done:
    """In bash, where `eitherway` is the tool."""
    tool = f'eitherway() {{ "{sys.executable}" -m eitherway "$@"; }}'
    return subprocess.run(
        ["bash", "-c", f"{tool}\n{script}"],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("script", "code", "said"),
    [
        ("mkdir x; cd x; rmdir ../x; eitherway record -- {}", 64, "in which we are is gone"),
        ("ulimit -f 10; eitherway record -- {}", 69, "ulimit -f unlimited"),
        ("ulimit -v 4000000; eitherway record -- {}", 69, "ulimit -v unlimited"),
        ("ulimit -d 4000000; eitherway record -- {}", 69, "ulimit -d unlimited"),
        ("eitherway record -- nosuch", 64, "nosuch is not found on PATH"),
        ("touch here; eitherway record -- here", 64, "try: ./here"),
        ("EITHERWAY_OPTIONS=foo=1 {}", 64, "a name that is not known"),
        ("EITHERWAY_OPTIONS=scheduler=foo {}", 64, "no scheduler of that name"),
    ],
)
def test_one_message_and_the_code_that_fits(
    script: str, code: int, said: str, program: str, tmp_path: Path
) -> None:
    done = shell(tmp_path, script.format(program))
    assert done.returncode == code, done.stderr
    assert said in done.stderr
    assert done.stderr.count("eitherway:") == 1
    assert "Traceback" not in done.stderr


def refused(*_words: object) -> int:
    raise PermissionError(1, "Operation not permitted")


@pytest.mark.parametrize("call", ["memfd_create", "pidfd_open"])
def test_a_call_that_is_refused_is_named(
    call: str, program: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, call, refused)
    with pytest.raises(Unavailable, match=f"{call} is refused here"):
        run(Launch.here([program]))


def test_too_few_descriptors_are_told(program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def too_many(*_words: object, **_options: object) -> None:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    monkeypatch.setattr(subprocess, "Popen", too_many)
    with pytest.raises(Unavailable, match="too few file descriptors") as caught:
        run(Launch.here([program]))
    assert caught.value.fix == "ulimit -n 1024"


# --- recordings that no run can have made


Change = Callable[[Table], Table]


def unknown_kind(switches: Table) -> Table:
    changed = switches.copy()
    changed["kind"][0] = 77
    return changed


def doubled(switches: Table) -> Table:
    return np.concatenate([switches, switches])


@pytest.mark.parametrize("change", [unknown_kind, doubled])
def test_a_schedule_that_cannot_be_is_refused(change: Change, program: str, tmp_path: Path) -> None:
    launch = Launch.here([program])
    ran = run(launch)
    assert len(ran.schedule.switches) > 1
    assert ran.schedule.switches.dtype == SWITCH
    path = save(Recorded(launch, with_switches(ran, change)), Store(tmp_path / "store"))
    with Recording.open(path) as recording, pytest.raises(BadInput, match="no recording of a run"):
        load(recording)


def with_switches(ran: Ran, change: Change) -> Ran:
    first = ran.members[0]
    schedule = dataclasses.replace(first.schedule, switches=change(first.schedule.switches))
    return dataclasses.replace(ran, members=(dataclasses.replace(first, schedule=schedule),))


# --- tokens


@pytest.mark.parametrize(
    ("scheduler", "options", "code", "said"),
    [
        ("foo", {}, 65, "the token is of the scheduler foo"),
        ("replay", {}, 65, "the token is of the scheduler replay"),
        ("pct", {"depth": 3, "length": 50}, 0, "exit status 0"),
        ("pct", {"depth": 1000}, 65, "depth=1000, which pct does not take"),
        ("random-walk", {"depth": 3}, 65, "depth=3, which random-walk does not take"),
    ],
)
def test_a_token_is_followed_or_refused(
    scheduler: str, options: dict[str, int], code: int, said: str, program: str, tmp_path: Path
) -> None:
    token = Token(identity(program), scheduler, 7, options)
    done = shell(tmp_path, f"eitherway replay {token} -- {program}")
    assert (done.returncode, said in done.stderr) == (code, True), done.stderr


# --- no room


def test_a_run_for_which_there_is_no_room_leaves_nothing(
    program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_words: object) -> None:
        raise Unavailable("cannot write it: No space left on device")

    launch, store = Launch.here([program]), Store(tmp_path / "store")
    ran = run(launch)
    monkeypatch.setattr(RecordingWriter, "stream", full)
    with pytest.raises(Unavailable, match="No space left") as caught:
        save(Recorded(launch, ran), store)
    assert "EITHERWAY_DIR=" in caught.value.fix
    assert list((tmp_path / "store" / "recordings").iterdir()) == []
