# SPDX-License-Identifier: Apache-2.0
"""Debian source packages, fetched by name once and kept; what is built of them, kept too.

All of it lies in `build/benchmarks`. A build is made again when our runtime or compiler changed.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from benchmarks.measure import progress

from eitherway.errors import Unavailable
from eitherway.installed import native
from eitherway.worlds.threads.cc import link

CACHE = Path(__file__).parent.parent / "build" / "benchmarks"
PROGRAMS = Path(__file__).parent / "programs"
FLAGS = ("-g", "-O1")


@dataclass(frozen=True, slots=True)
class Kit:
    """The compilers of one variant: the same gcc behind all."""

    name: str
    cc: tuple[str, ...]
    cxx: tuple[str, ...]
    flags: tuple[str, ...] = FLAGS


_TOOL = str(Path(sys.executable).with_name("eitherway"))
BARE = Kit("bare", ("gcc",), ("g++",))
OURS = Kit("ours", (_TOOL, "cc"), (_TOOL, "c++"))
LIBTSAN = Kit("libtsan", ("gcc", "-fsanitize=thread"), ("g++", "-fsanitize=thread"))

Recipe = Callable[[Kit, Path], Path]  # builds in a folder, returns the program


def source(package: str) -> Path:
    """The unpacked source of a package."""
    place = CACHE / "sources" / package
    if not place.exists():
        progress(f"fetching the source of {package}")
        partial = place.with_suffix(".partial")
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        _fetch(package, partial)
        partial.rename(place)
    return next(path for path in place.iterdir() if path.is_dir())


def _fetch(package: str, folder: Path) -> None:
    need("apt-get", "apt")
    need("dpkg-source", "dpkg-dev")
    command = ["apt-get", "source", "--quiet", "--only-source", package]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if run.returncode == 0:
        return
    said = [line for line in run.stderr.splitlines() if line.startswith("E:")]
    reason = said[0] if said else f"apt-get ended with {run.returncode}"
    fix = "apt-get update, with a network"
    if "deb-src" in reason or "Unable to find a source package" in reason:
        fix = "add deb-src to the types in /etc/apt/sources.list.d, then apt-get update"
    raise Unavailable(f"the source of {package} cannot be had: {reason}", fix=fix)


def need(program: str, package: str) -> None:
    """Raise `Unavailable` where a program is not installed."""
    if shutil.which(program) is None:
        raise Unavailable(f"there is no {program}", fix=f"apt-get install {package}")


def built(name: str, kit: Kit, recipe: Recipe, *files: Path) -> Path:
    """The program of a recipe; made once for each state of our runtime and of files of ours."""
    folder = CACHE / "built" / f"{name}.{kit.name}.{_state(kit, files)}"
    if not folder.exists():
        need(BARE.cc[0], "gcc")
        need(BARE.cxx[0], "g++")
        progress(f"building {name}, {kit.name}")
        _build(kit, recipe, folder)
    return folder / "program"


def _build(kit: Kit, recipe: Recipe, folder: Path) -> None:
    """The folder is whole or not there, also when two build the same at the same time."""
    partial = Path(f"{folder}.{os.getpid()}")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    recipe(kit, partial).rename(partial / "program")
    with suppress(OSError):  # somebody was faster
        partial.rename(folder)
    shutil.rmtree(partial, ignore_errors=True)


@cache
def _state(kit: Kit, own: tuple[Path, ...]) -> str:
    """Of what a build depends on besides the packages."""
    digest = hashlib.sha256(repr(kit).encode())
    files = [Path(__file__), *own]
    if _TOOL in kit.cc:
        files += map(Path, link.parts())
        files += [native("assembler/as"), native("assembler/hooks.s")]
        files += sorted(Path(link.__file__).parent.glob("*.py"))
    for file in files:
        digest.update(file.read_bytes())
    return digest.hexdigest()[:12]


def compiled(kit: Kit, files: Sequence[Path], folder: Path, *flags: str) -> None:
    """Objects of some files of one language, in the folder."""
    compiler = kit.cc if files[0].suffix == ".c" else kit.cxx
    do([*compiler, *kit.flags, "-w", "-pthread", *flags, "-c", *map(str, files)], folder)


def linked(linker: Sequence[str], program: Path, *libraries: str) -> Path:
    """A program of all objects beside it."""
    objects = sorted(map(str, program.parent.glob("*.o")))
    do([*linker, *objects, "-o", str(program), "-pthread", *libraries], program.parent)
    return program


def small_program(name: str, kit: Kit) -> Path:
    """One of our own of a single file."""

    def recipe(kit: Kit, folder: Path) -> Path:
        compiled(kit, [PROGRAMS / f"{name}.c"], folder)
        return linked(kit.cc, folder / name)

    return built(name, kit, recipe, PROGRAMS / f"{name}.c", *sorted(PROGRAMS.glob("*.h")))


def bpf_programs(name: str) -> Path:
    """A file of programs for the kernel: those of the recorder, and what one of ours adds."""
    need("clang", "clang")
    own = PROGRAMS / f"{name}.bpf.c"
    recorder = PROGRAMS.parent.parent / "native" / "recorder"

    def recipe(_: Kit, folder: Path) -> Path:
        flags = ("-target", "bpf", "-mcpu=v3", "-g", "-O2", "-DCASTS")
        do(["clang", *flags, "-c", str(own), "-o", name], folder)
        return folder / name

    return built(name, BARE, recipe, own, recorder / "recorder.bpf.c", recorder / "seen.h")


def configured(tree: Path, kit: Kit, folder: Path, *options: str) -> None:
    """A package configured in the folder as its users do."""
    compilers = {"CC": " ".join(kit.cc), "CXX": " ".join(kit.cxx), "CFLAGS": " ".join(kit.flags)}
    settings = [f"{name}={value}" for name, value in compilers.items()]
    do([str(tree / "configure"), "--quiet", *options, *settings], folder)


def do(command: Sequence[str], folder: Path, environment: Mapping[str, str] | None = None) -> None:
    """A step of a build; what it says is shown when it fails."""
    run = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    if run.returncode != 0:
        print(run.stdout, run.stderr, file=sys.stderr)
        raise SystemExit(f"{' '.join(command)}: ended with {run.returncode}")
