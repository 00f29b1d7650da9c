# SPDX-License-Identifier: Apache-2.0
"""One call of `eitherway cc` or `eitherway c++`, from the command line to the exit status.

A question goes to the compiler as it is. What ends before the linker is one call of the compiler
with our options added, which replaces this process. A link is more: sources are compiled first,
each by a call of its own, because a compiler that does both in one call with -fsanitize=thread
would link its own runtime.
"""

import os
import signal
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from eitherway.errors import Problem
from eitherway.worlds.threads.cc import rules
from eitherway.worlds.threads.cc.arguments import Argument, CommandLine, Kind, Stage, parse, quote
from eitherway.worlds.threads.cc.compiler import Compiler, Family, Language, find
from eitherway.worlds.threads.cc.spawn import Child, TemporaryFolder, become

if TYPE_CHECKING:
    from eitherway.worlds.threads.cc import link


def run(language: Language, words: Sequence[str]) -> int:
    """Do what the command line asks; the exit status. Often does not return."""
    compiler = find(language, os.environ)
    line = parse(words)
    stage = line.stage
    if stage is Stage.ASK:
        return become([*compiler.words, *words])
    rules.refuse(line, stage)
    options = (word for option in line.of(Kind.OPTION) for word in option.words)
    compiler.name_assembler(options, os.environ)
    cleaned = _without_lto(line, language)
    if stage is Stage.LINK:
        return _Link(language, compiler, cleaned).run()
    flags = compiler.compile_flags(line, line.of(Kind.SOURCE))
    if cleaned is line:
        return become([*compiler.words, *flags, *words])
    rest = [word for argument in _whole(cleaned) for word in argument.words]
    with TemporaryFolder() as folder:
        command = _command(compiler, [*flags, *rest], cleaned, folder)
        return Child(command).finish()[0]


def _without_lto(line: CommandLine, language: Language) -> CommandLine:
    if not rules.wants_lto(line):
        return line
    warn(language, "-flto is left out: it would lose the instrumentation at link time")
    return rules.without_lto(line)


def warn(language: Language, text: str) -> None:
    """Say something beside the compiler's own words."""
    print(f"eitherway {language.verb}: warning: {text}", file=sys.stderr, flush=True)


def _stem(path: str) -> str:
    return os.path.splitext(os.path.basename(path))[0]


def _whole(line: CommandLine) -> list[Argument]:
    """One argument for each that the user gave: `-Wl,a,b` was split into two."""
    kept: list[Argument] = []
    for argument in line.arguments:
        if not kept or argument.kind is not Kind.LINKER or argument.words is not kept[-1].words:
            kept.append(argument)
    return kept


def _command(
    compiler: Compiler, words: list[str], line: CommandLine, folder: TemporaryFolder
) -> list[str]:
    """The words of a call; by way of a file where the user needed one."""
    if not line.from_file:
        return [*compiler.words, *words]
    path = folder.file(f"arguments-{os.urandom(4).hex()}")
    with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(quote(words))
    return [*compiler.words, f"@{path}"]


