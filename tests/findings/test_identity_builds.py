# SPDX-License-Identifier: Apache-2.0
"""One program, many builds: real stacks from each compiler and level must give the same ids.

The program is instrumented by the compiler itself (-fsanitize=thread); a small file answers the
calls and prints the return addresses, and the machine's symbolizer names them.
"""

import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from functools import cache
from itertools import combinations_with_replacement
from pathlib import Path

import pytest

from eitherway.model.finding import Finding, FoundOperation, Frame
from eitherway.model.identity import headline, identity
from eitherway.model.words import Kind, World

PROGRAMS = Path(__file__).parent / "programs"
BUILDS = [
    (compiler, level)
    for compiler in ("g++", "clang++")
    for level in ("-O0", "-O1", "-O2", "-O3", "-O2 -g1")
]
REFERENCE = ("g++", "-O0")

IdsOfBuild = Callable[[str, str], dict[str, str]]  # id -> headline

needs_tools = pytest.mark.skipif(
    not all(map(shutil.which, ("g++", "llvm-symbolizer"))),
    reason="needs g++ and llvm-symbolizer (Debian: g++ llvm)",
)


def run(*command: str | Path, stdin: str = "") -> str:
    done = subprocess.run(
        list(map(str, command)), input=stdin, capture_output=True, text=True, check=True
    )
    return done.stdout


def build(compiler: str, level: str, folder: Path) -> Path:
    """The program; without PIE, so that addresses in the run are addresses in the file."""
    program = folder / "shop"
    flags = ("-g", *level.split(), "-fsanitize=thread", "-fno-pie")
    run(compiler, *flags, "-c", PROGRAMS / "shop.cpp",
        "-o", folder / "shop.o")  # fmt: skip
    run("gcc", "-O1", "-fno-pie", "-c", PROGRAMS / "accesses.c", "-o", folder / "accesses.o")
    run("g++", "-no-pie", folder / "shop.o", folder / "accesses.o", "-o", program)
    return program


def symbolized(program: Path, addresses: list[str]) -> dict[str, tuple[Frame, ...]]:
    answers = run(
        "llvm-symbolizer", f"--obj={program}", "--output-style=JSON", stdin="\n".join(addresses)
    )
    return dict(zip(addresses, map(frames, answers.splitlines()), strict=True))


def frames(answer: str) -> tuple[Frame, ...]:
    symbols = json.loads(answer)["Symbol"]
    return tuple(
        Frame(
            function=symbol["FunctionName"],
            file=symbol["FileName"],
            line=symbol["Line"],
            inlined=index < len(symbols) - 1,
        )
        for index, symbol in enumerate(symbols)
    )


def accesses(program: Path) -> Iterator[FoundOperation]:
    rows = [line.split(" ") for line in run(program).splitlines()]
    inside = sorted({a for row in rows for a in row[3:] if int(a, 16) < 1 << 32})
    names = symbolized(program, inside)
    for variable, op, size, *stack in rows:
        yield FoundOperation(
            actor="main thread",
            op=f"{op} of size {size}",
            variable=variable,
            stack=tuple(frame for address in stack for frame in names.get(address, ())),
        )


def races(operations: list[FoundOperation]) -> Iterator[Finding]:
    """All pairs on one variable, as if nothing ordered them."""
    for one, other in combinations_with_replacement(operations, 2):
        if one.variable == other.variable:
            yield Finding(World.THREADS, Kind.DATA_RACE, (one, other))


@pytest.fixture(scope="module")
def ids_of_build(tmp_path_factory: pytest.TempPathFactory) -> IdsOfBuild:
    @cache
    def ids(compiler: str, level: str) -> dict[str, str]:
        program = build(compiler, level, tmp_path_factory.mktemp("build"))
        return {identity(race): headline(race) for race in races(list(accesses(program)))}

    return ids


@needs_tools
@pytest.mark.parametrize(("compiler", "level"), BUILDS)
def test_every_build_gives_the_same_ids(
    ids_of_build: IdsOfBuild, compiler: str, level: str
) -> None:
    if not shutil.which(compiler):
        pytest.skip(f"{compiler} is not installed")
    assert ids_of_build(compiler, level) == ids_of_build(*REFERENCE)


@needs_tools
def test_the_ids_of_one_build_tell_functions_and_variables_apart(ids_of_build: IdsOfBuild) -> None:
    headlines = set(ids_of_build(*REFERENCE).values())
    assert {
        "data-race on stock: shop.cpp:count / shop.cpp:put",
        "data-race on stock: shop.cpp:put / shop.cpp:reset_all",
        "data-race on sales: shop.cpp:reset_all / shop.cpp:sell_one",
        "data-race on prices: shop.cpp:operator() / shop.cpp:sum",
        "data-race on counter: shop.cpp:visits / shop.cpp:visits",
    } <= headlines
    assert len(headlines) == len(ids_of_build(*REFERENCE))
