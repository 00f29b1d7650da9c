# SPDX-License-Identifier: Apache-2.0
"""gcc's OpenMP cannot be controlled, which is said at once; one thread of it needs no control."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SUM = """
#include <stdio.h>
int main(void) {
    long sum = 0;
#pragma omp parallel for reduction(+ : sum) num_threads(3)
    for (int i = 0; i < 100; i++)
        sum += i;
    printf("%ld\\n", sum);
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("openmp")
    (folder / "sum.c").write_text(SUM, encoding="utf-8")
    command = [sys.executable, "-m", "eitherway", "cc", "-fopenmp", "sum.c", "-o", "sum"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return folder / "sum"


def run(program: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, **environment}
    return subprocess.run([program], env=env, capture_output=True, text=True, check=False)


def test_several_threads_are_refused_in_words(program: Path) -> None:
    ran = run(program)
    assert ran.returncode == 69
    assert "libgomp" in ran.stderr
    assert "OMP_THREAD_LIMIT=1" in ran.stderr


def test_one_thread_runs(program: Path) -> None:
    ran = run(program, OMP_THREAD_LIMIT="1")
    assert (ran.returncode, ran.stdout) == (0, "4950\n")
