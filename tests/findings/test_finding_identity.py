# SPDX-License-Identifier: Apache-2.0
"""Ids: what must not change them, and what must."""

from collections.abc import Callable
from dataclasses import replace
from itertools import permutations

import pytest
from hypothesis import given, settings
from tests.findings.finding_strategies import findings

from eitherway.model.described import with_field
from eitherway.model.finding import Finding, FoundOperation, Frame
from eitherway.model.identity import headline, identified, identity
from eitherway.model.words import Class, Kind, World


def stack(*functions: str, file: str = "/src/shop/shop.c", line: int = 10) -> tuple[Frame, ...]:
    return tuple(
        Frame(function, file, line + n, module="/src/shop/a.out", offset=0x1000 + n)
        for n, function in enumerate(functions)
    )


def race(*sides: tuple[str, ...], variable: str = "stock", kind: Kind = Kind.DATA_RACE) -> Finding:
    operations = tuple(
        FoundOperation(
            f"thread T{n}", "write of size 4", "global", variable, stack=stack(*functions)
        )
        for n, functions in enumerate(sides, start=1)
    )
    return Finding(World.THREADS, kind, operations)


RACE = race(("deliver", "worker"), ("audit", "main"))


def changed(
    finding: Finding, change: Callable[[FoundOperation], FoundOperation], *, side: int | None = None
) -> Finding:
    return replace(
        finding,
        operations=tuple(
            change(op) if side in (None, n) else op for n, op in enumerate(finding.operations)
        ),
    )


def framed(change: Callable[[Frame], Frame]) -> Callable[[FoundOperation], FoundOperation]:
    return lambda op: replace(op, stack=tuple(change(frame) for frame in op.stack))


SAME: dict[str, Finding] = {
    "moved lines": changed(RACE, framed(lambda f: replace(f, line=f.line + 7, column=3))),
    "other offsets": changed(RACE, framed(lambda f: replace(f, offset=f.offset + 99))),
    "other prefix": changed(RACE, framed(lambda f: replace(f, file="/b/x/shop.c", module="/b/a"))),
    "relative path": changed(RACE, framed(lambda f: replace(f, file="shop.c"))),
    "swapped sides": replace(RACE, operations=RACE.operations[::-1]),
    "other threads": changed(RACE, lambda op: replace(op, actor="thread T77 'x' (tid=4)")),
    "other size": changed(RACE, lambda op: replace(op, op="read of size 8"), side=0),
    "other value": changed(RACE, lambda op: replace(op, value="7", locks=("mutex 'm'",))),
    "inlined": changed(RACE, lambda op: replace(
        op, stack=(replace(op.stack[0], inlined=True), *op.stack[1:]))),
    "other callers": changed(RACE, lambda op: replace(op, stack=op.stack[:1] + stack("pool"))),
    "a clone": changed(RACE, framed(lambda f: replace(f, function=f.function + ".constprop.0"))),
    "qualified": changed(RACE, framed(lambda f: replace(f, function=f"shop::{f.function}(int)"))),
    "through memcpy": changed(
        RACE, lambda op: replace(op, stack=(Frame("memcpy"), *op.stack)), side=1),
    "through std": changed(
        RACE, lambda op: replace(op, stack=(Frame("std::fill_n<int*>(int*)"), *op.stack)), side=0),
    "judged": replace(RACE, klass=Class.OUTPUT_DIFFERS, consequence="x", evidence="y"),
    "qualified variable": changed(RACE, lambda op: replace(op, variable="shop::stock")),
    "variable known on one side": changed(RACE, lambda op: replace(op, variable=""), side=0),
    "where it was made": changed(RACE, lambda op: replace(op, created=stack("main"))),
}  # fmt: skip


@pytest.mark.parametrize("name", SAME)
def test_what_does_not_matter_does_not_change_the_id(name: str) -> None:
    assert identity(SAME[name]) == identity(RACE)
    assert headline(SAME[name]) == headline(RACE)


DISTINCT: dict[str, Finding] = {
    "the race": RACE,
    "other variable in the same functions": race(
        ("deliver", "worker"), ("audit", "main"), variable="sales"),
    "other function on the same variable": race(("deliver", "worker"), ("reset", "main")),
    "one function with itself": race(("deliver", "worker"), ("deliver", "worker")),
    "one side only": race(("deliver", "worker")),
    "other kind": race(("deliver", "worker"), ("audit", "main"), kind=Kind.ATOMICITY),
    "other world": replace(RACE, world=World.KERNEL),
    "same names in another file": changed(RACE, framed(lambda f: replace(f, file="/src/t2.c"))),
    "three operations": race(("deliver",), ("audit",), ("deliver",)),
    "three others": race(("deliver",), ("audit",), ("audit",)),
}  # fmt: skip


