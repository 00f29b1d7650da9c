# SPDX-License-Identifier: Apache-2.0
"""The id of a finding: the same in every run, build and machine that shows the same thing.

It is a hash of the world, the kind, for each side the function *as written* (see `side`), and the
object. Not in it: lines, folders, thread and process numbers, sizes, values, which side was first,
whether a side was seen reading or writing (one `x++` shows as either). `docs/findings.md` has the
reasons.
"""

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import replace

from eitherway.model.described import field_of
from eitherway.model.finding import Finding, FoundOperation, Frame
from eitherway.model.names import (
    bare,
    in_library,
    portable_variable,
    portable_words,
)
from eitherway.model.paths import base, portable_path
from eitherway.model.words import OP_WORDS, Kind, OpKind, World

RULE = 1  # part of what is hashed: raised when the rule changes, as all ids change then
DIGITS = 16  # 64 bits: among 10^6 findings two share an id with odds of 1 in 37 million
PREFIX = "EW-"


def identified(finding: Finding) -> Finding:
    """The finding with its id."""
    return replace(finding, id=identity(finding))


def identity(finding: Finding) -> str:
    """The id that the content of this finding has."""
    material = [
        RULE,
        finding.world.value,
        finding.kind.value,
        sides(finding),
        objects(finding),
        allocations(finding),
    ]
    text = json.dumps(material, ensure_ascii=True, separators=(",", ":"))
    return PREFIX + hashlib.sha256(text.encode("ascii")).hexdigest()[:DIGITS]


def sides(finding: Finding) -> list[str]:
    """One name per operation, in an order that does not tell who was first."""
    return sorted(side(operation, finding.world) for operation in _that_count(finding))


def _that_count(finding: Finding) -> tuple[FoundOperation, ...]:
    """Of a lock that is given back wrongly, that: who had it then is another one each time."""
    wrong = tuple(op for op in finding.operations if op.op == OP_WORDS[OpKind.RELEASE])
    return wrong if wrong and finding.kind is Kind.LOCK_MISUSE else finding.operations


def side(operation: FoundOperation, world: World) -> str:
    """The innermost function of the program itself, as if the compiler had inlined nothing.

    An inlined function counts like a called one: with inlined frames spelled out a stack is the
    same whatever the compiler did. The C and C++ libraries differ between builds, so their frames
    are stepped over. Where no function is known, the next best that is.
    """
    name = _function_of(operation.stack, world)
    if name:
        return name
    for frame in operation.stack:
        if frame.module:
            return f"{base(frame.module)}+{frame.offset:#x}"
    if operation.place.file:
        return base(portable_path(operation.place.file))
    return f"{portable_words(operation.actor)}: {portable_words(operation.op)}"


def own_frame(stack: Sequence[Frame]) -> Frame:
    """Where the program itself was: the innermost frame that is no library's, if one is."""
    return next((frame for frame in stack if not in_library(frame)), stack[0] if stack else Frame())


def objects(finding: Finding) -> list[str]:
    """The names of what is raced on; where none is known, descriptions."""
    dotted = any("." in operation.variable for operation in finding.operations)
    functions = _bare_functions(finding) if dotted else frozenset[str]()
    named = {portable_variable(op.variable, functions) for op in finding.operations} - {""}
    return sorted(named or _described(finding.operations))


def _described(operations: Sequence[FoundOperation]) -> set[str]:
    """With their fields: else all fields of a nameless structure would be one.

    Who frees a block touches all of it: with each of its fields that is one and the same mistake.
    """
    whole = any(op.object and not op.part for op in operations)
    fields = ("" if whole else _INDEX.sub("", field_of(op.part)) for op in operations)
    objects = (portable_words(op.object) for op in operations)
    return {" ".join(filter(None, two)) for two in zip(objects, fields, strict=True)} - {""}


_INDEX = re.compile(r"\[\d+\]")


def allocations(finding: Finding) -> list[str]:
    """Which functions made the objects, where this is all that tells nameless objects apart."""
    if any(operation.variable for operation in finding.operations):
        return []
    makers = {_function_of(op.allocated, finding.world) for op in finding.operations}
    return sorted(makers - {""})


def headline(finding: Finding) -> str:
    """One line for people, as stable as the id: no lines, no folders."""
    functions = " / ".join(sides(finding))
    touched = ", ".join(objects(finding))
    about = f" on {touched}" if touched else ""
    return (
        f"{finding.kind.value}{about}: {functions}" if functions else f"{finding.kind.value}{about}"
    )


def _function_of(stack: tuple[Frame, ...], world: World) -> str:
    """`file:function` of the innermost frame that is not a library's, else of the innermost."""
    named = (frame for frame in stack if bare(frame.function))
    innermost = next(named, None)
    own = innermost
    while own is not None and in_library(own):
        own = next(named, None)
    frame = own or innermost
    if frame is None:
        return ""
    name = bare(frame.function)
    if own is not None and own.file:
        name = f"{base(portable_path(own.file))}:{name}"
    program = base(frame.module) if world is World.PROCESSES else ""
    return f"{program}!{name}" if program else name


def _bare_functions(finding: Finding) -> frozenset[str]:
    return frozenset(
        bare(frame.function) for operation in finding.operations for frame in operation.stack
    ) - {""}
