# SPDX-License-Identifier: Apache-2.0
"""`eitherway verify`: still there, gone, or no longer reached, after the program was built anew."""

import json
import subprocess
from pathlib import Path

import pytest
from tests.cli.calling import eitherway

SOURCE = """
#include <pthread.h>
static pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER, right = PTHREAD_MUTEX_INITIALIZER;
static void both(pthread_mutex_t *first, pthread_mutex_t *second) {
    pthread_mutex_lock(first);
    pthread_mutex_lock(second);
    pthread_mutex_unlock(second);
    pthread_mutex_unlock(first);
}
static void *ann(void *unused) { both(&left, &right); return unused; }
static void *bob(void *unused) { both(&right, &left); return unused; }
int main(void) {
    pthread_t one, other;
    pthread_create(&one, NULL, ann, NULL);
    pthread_create(&other, NULL, bob, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    return 0;
}
"""


def build(folder: Path, source: str) -> None:
    (folder / "app.c").write_text(source, encoding="utf-8")
    assert eitherway(folder, "cc", "-g", "app.c", "-o", "app").returncode == 0


@pytest.fixture
def found(tmp_path: Path) -> str:
    """The id of a deadlock that `check` has kept."""
    build(tmp_path, SOURCE)
    words = ("check", "--schedules", "60", "--seconds", "600", "--json", "told.json")
    assert eitherway(tmp_path, *words, "--", "./app").returncode == 1
    (finding,) = json.loads((tmp_path / "told.json").read_text())["findings"]
    assert finding["kind"] == "deadlock"
    return str(finding["id"])


def verified(folder: Path, finding: str) -> "subprocess.CompletedProcess[str]":
    return eitherway(folder, "verify", finding, "--schedules", "60", "--", "./app")


def test_a_rebuilt_program_shows_it_with_the_turns_that_were_recorded(
    tmp_path: Path, found: str
) -> None:
    build(tmp_path, SOURCE.replace("int main(void) {", "int unused;\nint main(void) {"))
    done = verified(tmp_path, found[:11])
    assert done.returncode == 1, done.stderr
    assert f"{found} is still there: 1 schedule," in done.stdout


def test_it_is_the_same_in_a_file_of_another_name(tmp_path: Path, found: str) -> None:
    (tmp_path / "moved.c").write_text(SOURCE, encoding="utf-8")
    assert eitherway(tmp_path, "cc", "-g", "moved.c", "-o", "app").returncode == 0
    done = verified(tmp_path, found)
    assert done.returncode == 1, done.stderr
    assert f"{found} is still there, now as EW-" in done.stdout


def test_what_else_is_seen_is_told(tmp_path: Path, found: str) -> None:
    mended = SOURCE.replace("both(&right, &left)", "seen++; both(&left, &right)")
    mended = mended.replace("both(&left, &right); return", "seen++; both(&left, &right); return")
    build(tmp_path, mended.replace("static void both", "static int seen;\nstatic void both"))
    done = verified(tmp_path, found)
    assert done.returncode == 0, done.stderr
    assert f"{found} is gone" in done.stdout
    assert "data-race on seen: app.c:ann / app.c:bob" in done.stdout


def test_a_program_that_was_mended_does_not(tmp_path: Path, found: str) -> None:
    build(tmp_path, SOURCE.replace("both(&right, &left)", "both(&left, &right)"))
    done = verified(tmp_path, found)
    assert done.returncode == 0, done.stderr
    assert f"{found} is gone: it was not seen in " in done.stdout
    assert " schedules" in done.stdout


def test_one_that_does_not_come_there_says_nothing(tmp_path: Path, found: str) -> None:
    without = SOURCE.replace("both(&right, &left); ", "").replace("both(&left, &right); ", "")
    build(tmp_path, without)
    done = verified(tmp_path, found)
    assert done.returncode == 2, done.stderr
    assert f"{found} is no longer reached: the program was not in both" in done.stdout


def test_without_its_recording_it_is_looked_for_all_the_same(tmp_path: Path, found: str) -> None:
    for recording in (tmp_path / ".eitherway" / "recordings").iterdir():
        if recording.is_dir() and not recording.is_symlink():
            for file in recording.iterdir():
                file.unlink()
    done = verified(tmp_path, found)
    assert done.returncode == 1, done.stderr
    assert f"{found} is still there" in done.stdout


LOST = """
#include <pthread.h>
#include <stdatomic.h>
static int count;
static void *add(void *unused) { int before = count; count = before + 1; return unused; }
int main(void) {
    pthread_t one, other;
    pthread_create(&one, NULL, add, NULL);
    pthread_create(&other, NULL, add, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    return count == 2 ? 0 : 1;
}
"""


def test_a_failure_is_still_there_when_only_the_race_is_gone(tmp_path: Path) -> None:
    """Atomic loads and stores lose updates all the same."""
    build(tmp_path, LOST)
    words = ("check", "--no-judge", "--schedules", "60", "--seconds", "600", "--json", "told.json")
    assert eitherway(tmp_path, *words, "--", "./app").returncode == 1
    findings = json.loads((tmp_path / "told.json").read_text())["findings"]
    told = {finding["kind"]: finding["id"] for finding in findings}
    build(tmp_path, LOST.replace("static int count", "static atomic_int count"))
    done = verified(tmp_path, told["failure"])
    assert done.returncode == 1, done.stdout
    assert "it fails in the same way in the same function" in done.stdout
    assert verified(tmp_path, told["data-race"]).returncode == 0


def test_bad_words_are_refused(tmp_path: Path, found: str) -> None:
    assert eitherway(tmp_path, "verify").returncode == 64
    assert eitherway(tmp_path, "verify", "EW-zz", "--", "./app").returncode == 64
    assert eitherway(tmp_path, "verify", found).returncode == 64
    assert eitherway(tmp_path, "verify", found, "--", "./nothing").returncode in (64, 65, 69)
    assert eitherway(tmp_path, "verify", found, "--", "/bin/true").returncode == 65
