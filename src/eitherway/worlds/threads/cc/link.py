# SPDX-License-Identifier: Apache-2.0
"""Links for our runtime: the linker's command line, and what is done with its result."""

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum, auto
from typing import NamedTuple

from eitherway import __version__
from eitherway.elf import ElfError, Type, opened
from eitherway.errors import BadInput, UsageError
from eitherway.installed import native
from eitherway.worlds.threads import note
from eitherway.worlds.threads.cc import rules, share
from eitherway.worlds.threads.cc.arguments import Argument, CommandLine, Kind


class Product(Enum):
    """What a link makes."""

    PROGRAM = auto()
    LIBRARY = auto()  # shared: its references to the runtime are resolved by the program
    PART = auto()  # -r: one object of several


class Parts(NamedTuple):
    """The installed files that a link needs."""

    runtime: str
    note: str  # an object, not named .o: libtool would take it for the compiler's and repeat it
    exported: str  # a dynamic list: libraries must reach what the runtime takes over


def parts() -> Parts:
    """Where they are. Raises `Unavailable`."""
    files = ("lib/eitherway_rt.o", "lib/eitherway_rt.note", "lib/eitherway_rt.list")
    return Parts(*(str(native(file)) for file in files))


def product(line: CommandLine) -> Product:
    """What this command line makes."""
    words = {argument.value for argument in line.of(Kind.LINKER)}
    if line.has("-r") or words & {"-r", "--relocatable", "-i"}:
        return Product.PART
    if line.has("-shared") or words & {"-shared", "--shared", "-Bshareable"}:
        return Product.LIBRARY
    return Product.PROGRAM


def refuse(line: CommandLine) -> None:
    """Raise `UsageError` for a program that brings no C library."""
    if not line.has("-nostdlib", "-nodefaultlibs", "-nolibc"):
        return
    if not any(argument.value == "-lc" for argument in line.of(Kind.LIBRARY)):
        raise UsageError(
            "a program without the C library has no thread functions to control, and our runtime "
            "needs it",
            fix="link without -nostdlib, or add -lc",
        )


def words(line: CommandLine, product: Product, objects: Mapping[Argument, str]) -> list[str]:
    """The compiler's arguments for the link; sources are replaced by their objects."""
    added = parts()
    users = list(_users(line, product, objects))
    if product is Product.PART:
        return [*users, "-fno-lto"]
    # Each member of a library is named only when --trace is given twice.
    common = ["-fno-lto", "-Wl,--trace,--trace", added.note]
    if product is Product.LIBRARY:
        return [*common, *users]
    # Bound at once: lazily, every run of a fork server would look each symbol up again.
    ours = [added.runtime, f"-Wl,--dynamic-list={added.exported}", "-Wl,-z,now"]
    return [*common, *ours, *users, "-pthread", "-ldl"]


def _users(line: CommandLine, product: Product, objects: Mapping[Argument, str]) -> Iterator[str]:
    for argument in _without(rules.for_link(line.arguments), _DROPPED[product]):
        if argument in objects:
            yield objects[argument]
        elif argument.kind is Kind.LINKER:
            yield from ("-Xlinker", argument.value)
        elif argument.kind is not Kind.LANGUAGE:  # there is nothing left to compile
            yield from argument.words


# A library's references to the runtime are open until it is loaded. A program's version script
# would hide from its libraries what the runtime takes over.
_DROPPED = {
    Product.PROGRAM: ("--version-script",),
    Product.LIBRARY: ("-z defs", "--no-undefined", "-no-undefined"),
    Product.PART: (),
}


def _without(arguments: Iterable[Argument], dropped: tuple[str, ...]) -> Iterator[Argument]:
    """Leave out words for the linker: alone, `-z keyword`, `--option=value` or `--option value`."""
    kept: Argument | None = None  # a `-z` or `--version-script` whose value is still to come
    for argument in arguments:
        if argument.kind is not Kind.LINKER:
            yield argument
        elif kept is not None:
            if f"{kept.value} {argument.value}" not in dropped and kept.value not in dropped:
                yield from (kept, argument)
            kept = None
        elif argument.value in ("-z", "--version-script"):
            kept = argument
        elif argument.value.partition("=")[0] not in dropped:
            yield argument
    if kept is not None:
        yield kept


