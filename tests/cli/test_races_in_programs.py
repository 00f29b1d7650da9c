# SPDX-License-Identifier: Apache-2.0
"""What `races` says about small programs whose truth is known."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from eitherway.worlds.threads.build import build


def eitherway(cwd: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "eitherway", *map(str, arguments)],
        cwd=cwd,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        check=False,
    )


def found_in(folder: Path, source: str, seed: int = 0) -> list[dict[str, Any]]:
    (folder / "program.c").write_text(source, encoding="utf-8")
    build(folder / "program.c", folder / "program")
    eitherway(folder, "record", "--seed", str(seed), "--", "./program")
    return list(json.loads(eitherway(folder, "races", "--json", "-").stdout)["findings"])


def test_two_static_variables_of_one_name_are_two(tmp_path: Path) -> None:
    part = "static int counter; void *NAME(void *x) { counter++; return x; }\n"
    for name in ("one", "two"):
        (tmp_path / f"{name}.c").write_text(part.replace("NAME", name), encoding="utf-8")
    (tmp_path / "main.c").write_text(
        "#include <pthread.h>\nvoid *one(void *), *two(void *);\n"
        "int main(void) { pthread_t a, b; pthread_create(&a, 0, one, 0);"
        " pthread_create(&b, 0, two, 0); pthread_join(a, 0); pthread_join(b, 0); return 0; }\n",
        encoding="utf-8",
    )
    command = ["cc", "-g", "one.c", "two.c", "main.c", "-o", "program", "-pthread"]
    assert eitherway(tmp_path, *command).returncode == 0
    eitherway(tmp_path, "record", "--", "./program")
    assert "EitherWay: 0 findings" in eitherway(tmp_path, "races").stdout


LOCKS = """
#include <pthread.h>
static struct { pthread_mutex_t a, b; } locks; // all zero is unlocked
static void take(pthread_mutex_t *first, pthread_mutex_t *second) {
    pthread_mutex_lock(first);
    pthread_mutex_lock(second);
    pthread_mutex_unlock(second);
    pthread_mutex_unlock(first);
}
static void *one(void *x) { take(&locks.a, &locks.b); return x; }
static void *two(void *x) { take(&locks.b, &locks.a); return x; }
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, one, 0);
    pthread_create(&b, 0, two, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
"""


def test_locks_in_one_structure_are_told_apart_whether_the_run_deadlocks_or_not(
    tmp_path: Path,
) -> None:
    """Ten seeds take the locks in both ways: some runs end, some do not, all have the ring."""
    endings = set()
    for seed in range(10):
        kinds = [finding["kind"] for finding in found_in(tmp_path, LOCKS, seed)]
        assert kinds == ["deadlock"], f"seed {seed}"
        endings.add(
            eitherway(tmp_path, "record", "--seed", str(seed), "--", "./program").returncode
        )
    assert endings == {0, 66}


def test_a_program_that_never_switches_has_no_races(tmp_path: Path) -> None:
    assert found_in(tmp_path, "int g; int main(void) { g = 1; return 0; }\n") == []


def test_a_store_that_was_copied_is_not_believed(tmp_path: Path) -> None:
    found_in(tmp_path, "int g; int main(void) { g = 1; return 0; }\n")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    shutil.copytree(tmp_path / ".eitherway", elsewhere / ".eitherway", symlinks=True)
    refused = eitherway(elsewhere, "races")
    assert refused.returncode == 64
    assert "was not made in that place" in refused.stderr
    assert eitherway(elsewhere, "races", "--again").returncode == 0


NEVER_IN_TIME = """
#include <pthread.h>
static void *work(void *x) { for (volatile long i = 0; i < 1000000000000; i++); return x; }
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    pthread_join(thread, 0);
    return 0;
}
"""


def test_a_search_in_which_no_schedule_was_over_says_nothing_by_its_exit_code_either(
    tmp_path: Path,
) -> None:
    (tmp_path / "program.c").write_text(NEVER_IN_TIME, encoding="utf-8")
    build(tmp_path / "program.c", tmp_path / "program")
    done = eitherway(tmp_path, "check", "--seconds", "0.2", "--", "./program")
    assert "the time was over before the first schedule came to its end" in done.stdout
    assert done.returncode == 2
