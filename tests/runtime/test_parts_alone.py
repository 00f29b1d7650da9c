# SPDX-License-Identifier: Apache-2.0
"""Parts of the runtime that need no program around them, under sanitizers.

Inside a program no sanitizer can look at the runtime: it lies where theirs would.
"""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RUNTIME = ROOT / "native" / "runtime"
INCLUDED = (RUNTIME, ROOT / "native" / "recording")
SANITIZE = ["-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
# The compiler knows its own hooks by other types than its documentation.
STRICT = ["-std=gnu11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror"]
STRICT += ["-Wno-builtin-declaration-mismatch"]

SHADOW = (
    *("clocks.c", "constants.c", "hot.S", "objects.c", "past.c", "readers.c", "sets.c", "shadow.c"),
    *("shadow_lives.c", "shadow_usual.c", "splits.c", "touched.c", "tsan_memory.c"),
    *("tsan_ranges.c", "vectors.c"),
)
POLICIES = ("pct.c", "pos.c", "random_walk.c", "round_robin.c", "surw.c")


def built(program: str, parts: tuple[str, ...], folder: Path) -> Path:
    """The program with these parts of the runtime."""
    compiler = shutil.which("gcc")
    assert compiler, "make setup installs gcc"
    source = Path(__file__).with_name(f"{program}.c")
    include = [f"-I{path}" for path in INCLUDED]
    files = [source, *(RUNTIME / part for part in parts)]
    made = folder / program
    subprocess.run([compiler, *STRICT, *SANITIZE, *include, *files, "-o", made], check=True)
    return made


@pytest.fixture(scope="module")
def shadow(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built("shadow_alone", SHADOW, tmp_path_factory.mktemp("shadow"))


@pytest.mark.parametrize("first", [1, 31])
def test_the_shadow_tells_what_counting_tells(shadow: Path, first: int) -> None:
    seeds = [str(first), str(first + 29)]
    ran = subprocess.run([shadow, *seeds], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")


def test_policies_choose_among_those_that_may_go_on(tmp_path: Path) -> None:
    parts = ("patience.c", *(f"schedulers/{name}" for name in POLICIES))
    program = built("policies_alone", parts, tmp_path)
    ran = subprocess.run([program, "1", "40"], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
