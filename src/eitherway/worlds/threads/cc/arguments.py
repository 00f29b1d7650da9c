# SPDX-License-Identifier: Apache-2.0
"""A compiler's command line, word by word: which words belong together and what each one is.

Written for what gcc and clang have in common. What is not known here is an option that stands
alone, and goes to the compiler as it is.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum, auto
from typing import NamedTuple

from eitherway.errors import UsageError


class Kind(Enum):
    """What an argument is to us."""

    OPTION = auto()
    SOURCE = auto()  # something to compile
    OBJECT = auto()  # something that only the linker reads: object, archive, library, script
    LIBRARY = auto()  # -lNAME, -L DIRECTORY
    LINKER = auto()  # one word for the linker, from -Wl, -Xlinker or -z
    OUTPUT = auto()
    LANGUAGE = auto()  # -x


class Argument(NamedTuple):
    """One argument with the words it came as."""

    kind: Kind
    words: tuple[str, ...]
    value: str = ""
    language: str = ""  # of a SOURCE: what -x said, "" when the name says it

    @property
    def is_assembly(self) -> bool:
        """Whether it is a SOURCE that is only assembled."""
        ending = os.path.splitext(self.value)[1]
        return self.language.startswith("assembler") or (not self.language and ending in _ASSEMBLY)


class Stage(Enum):
    """How far the compiler is to go."""

    ASK = auto()  # it answers a question, or has nothing to work on
    COMPILE = auto()  # up to an object file, or less
    LINK = auto()


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Options whose value is the next word. Those with a value in the same word need no table.
_VALUED = _set("""
    -A -B -D -F -G -I -L -MF -MJ -MQ -MT -T -Tbss -Tdata -Ttext -U -Xanalyzer -Xassembler -Xclang
    -Xlinker -Xpreprocessor -arch -aux-info -dumpbase -dumpbase-ext -dumpdir -e -framework -h
    -idirafter -iframework -imacros -imultiarch -imultilib -include -include-pch -iprefix -iquote
    -isysroot -isystem -ivfsoverlay -iwithprefix -iwithprefixbefore -l -mllvm -o -rpath
    -serialize-diagnostics -specs -target -u -working-directory -wrapper -x -z --assert --config
    --define-macro --embed-dir --entry --for-assembler --for-linker --imacros --include
    --include-directory --include-directory-after --include-prefix --include-with-prefix
    --include-with-prefix-after --include-with-prefix-before --language --library-directory --output
    --param --serialize-diagnostics --specs --sysroot --undefine-macro
""")
_LONG = {
    "--output": "-o",
    "--language": "-x",
    "--for-linker": "-Xlinker",
    "--library-directory": "-L",
    "--compile": "-c",
    "--assemble": "-S",
    "--preprocess": "-E",
    "--shared": "-shared",
    "--static": "-static",
    "--static-pie": "-static-pie",
    "--pie": "-pie",
    "--no-pie": "-no-pie",
    "--dependencies": "-M",
    "--user-dependencies": "-MM",
}
_QUESTIONS = _set("""
    --version --help --target-help -dumpversion -dumpfullversion -dumpmachine -dumpspecs -cc1 -cc1as
""")
_QUESTION_STARTS = ("-print-", "--print-", "--help=")
_NO_LINK = _set("-c -S -E -M -MM -fsyntax-only --precompile -emit-ast --analyze -emit-pch")
_SOURCES = _set("""
    .c .i .ii .cc .cp .cxx .cpp .CPP .c++ .C .cppm .ixx .m .mi .mm .M .mii .s .S .sx .asm
    .f .F .for .FOR .ftn .fpp .FPP .FTN .f90 .F90 .f95 .F95 .f03 .F03 .f08 .F08
    .adb .ads .d .di .go
