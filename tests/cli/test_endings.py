# SPDX-License-Identifier: Apache-2.0
"""Ordinary endings under a shell: closed, full and broken streams, names a terminal would obey."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.calling import eitherway

from eitherway.cli.main import VERBS

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "format" / "samples" / "findings" / "threads.json"

BARE = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}

Done = subprocess.CompletedProcess[str]


def shell(script: str, folder: Path) -> Done:
    """A line of bash in this folder, where `eitherway` is the tool and S a findings document."""
    return subprocess.run(
        ["bash", "-c", f'eitherway() {{ "{sys.executable}" -m eitherway "$@"; }}\n{script}'],
        cwd=folder,
        env={**BARE, "PYTHONPATH": str(ROOT / "src"), "S": str(SAMPLE)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("script", "status", "said"),
    [
        ("eitherway report $S >/dev/full", 69, "standard output cannot be written: No space left"),
        ("eitherway report $S --json - >/dev/full", 69, "standard output cannot be written"),
        ("eitherway report --help >/dev/full", 69, "standard output cannot be written"),
        ("eitherway --version >/dev/full", 69, "standard output cannot be written"),
        ("PYTHONUNBUFFERED=1 eitherway --version >/dev/full", 69, "standard output cannot be"),
        ("PYTHONUNBUFFERED=1 eitherway report -h >/dev/full", 69, "standard output cannot be"),
        ("PYTHONUNBUFFERED=1 eitherway report $S >/dev/full", 69, "standard output cannot be"),
        ("eitherway >/dev/full", 69, "standard output cannot be written"),
        ("eitherway doctor --json - >/dev/full", 69, "standard output cannot be written"),
        ("eitherway report $S >&-", 1, ""),
        ("eitherway report - <&-", 65, "standard input is empty"),
        ("eitherway report - </dev/zero", 65, "standard input cannot be read: Is a device"),
        ("eitherway report nope 2>&-", 65, ""),
        ("eitherway report nope 2>/dev/full", 65, ""),
        ("eitherway report $S --json x <&- >&- 2>&-", 1, ""),
        ("eitherway races $(printf '%05000d' 7)", 65, "has no recording named"),
        ("eitherway races ./$(printf '%05000d' 7)", 65, "name too long"),
    ],
)
def test_a_stream_that_cannot_be_used_is_no_bug(
    script: str, status: int, said: str, tmp_path: Path
) -> None:
    done = shell(script, tmp_path)
    assert (done.returncode, done.stdout) == (status, ""), done.stderr
    assert said.lower() in done.stderr.lower()
    assert bool(said) == bool(done.stderr), done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


def many(folder: Path, count: int = 500) -> Path:
    """A document whose report is far longer than a pipe holds."""
    document = json.loads(SAMPLE.read_text(encoding="utf-8"))
    one = document["findings"][0]
    document["findings"] = [{**one, "id": f"EW-{number:016x}"} for number in range(count)]
    path = folder / "many.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


@pytest.mark.parametrize("options", ["", "--json -", "--format json", "--json kept.json"])
def test_a_reader_that_goes_away_does_not_change_the_answer(options: str, tmp_path: Path) -> None:
    many(tmp_path)
    done = shell(f"eitherway report many.json {options} | head -c 1 >&2; "
                 "echo ${PIPESTATUS[0]}", tmp_path)  # fmt: skip
    assert done.stdout == "1\n"
    assert len(done.stderr.splitlines()[0]) >= 1
    assert "Traceback" not in done.stderr
    assert (tmp_path / "kept.json").exists() == ("kept" in options)


def test_a_document_may_come_from_a_command(tmp_path: Path) -> None:
    done = shell('eitherway report <(cat "$S") --suppressions <(echo race:^deposit$)', tmp_path)
    assert done.returncode == 1, done.stderr
    assert done.stdout.count("WARNING: ") == 1


def test_a_document_may_go_to_a_pipe(tmp_path: Path) -> None:
    done = shell('eitherway report "$S" --output text --json /dev/stdout | cat', tmp_path)
    assert len(json.loads(done.stdout)["findings"]) == 2


@pytest.mark.parametrize(
    "script",
    [
        r"eitherway $'\e[31mverb'",
        r"eitherway report $'\e[31mnope'",
        r"eitherway report $S --fail-on $'\e[31mbad'",
        r"eitherway report $S --baseline $'\e[31mnope'",
        r"eitherway report $S --suppressions $'\e[31mnope'",
        r"eitherway report $S --json $'\e[31mwritten' --output $'\e[31mout'",
        r"eitherway report $S --write-baseline $'\e[31mknown'",
        r"eitherway report $S --$'\e[31m'=1",
        r"eitherway report $S --exitcode $'\e[31m'",
        r"eitherway races $'\e[31mnope'",
        r"eitherway races ./$'\e[31mnope'",
        r"eitherway demo --seed $'\e[31m'",
        r"EITHERWAY_DIR=$'\e[31m' eitherway races",
    ],
)
def test_no_name_reaches_the_terminal_as_a_command(script: str, tmp_path: Path) -> None:
    done = shell(script, tmp_path)
    assert "\x1b" not in done.stderr + done.stdout
    assert r"\x1b[31m" in done.stderr


@pytest.mark.parametrize("verb", ["demo", "record"])
@pytest.mark.parametrize("seed", ["-1", "9223372036854775808", f"1{'0' * 23}", "9" * 5000, "1_0"])
def test_a_seed_has_a_range(verb: str, seed: str, tmp_path: Path) -> None:
    done = shell(f"eitherway {verb} --seed={seed} -- true", tmp_path)
    assert done.returncode == 64, done.stderr
    assert "is not a seed (0 to 9223372036854775807)" in done.stderr
    assert len(done.stderr) < 300


@pytest.mark.parametrize("verb", ["", *sorted(set(VERBS) - {"cc", "c++"})])
def test_help_fits_a_terminal(verb: str, tmp_path: Path) -> None:
    done = shell(f"COLUMNS=80 eitherway {verb} --help", tmp_path)
    assert done.returncode == 0
    assert [line for line in done.stdout.split("\n") if len(line) > 80] == []


WAITING = """
import sys, tempfile
from types import SimpleNamespace
from eitherway.cli import main

