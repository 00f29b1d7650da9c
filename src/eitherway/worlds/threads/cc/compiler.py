# SPDX-License-Identifier: Apache-2.0
"""The compiler behind `eitherway cc`: which one, of which family, and what it is told."""

import os
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from enum import Enum
from typing import NamedTuple

from eitherway.errors import Unavailable, UsageError
from eitherway.installed import native
from eitherway.worlds.threads.cc.arguments import Argument, CommandLine
from eitherway.worlds.threads.cc.spawn import Child


class Language(NamedTuple):
    """One of the two verbs."""

    verb: str
    variable: str  # of the environment, names the compiler
    names: tuple[str, ...]  # tried in this order without it
    package: str


C = Language("cc", "EITHERWAY_CC", ("gcc", "clang", "cc"), "gcc")
CXX = Language("c++", "EITHERWAY_CXX", ("g++", "clang++", "c++"), "g++")


class Family(Enum):
    """Whose command line it understands."""

    GCC = "gcc"
    CLANG = "clang"


# No tail calls: a frame that is gone could not be named.
CODE = ("-fsanitize=thread", "-fno-optimize-sibling-calls")
# gcc writes short copies and comparisons out, and then tells nobody; a call is told.
_CALLED = (
    *("memcpy", "memmove", "mempcpy", "memset", "memcmp", "bcopy", "bzero", "bcmp"),
    *("strcpy", "strncpy", "stpcpy", "stpncpy", "strcat", "strncat", "strcmp", "strncmp"),
)
# Of a variable on the stack clang leaves out what it does by itself, unless somebody else may have
# its address; of a part of one it asks whether somebody has the address of that part, which is
# another question. With no look allowed it takes it that somebody has: then all of it is told.
_PARTS = ("-mllvm", "-capture-tracking-max-uses-to-explore=0")
# Of a load and a store behind it to the same place clang tells only the store: nobody could come
# before the load then, and what was looked at before that could not have changed.
_LOADS = ("-mllvm", "-tsan-instrument-read-before-write")
_COMPILE = {
    # gcc warns that libtsan does not know fences, which -Werror would make an error; our runtime
    # is not libtsan.
    Family.GCC: (*CODE, *(f"-fno-builtin-{name}" for name in _CALLED), "-Wno-tsan"),
    Family.CLANG: (*CODE, *_PARTS, *_LOADS),
}
# native/assembler/as.c reads them: which is the real one, or clang, which is one itself.
_ASSEMBLER, _CLANG = "EITHERWAY_AS", "EITHERWAY_CLANG"
# Options with which clang has to be its own assembler without ours in between: in Intel's syntax
# there is nothing that ours could do, and not every name of the user's can be written; the others
# it knows only then, and the trace of the time would lie beside a temporary file.
_NEEDS_OWN = ("-masm=intel", "-mrelax-all", "-ftime-trace")
_LAUNCHERS = frozenset(("ccache", "distcc", "icecc", "sccache"))


