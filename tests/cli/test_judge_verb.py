# SPDX-License-Identifier: Apache-2.0
"""`eitherway judge` on what `check` has kept."""

import argparse
import json
from pathlib import Path

import pytest
from tests.cli.calling import eitherway

from eitherway.cli.specifications import specification_of

SOURCE = """
#include <pthread.h>
#include <stdio.h>
static int table = 42, *made, same;
static void *make(void *unused) { same = 1; made = &table; return unused; }
static void *use(void *unused) { same = 1; return *made == 42 ? unused : NULL; }
int main(void) {
    pthread_t one, other;
    pthread_create(&one, NULL, make, NULL);
    pthread_create(&other, NULL, use, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    return 0;
}
"""


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which `check` has found two races."""
    folder = tmp_path_factory.mktemp("judged")
    (folder / "app.c").write_text(SOURCE, encoding="utf-8")
    assert eitherway(folder, "cc", "-g", "app.c", "-o", "app").returncode == 0
    words = ("check", "--no-judge", "--schedules", "60")
    assert eitherway(folder, *words, "--", "./app").returncode == 1
    return folder


def test_races_are_judged_and_kept(checked: Path) -> None:
    judged = eitherway(checked, "judge", "--json", "told.json")
    assert judged.returncode == 1, judged.stderr
    findings = json.loads((checked / "told.json").read_text())["findings"]
    classes = {finding["operations"][0]["variable"]: finding["class"] for finding in findings}
    assert classes == {"made": "spec-violated", "same": "k-witness-harmless"}
    worst = findings[0]
    assert worst["replay"] in judged.stderr
    assert "SIGSEGV" in worst["consequence"]
    again = eitherway(checked, *worst["replay"].split()[1:], "--quiet")
    assert "the same to the bit: killed by signal 11" in again.stderr
    assert "1 spec-violated" in eitherway(checked, "races").stdout


def test_one_finding_by_its_id(checked: Path) -> None:
    (checked / "races.json").unlink(missing_ok=True)
    eitherway(checked, "races", "--json", "races.json")
    kept = json.loads((checked / "races.json").read_text())["findings"]
    (same,) = (f for f in kept if f["operations"][0]["variable"] == "same")
    judged = eitherway(checked, "judge", "--continuations", "3", same["id"][:9])
    assert judged.returncode == 0, judged.stdout + judged.stderr
    # two of the recorded run: in the third both orders crash, for the other race; and other runs
    assert "8 ways to go on" in judged.stdout


def test_an_id_that_nothing_has(checked: Path) -> None:
    for name, words in (("EW-zz", "no finding begins with"), ("EW-", "several findings begin")):
        refused = eitherway(checked, "judge", name)
        assert refused.returncode == 64
        assert words in refused.stderr


def test_all_races_of_a_recording(tmp_path: Path) -> None:
    """A run that was only recorded is judged too, and what is found in it is kept."""
    (tmp_path / "app.c").write_text(SOURCE, encoding="utf-8")
    eitherway(tmp_path, "cc", "-g", "app.c", "-o", "app")
    assert (
        eitherway(tmp_path, "record", "--scheduler", "round-robin", "--", "./app").returncode == 0
    )
    (recording,) = (tmp_path / ".eitherway" / "recordings").iterdir()
    judged = eitherway(tmp_path, "judge", recording.name)
    assert judged.returncode == 1, judged.stderr
    assert "2 of 2 findings were judged" in judged.stdout
    assert "1 spec-violated" in eitherway(tmp_path, "races").stdout
    refused = eitherway(tmp_path, "judge", "20200101-000000-000000")
    assert refused.returncode == 65
    assert "no recording named" in refused.stderr


def test_without_findings_there_is_nothing_to_judge(tmp_path: Path) -> None:
    refused = eitherway(tmp_path, "judge")
    assert refused.returncode == 64
    assert "eitherway check" in refused.stderr


def test_another_build_is_not_judged(checked: Path, tmp_path: Path) -> None:
    """What was found stays as it was, and why it is not judged is said."""
    (tmp_path / "app.c").write_text(SOURCE, encoding="utf-8")
    eitherway(tmp_path, "cc", "-g", "app.c", "-o", "app")
    eitherway(tmp_path, "check", "--no-judge", "--schedules", "60", "--", "./app")
    (tmp_path / "app.c").write_text(SOURCE.replace("42", "43"), encoding="utf-8")
    eitherway(tmp_path, "cc", "-g", "app.c", "-o", "app")
    judged = eitherway(tmp_path, "judge")
    assert judged.returncode == 1
    assert "another build" in judged.stdout
    assert "0 of 2 findings were judged" in judged.stdout


@pytest.mark.parametrize("asked", [(), ("--judge",), ("--judge", "--jobs", "3")])
def test_check_judges_unless_it_is_not_to(tmp_path: Path, asked: tuple[str, ...]) -> None:
    """A race without a consequence does not fail then."""
    harmless = SOURCE.replace("*made == 42 ? unused : NULL", "unused")
    (tmp_path / "app.c").write_text(harmless, encoding="utf-8")
    eitherway(tmp_path, "cc", "-g", "app.c", "-o", "app")
    words = ("check", "--schedules", "40", "--seconds", "600", "--json", "told.json")
    assert eitherway(tmp_path, *words, "--no-judge", "--", "./app").returncode == 1
    judged = eitherway(tmp_path, *words, *asked, "--", "./app")
    assert judged.returncode == 0, judged.stdout + judged.stderr
    document = json.loads((tmp_path / "told.json").read_text())
    assert [f["class"] for f in document["findings"]] == ["k-witness-harmless"]
    assert "1 of 1 findings were judged" in document["summary"]["notes"]


@pytest.mark.parametrize(
    ("option", "words"),
    [
        (("--ignore-output", "("), "no regular expression"),
        (("--checker", "no-such-checker"), "no command that can be started"),
        (("--checker", ""), "the checker is empty"),
        (("--expect-output", "gone.txt"), "gone.txt cannot be read"),
        (("--expect-output", "/dev/zero"), "/dev/zero has more than 1,048,576 bytes"),
    ],
)
def test_a_specification_that_cannot_be_read_is_refused_before_anything_runs(
    checked: Path, option: tuple[str, ...], words: str
) -> None:
    for verb in ("check", "judge"):
        command = ("--", "./app") if verb == "check" else ()
        refused = eitherway(checked, verb, *option, *command)
        assert refused.returncode in (64, 65)
        assert words in refused.stderr


def test_findings_that_cannot_be_read_are_not_taken_for_none(tmp_path: Path) -> None:
    folder = tmp_path / ".eitherway" / "checked"
    folder.mkdir(parents=True)
    (folder / "findings.json").write_text("{")
    for verb in (("judge",), ("explain",), ("verify", "EW-0", "--", "./app")):
        refused = eitherway(tmp_path, *verb)
        assert refused.returncode == 65
        assert "findings.json is not a findings document" in refused.stderr


def test_an_expression_may_be_any_bytes() -> None:
    asked = argparse.Namespace(checker=None, expect_output=None, ignore_output=["^\udcff"])
    assert specification_of(asked).kept(b"\xff\nother\n") == b"other\n"
