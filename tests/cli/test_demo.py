# SPDX-License-Identifier: Apache-2.0
"""`eitherway demo` shows what is, not what it was written to show."""

import re
import subprocess
import sys
from pathlib import Path


def demo(cwd: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "eitherway", "demo", *options],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
    )


def outcomes(shown: str) -> dict[int, int]:
    """How often each balance was printed."""
    found = re.findall(r"^ +(\d+)  6 deposits of 10, balance (\d+)$", shown, re.MULTILINE)
    return {int(balance): int(count) for count, balance in found}


def test_the_race_shows_and_goes_when_it_is_mended(tmp_path: Path) -> None:
    first = demo(tmp_path)
    assert first.returncode == 0, first.stderr
    assert len(outcomes(first.stdout)) > 1
    assert sum(outcomes(first.stdout).values()) == 300
    assert "10 of 10 were the same to the bit" in first.stdout
    assert "EitherWay: 1 finding: 1 output-differs" in first.stdout
    source = tmp_path / "eitherway-demo" / "bank.c"
    text = source.read_text(encoding="utf-8")
    text = text.replace("long before", "pthread_mutex_lock(&counting);\n    long before")
    text = text.replace("+ amount;", "+ amount;\n    pthread_mutex_unlock(&counting);")
    source.write_text(text, encoding="utf-8")
    mended = demo(tmp_path, "--keep")
    assert mended.returncode == 0, mended.stderr
    assert outcomes(mended.stdout) == {60: 300}
    assert "EitherWay: 0 findings" in mended.stdout


def test_another_seed_takes_other_schedules(tmp_path: Path) -> None:
    assert outcomes(demo(tmp_path).stdout) != outcomes(demo(tmp_path, "--seed", "300").stdout)


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "eitherway-demo").write_text("in the way", encoding="utf-8")
    shown = demo(tmp_path)
    assert shown.returncode == 69
    assert "eitherway-demo" in shown.stderr
    assert "Traceback" not in shown.stderr