def run(args):
    with tempfile.TemporaryDirectory():
        print("ready", flush=True)
        sys.stdin.read()

main._verb = lambda _name: SimpleNamespace(HELP="", add_arguments=lambda _parser: None, run=run)
sys.argv = ["eitherway", "demo"]
main.entry()
"""


@pytest.mark.parametrize(
    ("number", "status", "said"),
    [(signal.SIGTERM, 143, "terminated"), (signal.SIGINT, 130, "interrupted")],
)
def test_a_signal_ends_it_without_leaving_anything(
    number: signal.Signals, status: int, said: str, tmp_path: Path
) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", WAITING],
        env={**BARE, "PYTHONPATH": str(ROOT / "src"), "TMPDIR": str(tmp_path)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    assert len(os.listdir(tmp_path)) == 1
    process.send_signal(number)
    _, errors = process.communicate()
    assert (process.returncode, errors) == (status, f"eitherway: {said}\n")
    assert os.listdir(tmp_path) == []


INTERRUPTED = """
import os, signal, sys
from eitherway.cli import main
from eitherway.find.search import Search

def interrupted(self, results, budget, tell):
    real(self, results, budget, tell)
    os.kill(os.getpid(), number)
    signal.pause()

number = int(sys.argv.pop())
real, Search._search = Search._search, interrupted
main.entry()
"""
RACES = """
#include <pthread.h>
static int sum;
static void *add(void *unused) { RACE; return unused; }
int main(void) {
    pthread_t one, other;
    pthread_create(&one, NULL, add, NULL);
    pthread_create(&other, NULL, add, NULL);
    pthread_join(one, NULL);
    return pthread_join(other, NULL);
}
"""


def interrupted(folder: Path, number: signal.Signals, *words: str) -> Done:
    return subprocess.run(
        [sys.executable, "-c", INTERRUPTED, *words, str(int(number))],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def test_an_interrupted_search_tells_what_it_found_and_that_it_is_not_all(tmp_path: Path) -> None:
    """Of what is not seen by then, nobody says that it is gone."""
    budget = ("--schedules", "5", "--")
    for name, race in (("app", "sum++"), ("mended", "(void)sum")):
        (tmp_path / f"{name}.c").write_text(RACES.replace("RACE", race))
        assert eitherway(tmp_path, "cc", "-g", f"{name}.c", "-o", name).returncode == 0
    for number, code in ((signal.SIGTERM, 143), (signal.SIGINT, 130)):
        done = interrupted(tmp_path, number, "check", *budget, "./app")
        assert done.returncode == code, done.stderr
        assert "data race" in done.stdout
        assert "interrupted; this is what was found until then" in done.stderr
    (finding,) = set(re.findall(r"EW-[0-9a-f]{16}", eitherway(tmp_path, "races").stdout))
    gone = interrupted(tmp_path, signal.SIGTERM, "verify", finding, *budget, "./mended")
    assert (gone.returncode, gone.stdout) == (143, ""), gone.stderr