# --- what is done with the result


class Linked(NamedTuple):
    """A link that is over."""

    product: Product
    output: str
    trace: list[str]
    names: Mapping[str, str]  # of objects that were compiled on the way: their sources


def tell(text: bytes, line: CommandLine) -> list[str]:
    """Split what the linker wrote to standard output: its trace is ours, the rest the user's."""
    asked = any(argument.value in ("-t", "--trace") for argument in line.of(Kind.LINKER))
    trace = []
    for each in os.fsdecode(text).splitlines():
        is_trace = share.is_trace(each)
        if is_trace:
            trace.append(each)
        if not is_trace or asked:
            print(each)
    sys.stdout.flush()
    return trace


def count(linked: Linked) -> share.Share:
    """Look at what was linked. Raises `BadInput` for code that was never compiled."""
    counted = share.count(
        linked.trace, own=parts(), names=linked.names, asked=_interposed(linked.product)
    )
    _refuse_bytecode([each.name for each in counted.counted if each.lto_only])
    return counted


def explain(line: CommandLine) -> None:
    """After a link that failed: the linker does not name what it could not read."""
    files = [argument.value for argument in line.of(Kind.OBJECT)]
    _refuse_bytecode([name for file in files for name in share.bytecode(file)])


def _refuse_bytecode(names: Sequence[str]) -> None:
    if names:
        raise BadInput(
            f"{', '.join(names[:3])} holds link-time optimisation bytecode and no code: linked "
            "here, it would lose its instrumentation",
            fix="compile it again with eitherway cc, which leaves -flto out",
        )


def _interposed(product: Product) -> frozenset[bytes]:
    """What a program may bring itself, and then does without our runtime."""
    if product is not Product.PROGRAM:
        return frozenset()
    with open(parts().exported, "rb") as file:
        names = file.read().replace(b";", b"").split()
    return frozenset(
        name for name in names if not name.startswith((b"__tsan_", b"__eitherway_", b"{", b"}"))
    )


def stamp(linked: Linked, counted: share.Share, compiler: str) -> bool:
    """Write the note into the fresh binary; False when the linker left no room for it."""
    instrumented = [each for each in counted.counted if each.instrumented]
    return note.write(
        linked.output,
        note.Note(
            runtime=__version__,
            compiler=compiler,
            measured=True,
            is_library=linked.product is Product.LIBRARY,
            loads_anywhere=_type(linked.output) == Type.SHARED,
            code=counted.code,
            instrumented=counted.instrumented,
            files=len(counted.counted),
            files_instrumented=len(instrumented),
            unseen=tuple(each.name for each in counted.unseen),
        ),
    )


def _type(path: str) -> int:
    with opened(path) as elf:
        return elf.type


def is_binary(path: str) -> bool:
    """Whether the link has left an ELF file: -o /dev/null does not, nor some linker scripts."""
    try:
        return os.path.isfile(path) and _type(path) in (Type.FIXED, Type.SHARED)
    except (ElfError, OSError):
        return False


def refuse_static(linked: Linked) -> None:
    """Raise `UsageError` for a program that ended up without the dynamic loader."""
    with opened(linked.output) as elf:
        dynamic = elf.has_interpreter()
    if linked.product is Product.PROGRAM and not dynamic:
        raise UsageError(
            f"{linked.output} came out as a static executable, in which our runtime cannot take "
            "the place of libc's thread functions",
            fix="link without -Wl,-static and -Wl,--no-dynamic-linker",
        )


def own_definitions(counted: share.Share) -> Sequence[tuple[str, str]]:
    """Files that define what the runtime takes over, with the names."""
    return [
        (each.name, ", ".join(sorted(map(os.fsdecode, each.defines))))
        for each in counted.counted
        if each.defines
    ]