""")
_ASSEMBLY = _set(".s .S .sx .asm")
_HEADERS = _set(".h .hh .H .hp .hxx .hpp .HPP .h++ .tcc")


class CommandLine(NamedTuple):
    """All arguments in their order, `@file` arguments already replaced by what they hold."""

    arguments: tuple[Argument, ...]
    from_file: bool  # some of it came from a file, so it may be too long for a command line

    def of(self, kind: Kind) -> Iterator[Argument]:
        """Those of one kind."""
        return (argument for argument in self.arguments if argument.kind is kind)

    def has(self, *options: str) -> bool:
        """Whether an option is given that stands alone."""
        return any(argument.value in options for argument in self.of(Kind.OPTION))

    @property
    def output(self) -> str:
        """What -o names; "" when it is not given."""
        return next((argument.value for argument in reversed(tuple(self.of(Kind.OUTPUT)))), "")

    @property
    def stage(self) -> Stage:
        """What the compiler is asked for."""
        options = {argument.value for argument in self.of(Kind.OPTION)}
        inputs = [a for a in self.arguments if a.kind in (Kind.SOURCE, Kind.OBJECT)]
        libraries = any(argument.value.startswith("-l") for argument in self.of(Kind.LIBRARY))
        if options & _QUESTIONS or any(o.startswith(_QUESTION_STARTS) for o in options):
            return Stage.ASK
        if not inputs and not libraries:
            return Stage.ASK
        if options & _NO_LINK or (inputs and all(map(_is_header, inputs))):
            return Stage.COMPILE
        return Stage.LINK


def parse(words: Sequence[str]) -> CommandLine:
    """Read a command line. Raises `UsageError` for an option that lacks its value."""
    expanded = list(_expand(words, depth=0))
    return CommandLine(tuple(_arguments(expanded)), from_file=expanded != list(words))


def _arguments(words: Sequence[str]) -> Iterator[Argument]:
    rest = iter(words)
    language = ""
    for word in rest:
        name, joined, value = _split_long(word)
        if name in _VALUED and not joined:
            following = next(rest, None)
            if following is None:
                raise UsageError(f"the compiler's option {word} lacks its value")
            given: tuple[str, ...] = (word, following)
            value = following
        else:
            given = (word,)
        for argument in _argument(name, given, value, language):
            if argument.kind is Kind.LANGUAGE:
                language = "" if argument.value == "none" else argument.value
            yield argument


def _argument(name: str, words: tuple[str, ...], value: str, language: str) -> Iterator[Argument]:
    if not name.startswith("-") or name == "-":
        kind = Kind.SOURCE if language or _is_source(name) else Kind.OBJECT
        yield Argument(kind, words, name, language)
    elif name == "-o" or (name.startswith("-o") and len(words) == 1):
        yield Argument(Kind.OUTPUT, words, value or name[2:])
    elif name == "-x" or (name.startswith("-x") and len(words) == 1):
        yield Argument(Kind.LANGUAGE, words, value or name[2:])
    elif name.startswith("-Wl,"):
        yield from (Argument(Kind.LINKER, words, each) for each in name[4:].split(","))
    elif name == "-Xlinker":
        yield Argument(Kind.LINKER, words, value)
    elif name.startswith("-z"):
        yield Argument(Kind.LINKER, words, "-z")
        yield Argument(Kind.LINKER, words, value or name[2:])
    elif name.startswith(("-l", "-L")):
        yield Argument(Kind.LIBRARY, words, "".join(words))
    else:
        yield Argument(Kind.OPTION, words, name)


def _split_long(word: str) -> tuple[str, bool, str]:
    """`--output=x` is `-o x`: the option's short name, whether its value is joined, the value."""
    name, equals, value = word.partition("=")
    if name in _LONG:
        return _LONG[name], bool(equals), value
    return word, False, ""


def _is_source(name: str) -> bool:
    if name == "-":
        return True  # only with -E, or the compiler itself says that -x is missing
    extension = os.path.splitext(name)[1]
    return extension in _SOURCES or extension in _HEADERS


def _is_header(argument: Argument) -> bool:
    if argument.language:
        return argument.language.endswith("-header")
    return os.path.splitext(argument.value)[1] in _HEADERS


# --- response files


def _expand(words: Iterable[str], depth: int) -> Iterator[str]:
    """Replace `@file`; one that cannot be read is a word like any other, as for the compilers."""
    for word in words:
        text = _read(word[1:]) if word.startswith("@") and len(word) > 1 else None
        if text is None:
            yield word
        elif depth == 100:
            raise UsageError(f"{word} includes itself")
        else:
            yield from _expand(_unquote(text), depth + 1)


def _read(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.read()
    except OSError:
        return None


def _unquote(text: str) -> Iterator[str]:
    """Words are separated by white space; quotes of both kinds, and a backslash quotes anywhere."""
    word: list[str] = []
    inside = False  # of a word, which may still be empty: ""
    quote = ""
    characters = iter(text)
    for character in characters:
        if not quote and character.isspace():
            if inside:
                yield "".join(word)
            word, inside = [], False
            continue
        inside = True
        if character == "\\":
            word.append(next(characters, ""))
        elif character == quote:
            quote = ""
        elif not quote and character in "'\"":
            quote = character
        else:
            word.append(character)
    if inside:
        yield "".join(word)


def quote(words: Iterable[str]) -> str:
    """What, put into a response file, gives these words."""
    return "".join(f'"{_escape(word)}"\n' for word in words)


def _escape(word: str) -> str:
    return word.replace("\\", "\\\\").replace('"', '\\"')