def test_distinct_races_have_distinct_ids() -> None:
    assert len({identity(finding) for finding in DISTINCT.values()}) == len(DISTINCT)


def test_the_sides_of_three_operations_may_be_rotated() -> None:
    finding = race(("check", "a"), ("swap", "b"), ("use", "a"), kind=Kind.ATOMICITY)
    turned = [replace(finding, operations=sides) for sides in permutations(finding.operations)]
    assert len({identity(one) for one in turned}) == 1


def test_nameless_blocks_are_told_apart_by_who_made_them() -> None:
    def block(maker: str, size: int) -> Finding:
        return changed(
            RACE,
            lambda op: replace(
                op,
                variable="",
                object=f"heap block of {size} bytes at {0x7F00 + len(maker) + size:#x}",
                allocated=(Frame("malloc"), *stack(maker)),
            ),
        )

    assert identity(block("new_item", 40)) == identity(block("new_item", 48))
    assert identity(block("new_item", 40)) != identity(block("new_list", 40))


def test_fields_of_nameless_structures_are_told_apart() -> None:
    def touched(part: str) -> str:
        block = "heap block of 40 bytes"
        return identity(changed(RACE, lambda op: replace(op, variable="", object=block, part=part)))

    balance = touched(with_field("bytes 0 to 7", "account.balance"))
    assert balance == touched(with_field("bytes 8 to 15", "account.balance"))  # it has moved
    assert balance != touched(with_field("bytes 8 to 11", "account.count"))
    assert balance != touched("bytes 0 to 7")
    slots = [touched(with_field(f"byte {n}", f"account.name[{n}]")) for n in range(3)]
    assert len({*slots}) == 1


def test_who_frees_a_structure_races_with_all_its_fields_at_once() -> None:
    def freed_under(field: str) -> Finding:
        part = with_field("bytes 0 to 7", field)
        used = changed(RACE, lambda op: replace(op, variable="", object="heap block of 40 bytes"))
        return changed(used, lambda op: replace(op, part=part), side=0)

    assert identity(freed_under("account.balance")) == identity(freed_under("account.count"))
    assert headline(freed_under("account.balance")).startswith("data-race on heap block: ")


def test_without_names_the_place_in_the_module_is_used() -> None:
    def stripped(offset: int, folder: str) -> Finding:
        frame = Frame(module=f"{folder}/a.out", offset=offset)
        return changed(RACE, lambda op: replace(op, stack=(frame,)))

    assert identity(stripped(16, "/a")) == identity(stripped(16, "/b"))
    assert identity(stripped(16, "/a")) != identity(stripped(32, "/a"))


def test_processes_without_stacks_are_told_apart_by_program_and_call() -> None:
    def shell(reader: str, pid: int) -> Finding:
        return Finding(
            World.PROCESSES,
            Kind.LOAD_STORE,
            (
                FoundOperation(f"process 'cc1' (pid {pid})", "write", "file", "/tmp/ccXa81kq.s"),
                FoundOperation(f"process '{reader}' (pid {pid + 1})", "read", "file"),
            ),
        )

    assert identity(shell("as", 71)) == identity(shell("as", 4711))
    assert identity(shell("as", 71)) != identity(shell("cat", 71))


def test_processes_have_the_program_in_their_side() -> None:
    def main_of(program: str) -> Finding:
        frame = Frame("main", "main.c", 3, module=f"/opt/x/{program}")
        return replace(changed(RACE, lambda op: replace(op, stack=(frame,))), world=World.PROCESSES)

    assert identity(main_of("cp")) != identity(main_of("mv"))


def test_a_finding_without_operations_has_an_id() -> None:
    assert identity(Finding(World.PROCESSES, Kind.FAILURE, ())).startswith("EW-")


def test_this_id_is_kept() -> None:
    """Baselines hold ids: a change of the rule must raise `identity.RULE`, and say so."""
    assert identified(RACE).id == "EW-1b78cc95c714f1ca"
    assert headline(RACE) == "data-race on stock: shop.c:audit / shop.c:deliver"


@given(findings())
@settings(max_examples=100)
def test_every_finding_has_an_id_that_does_not_tell_its_sides(finding: Finding) -> None:
    assert identity(finding) == identity(
        replace(finding, operations=tuple(reversed(finding.operations)))
    )
