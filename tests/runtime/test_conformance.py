# SPDX-License-Identifier: Apache-2.0
"""Every program checks POSIX, C or C++ behaviour itself, natively and under control.

Those in programs/ go through functions one by one; those in shapes/ do with them what odd programs
do. A program is one file; `// flags: ...` in its first lines adds compiler flags. It ends with 0
when all it checked was right, and says on standard error what was not. Each is also recorded, and
is the same to the bit in a replay: with a line `// replayed` under several schedules, because much
comes to it from outside; not at all with a line `// not replayed: REASON`. Each file in a folder
NAME_libraries becomes a shared library beside the program NAME.
"""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from eitherway.worlds.threads.build import COMPILE, link_flags
from eitherway.worlds.threads.course import Plan
from eitherway.worlds.threads.launch import Launch
from eitherway.worlds.threads.run import run

FOLDERS = [Path(__file__).parent / name for name in ("programs", "shapes")]
PROGRAMS = sorted(p for f in FOLDERS for p in f.iterdir() if p.suffix in (".c", ".cc"))
SEEDS = range(10)
REPLAYED = [("random-walk", 1)]
REPLAYED_MORE = [("round-robin", 0), *(("random-walk", seed) for seed in range(4))]
# Some that wait in every way there is, by looking too.
FEW = (
    *("atomic_wait.cc", "barrier.c", "cond.c", "rwlock.c", "semaphore.c", "spin.c"),
    *("stdio_locks.c", "timers_posix.c", "../shapes/busy_flags.c", "../shapes/dining.c"),
)
OTHERS = ("depth-first", "pct", "pos", "surw")  # beside those that all programs run under
GIVE_UP = 300  # seconds: a program that hangs has failed; none of them needs one
PLAN = Plan(timeout=GIVE_UP)


def marks(source: Path, pattern: str) -> list[str]:
    head = source.read_text(encoding="utf-8")[:1000]
    return re.findall(rf"^// {pattern}$", head, re.MULTILINE)


def compiler_for(source: Path) -> list[str]:
    compiler = shutil.which("g++" if source.suffix == ".cc" else "gcc")
    assert compiler, "make setup installs gcc and g++"
    flags = " ".join(marks(source, "flags: (.*)")).split()
    return [compiler, "-g", "-O1", "-Wall", "-Werror", "-D_GNU_SOURCE", *flags]


def compile_libraries(source: Path, folder: Path, own: list[str]) -> None:
    for library in sorted(source.with_name(f"{source.stem}_libraries").glob("*.c*")):
        objects = folder / f"{library.stem}.so.o"
        compiler = [*compiler_for(library), *own, "-fPIC"]
        subprocess.run([*compiler, "-c", library, "-o", objects], check=True)
        # Linked without a runtime: the program that loads it brings that.
        made = folder / f"{library.stem}.so"
        subprocess.run([compiler[0], "-shared", objects, "-o", made], check=True)


def compile_program(source: Path, program: Path, *, controlled: bool) -> None:
    compiler = compiler_for(source)
    own = [*COMPILE] if controlled else ["-pthread"]
    objects = program.with_suffix(".o")
    subprocess.run([*compiler, *own, "-c", source, "-o", objects], check=True)
    libraries = [*(link_flags() if controlled else ["-pthread", "-ldl"]), "-lm"]
    subprocess.run([compiler[0], objects, "-o", program, *libraries], check=True)
    compile_libraries(source, program.parent, own)


def check(program: Path, options: str) -> None:
    ran = subprocess.run(
        [program],
        env={"EITHERWAY_OPTIONS": options, "PATH": "/usr/bin:/bin"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=GIVE_UP,
        check=False,
    )
    assert ran.returncode == 0, f"{options}: status {ran.returncode}\n{ran.stdout}{ran.stderr}"


def check_replays(program: Path, schedules: list[tuple[str, int]]) -> None:
    launch = Launch.here([str(program)])
    for scheduler, seed in schedules:
        first = run(launch, seed=seed, scheduler=scheduler, plan=PLAN)
        assert first.status == 0, f"{scheduler} {seed}: {first.err.beginning.decode()}"
        again = run(launch, replay=first, plan=PLAN)
        assert again.differences(first) == [], f"{scheduler} {seed}: {again.err.beginning.decode()}"


@pytest.mark.parametrize("source", PROGRAMS, ids=lambda source: source.name)
def test_the_program_is_right_natively(source: Path, tmp_path: Path) -> None:
    compile_program(source, tmp_path / "program", controlled=False)
    check(tmp_path / "program", "")


@pytest.mark.parametrize("source", PROGRAMS, ids=lambda source: source.name)
def test_the_program_is_right_under_control_and_replays(source: Path, tmp_path: Path) -> None:
    compile_program(source, tmp_path / "program", controlled=True)
    check(tmp_path / "program", "scheduler=round-robin")
    for seed in SEEDS:
        check(tmp_path / "program", f"scheduler=random-walk:seed={seed}")
    if not marks(source, "not replayed: .+"):
        schedules = REPLAYED_MORE if marks(source, "replayed") else REPLAYED
        check_replays(tmp_path / "program", schedules)


@pytest.mark.parametrize("name", FEW)
def test_a_few_are_right_under_every_policy(name: str, tmp_path: Path) -> None:
    source = Path(__file__).parent / "programs" / name
    compile_program(source, tmp_path / "program", controlled=True)
    for scheduler in OTHERS:
        for seed in range(5):
            check(tmp_path / "program", f"scheduler={scheduler}:seed={seed}:detect=1")
