# SPDX-License-Identifier: Apache-2.0
"""Options that do not go together with our runtime: left out with a word, or refused."""

from collections.abc import Iterator

from eitherway.errors import UsageError
from eitherway.worlds.threads.cc.arguments import Argument, CommandLine, Kind, Stage

# Checks for undefined behaviour own neither memory nor threads. All else does, or is not known.
_COMPATIBLE = frozenset(
    """
    thread undefined alignment array-bounds bool bounds bounds-strict builtin enum
    float-cast-overflow float-divide-by-zero function implicit-bitfield-conversion
    implicit-conversion implicit-integer-arithmetic-value-change
    implicit-integer-sign-change implicit-integer-truncation
    implicit-signed-integer-truncation implicit-unsigned-integer-truncation integer
    integer-divide-by-zero local-bounds nonnull-attribute null nullability nullability-arg
    nullability-assign nullability-return object-size pointer-overflow return
    returns-nonnull-attribute shift shift-base shift-exponent signed-integer-overflow unreachable
    unsigned-integer-overflow unsigned-shift-base vla-bound vptr
    """.split()  # noqa: SIM905 # one name a line would hide the list
)
_OTHER_WIDTH = ("-m32", "-mx32", "-m16")
_LTO = ("-flto", "-fno-lto", "-ffat-lto-objects", "-fno-fat-lto-objects")
_ONLY_WITH_LTO = (
    "-fuse-linker-plugin",
    "-fwhole-program-vtables",
    "-fsplit-lto-unit",
    "-fvirtual-function-elimination",
)


def refuse(line: CommandLine, stage: Stage) -> None:
    """Raise `UsageError` for what cannot work."""
    _refuse_machine(line)
    _refuse_sanitizers(line)
    if stage is Stage.LINK and line.has("-static", "-static-pie"):
        raise UsageError(
            "our runtime takes the place of libc's thread functions at run time, which a static "
            "executable does not allow",
            fix="link without -static; -static-libgcc and -static-libstdc++ are fine",
        )


def _refuse_machine(line: CommandLine) -> None:
    for option in line.of(Kind.OPTION):
        target = option.words[-1].partition("=")[2] or option.words[-1]
        if option.value in _OTHER_WIDTH:
            wanted = option.value
        elif option.value.startswith(("--target=", "-target")) and "x86_64" not in target:
            wanted = " ".join(option.words)
        else:
            continue
        raise UsageError(f"{wanted}: our runtime knows 64-bit x86-64 only", fix=f"without {wanted}")


def _refuse_sanitizers(line: CommandLine) -> None:
    if wrong := sorted(sanitizers(line) - _COMPATIBLE):
        raise UsageError(
            f"-fsanitize={','.join(wrong)} does not go together with our runtime, which uses "
            "-fsanitize=thread",
            fix=f"build once more without -fsanitize={','.join(wrong)} for EitherWay",
        )


def sanitizers(line: CommandLine) -> set[str]:
    """Those that are on at the end of the command line; ours is not among them unless said."""
    active: set[str] = set()
    for option in line.of(Kind.OPTION):
        name, _, values = option.value.partition("=")
        if name == "-fsanitize":
            active.update(values.split(","))
        elif name == "-fno-sanitize":
            active = set() if "all" in values.split(",") else active - set(values.split(","))
    return active - {""}


def wants_lto(line: CommandLine) -> bool:
    """Whether link-time optimisation is on at the end of the command line."""
    flags = [o.value for o in line.of(Kind.OPTION) if o.value.split("=")[0] in _LTO[:2]]
    return bool(flags) and flags[-1] != "-fno-lto"


def without_lto(line: CommandLine) -> CommandLine:
    """Link-time optimisation runs after the compiler has left us out, so it cannot stay."""
    return line._replace(arguments=tuple(a for a in line.arguments if not _is_lto(a)))


def _is_lto(argument: Argument) -> bool:
    return argument.kind is Kind.OPTION and (
        argument.value.startswith(_LTO) or argument.value in _ONLY_WITH_LTO
    )


def for_link(arguments: tuple[Argument, ...]) -> Iterator[Argument]:
    """Without what would bring libtsan beside our runtime."""
    for argument in arguments:
        name, _, values = argument.value.partition("=")
        if argument.kind is Kind.OPTION and name == "-fsanitize":
            rest = [value for value in values.split(",") if value not in ("thread", "")]
            if rest:
                word = f"-fsanitize={','.join(rest)}"
                yield argument._replace(words=(word,), value=word)
        elif argument.value not in ("-static-libtsan", "-ltsan"):
            yield argument
