# SPDX-License-Identifier: Apache-2.0
"""No run of many reaches the user's files, the next run, or the machine's ports."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from eitherway.errors import Unavailable
from eitherway.sandbox.box import Sandbox
from eitherway.sandbox.isolation import Kind
from eitherway.worlds.threads.build import build
from eitherway.worlds.threads.explorer import ClosedError, Explorer
from eitherway.worlds.threads.launch import Launch
from eitherway.worlds.threads.run import run

# Counts its own runs in a file; two threads race to write their name behind it.
COUNTS = r"""
#include <pthread.h>
#include <stdio.h>
static FILE *file;
static void *sign(void *name) { fputs(name, file); return NULL; }
int main(void) {
    pthread_t one, two;
    int count = 0;
    if ((file = fopen("count", "r"))) {
        if (fscanf(file, "%d", &count) != 1) return 2;
        fclose(file);
    }
    file = fopen("count", "w");
    fprintf(file, "%d\n", count + 1);
    pthread_create(&one, NULL, sign, "one");
    pthread_create(&two, NULL, sign, "two");
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    fclose(file);
    char line[99] = "";
    file = fopen("count", "r");
    while (fgets(line, sizeof line, file)) printf("%s", line);
    return 0;
}
"""


@pytest.fixture
def launch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Launch:
    source = tmp_path / "counts.c"
    source.write_text(COUNTS, encoding="utf-8")
    build(source, tmp_path / "counts")
    (tmp_path / "count").write_text("41\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return Launch.here([str(tmp_path / "counts")])


@pytest.fixture
def explorer(launch: Launch) -> Iterator[Explorer]:
    try:
        box = Sandbox(require=[Kind.FILES], work=[launch.directory])
    except Unavailable as reason:
        pytest.skip(f"this machine isolates no files: {reason}")
    with box, Explorer(launch, box) as started:
        yield started


def test_every_run_is_the_first(explorer: Explorer, tmp_path: Path) -> None:
    for seed in range(5):
        assert explorer.run(seed=seed).out.beginning.startswith(b"42\n")
    assert (tmp_path / "count").read_text(encoding="utf-8") == "41\n"


def test_a_survey_of_runs_that_write_is_as_if_each_were_alone(
    explorer: Explorer, tmp_path: Path
) -> None:
    rows = explorer.survey(range(30))
    assert rows["seed"].tolist() == list(range(30))
    for row in rows[:6]:
        ran = explorer.run(seed=int(row["seed"]))
        assert (row["schedule"], row["out_size"]) == (ran.schedule.hash, ran.out.size)
    assert len(set(rows["out_hash"].tolist())) == 2  # onetwo and twoone, never 43
    assert sorted(os.listdir(tmp_path)) == ["count", "counts", "counts.c"]


def test_what_was_explored_replays_there(explorer: Explorer) -> None:
    ran = explorer.run(seed=3)
    assert explorer.run(replay=ran).differences(ran) == []


def test_outside_the_same_program_does_write(launch: Launch, tmp_path: Path) -> None:
    """So that the tests above can fail."""
    run(launch)
    assert (tmp_path / "count").read_text(encoding="utf-8").startswith("42\n")


def test_closed_while_its_sandbox_is_made_anew_it_starts_nothing(
    explorer: Explorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when a search has enough while another thread is at work for it."""
    reset, started = Sandbox.reset, []

    def closed_meanwhile(box: Sandbox) -> None:
        explorer.close()
        reset(box)
        monkeypatch.setattr(Sandbox, "popen", lambda *_, **__: started.append("a server"))

    monkeypatch.setattr(Sandbox, "reset", closed_meanwhile)
    with pytest.raises(ClosedError):
        explorer.run(seed=0)
    assert not started