class _Link:
    """A call that goes up to the linker."""

    def __init__(self, language: Language, compiler: Compiler, line: CommandLine) -> None:
        self.language = language
        self.compiler = compiler
        self.line = line

    def run(self) -> int:
        signal.signal(signal.SIGTERM, _leave)  # so that no temporary file stays
        with TemporaryFolder() as folder:
            status, objects = self._compile(folder)
            return status or self._link(folder, objects)

    def _compile(self, folder: TemporaryFolder) -> tuple[int, dict[Argument, str]]:
        """Compile all sources, also after one has failed, as the compilers do."""
        objects: dict[Argument, str] = {}
        failed = 0
        for number, source in enumerate(self.line.of(Kind.SOURCE)):
            objects[source] = folder.file(f"{number}-{_stem(source.value)}.o")
            words = [*self._source_words(source), "-o", objects[source]]
            command = _command(self.compiler, words, self.line, folder)
            failed = Child(command).finish()[0] or failed
        return failed, objects

    def _source_words(self, source: Argument) -> list[str]:
        words = list(self.compiler.compile_flags(self.line, [source]))
        for option in self.line.of(Kind.OPTION):
            if not option.value.startswith("-gsplit-dwarf"):  # beside an object that is gone
                words += option.words
        words += self._beside(source)
        language = ("-x", source.language) if source.language else ()
        return [*words, "-c", *language, source.value]

    def _beside(self, source: Argument) -> list[str]:
        """Files that the compiler writes beside its output belong beside the user's, not ours."""
        output, stem = self.line.output, _stem(source.value)
        words: list[str] = []
        if self.compiler.family is Family.GCC:
            name = os.path.basename(source.value)  # not that of the object
            ending = os.path.splitext(name)[1]
            words += ["-dumpdir", self._prefix(stem), "-dumpbase", name, "-dumpbase-ext", ending]
        else:
            words += ["-Qunused-arguments"]  # those for the linker
            words += self._coverage_files(stem)
        if self.line.has("-MD", "-MMD"):
            words += [] if self._given("-MF") else ["-MF", self._dependency_file(stem)]
            words += [] if self._given("-MT", "-MQ") else ["-MQ", output or f"{stem}.o"]
        return words

    def _prefix(self, stem: str) -> str:
        """gcc's: the program's name, but for a program of one file that is called like it."""
        output = self.line.output or "a"
        inputs = [*self.line.of(Kind.SOURCE), *self.line.of(Kind.OBJECT)]
        if len(inputs) == 1 and _stem(output) == stem:
            return os.path.join(os.path.dirname(output) or ".", "")
        return f"{output}-"

    def _coverage_files(self, stem: str) -> list[str]:
        """clang's: it writes one when it compiles, and the program one when it ends."""
        if not self.line.has("--coverage", "-coverage", "-ftest-coverage", "-fprofile-arcs"):
            return []
        path = os.path.abspath(f"{self._prefix(stem)}{stem}")
        files = (f"-coverage-notes-file={path}.gcno", f"-coverage-data-file={path}.gcda")
        return [word for file in files for word in ("-Xclang", file)]

    def _dependency_file(self, stem: str) -> str:
        if self.line.output:
            return f"{os.path.splitext(self.line.output)[0]}.d"
        prefix = self._prefix(stem) if self.compiler.family is Family.GCC else ""
        return f"{prefix}{stem}.d"

    def _given(self, *names: str) -> bool:
        return any(option.value.startswith(names) for option in self.line.of(Kind.OPTION))

    def _link(self, folder: TemporaryFolder, objects: dict[Argument, str]) -> int:
        # Late: what is only compiled does not pay for it.
        from eitherway.worlds.threads.cc import link

        product = link.product(self.line)
        if product is link.Product.PROGRAM:
            link.refuse(self.line)
        words = link.words(self.line, product, objects)
        command = _command(self.compiler, words, self.line, folder)
        if product is link.Product.PART:
            return Child(command).finish()[0]
        version = self.compiler.ask_version()
        status, text = Child(command, capture=True).finish()
        trace = link.tell(text, self.line)
        names = {path: source.value for source, path in objects.items()}
        linked = link.Linked(product, self.line.output or "a.out", trace, names)
        return self._finish(linked, status, self.compiler.version(version))

    def _finish(self, linked: "link.Linked", status: int, compiler: str) -> int:
        from eitherway.worlds.threads.cc import link

        if status != 0:
            link.explain(self.line)
            return status
        if not linked.trace or not link.is_binary(linked.output):
            return 0  # nothing was linked (-###, -Wl,--version), or it went to /dev/null
        try:
            counted = link.count(linked)
            link.refuse_static(linked)
        except Problem:
            os.unlink(linked.output)
            raise
        for file, names in link.own_definitions(counted):
            warn(self.language, f"{file} defines {names} itself: calls of these are not controlled")
        if not link.stamp(linked, counted, compiler):
            warn(
                self.language, "the linker script leaves out .note.eitherway: no verb will take it"
            )
        return 0


def _leave(number: int, _frame: object) -> None:
    sys.exit(128 + number)