class Compiler(NamedTuple):
    """The user's compiler."""

    words: tuple[str, ...]  # the command; more than one word with a launcher such as ccache
    family: Family

    def compile_flags(self, line: CommandLine, sources: Iterable[Argument]) -> tuple[str, ...]:
        """What makes it generate code for our runtime. The user's own options come after."""
        header = ("-idirafter", str(native("include/eitherway.h").parent))
        assembler = ("-B", str(native("assembler/as").parent))  # puts hooks in place of calls
        flags = (*header, *_COMPILE[self.family], *assembler)
        if self.family is Family.GCC:
            return flags
        # With an assembler of its own, clang knows more of the user's options for what is in
        # assembly, and warns of the others: so it has to be its own there.
        own = line.has(*_NEEDS_OWN) or any(source.is_assembly for source in sources)
        outside = () if own else ("-fno-integrated-as",)
        # It warns of options that a call does not need, such as these for an assembler file.
        return ("--start-no-unused-arguments", *flags, *outside, "--end-no-unused-arguments")

    def name_assembler(self, options: Iterable[str], environment: MutableMapping[str, str]) -> None:
        """Tell ours which the real one is, where that may not be the `as` on the PATH.

        gcc is asked, which takes as long as to start it: when `-B` is among the options, or when
        gcc and the `as` on the PATH do not lie in one folder.
        """
        environment.pop(_ASSEMBLER, None)
        environment.pop(_CLANG, None)
        path = environment.get("PATH", os.defpath)
        if self.family is Family.CLANG:
            environment[_CLANG] = _clang(self.words, path)
            return
        prefixes = list(_prefixes(options))
        gcc, usual = (os.path.realpath(_which(name, path)) for name in (self.words[-1], "as"))
        if not prefixes and os.path.dirname(gcc) == os.path.dirname(usual):
            return
        status, text = Child([*self.words, *prefixes, "-print-prog-name=as"], capture=True).finish()
        if status == 0 and b"/" in text:  # not the bare name
            environment[_ASSEMBLER] = os.fsdecode(text.rstrip(b"\n"))

    def ask_version(self) -> Child:
        """Starts asking; `version` reads the answer. clang is slow to answer, linking is too."""
        return Child([*self.words, "-dumpfullversion", "-dumpversion"], capture=True)

    def version(self, asked: Child) -> str:
        """Such as "gcc 12.2.0"; without a number when it does not tell."""
        status, text = asked.finish()
        number = text.decode(errors="replace").split()
        return f"{self.family.value} {number[0]}" if status == 0 and number else self.family.value


def find(language: Language, environment: Mapping[str, str]) -> Compiler:
    """The compiler that the environment names, or what the machine has."""
    path = environment.get("PATH", os.defpath)
    if named := environment.get(language.variable, ""):
        words = _named(language, named, path)
    else:
        words = tuple(name for name in language.names if _which(name, path))[:1]
    if not words:
        first, second, _ = language.names
        raise Unavailable(
            f"eitherway {language.verb} needs {first} or {second}, and neither is on the PATH",
            fix=f"apt-get install {language.package}",
        )
    return Compiler(words, _family(words, path))


def _prefixes(options: Iterable[str]) -> Iterator[str]:
    """Those that name folders of programs, in one word or two."""
    rest = iter(options)
    for word in rest:
        if word.startswith("-B"):
            yield word if word != "-B" else f"-B{next(rest, '')}"


def _named(language: Language, named: str, path: str) -> tuple[str, ...]:
    import shlex  # only here: most calls have one word, or none

    try:
        words = shlex.split(named)
    except ValueError as problem:
        raise UsageError(f"{language.variable}={named!r}: {problem}") from None
    if not words:
        raise UsageError(f"{language.variable} is set, but names no compiler")
    if not _which(words[0], path):
        raise UsageError(f"{language.variable}={named}: there is no program {words[0]}")
    if os.path.basename(words[0]) == "eitherway":
        raise UsageError(
            f"{language.variable}={named} would call itself: name the compiler behind it",
            fix=f"{language.variable}={language.names[0]}",
        )
    return tuple(words)


def _family(words: tuple[str, ...], path: str) -> Family:
    """By the name of the file behind all links; a compiler with another name is asked."""
    launched = len(words) > 1 and os.path.basename(words[0]) in _LAUNCHERS
    program = _which(words[1] if launched else words[0], path)
    name = os.path.basename(os.path.realpath(program))
    if "clang" in name:
        return Family.CLANG
    if "gcc" in name or "g++" in name:
        return Family.GCC
    status, text = Child([*words, "--version"], capture=True).finish()
    if status != 0:
        raise UsageError(f"{' '.join(words)} --version fails: it is no compiler we know")
    return Family.CLANG if b"clang" in text else Family.GCC


def _clang(words: tuple[str, ...], path: str) -> str:
    """The one among the words; launchers come before it, options of the user's after."""
    found = [program for word in words if word[:1] != "-" and (program := _which(word, path))]
    named = [program for program in found if "clang" in os.path.basename(program)]
    return (named or found or [""])[-1]


def _which(name: str, path: str) -> str:
    """Where a program is; "" when it is not."""
    places = [name] if "/" in name else [os.path.join(d or ".", name) for d in path.split(":")]
    return next((p for p in places if os.access(p, os.X_OK) and os.path.isfile(p)), "")
