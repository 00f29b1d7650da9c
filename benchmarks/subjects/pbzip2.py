# SPDX-License-Identifier: Apache-2.0
"""pbzip2 with bzip2's own library compiled in: a reader, four compressors, a writer."""

import bz2
import shutil
from pathlib import Path

from benchmarks.sources import Kit, built, compiled, linked, source
from benchmarks.subjects.subject import Job, Size
from benchmarks.subjects.text import text

_LIBRARY = ("blocksort", "huffman", "crctable", "randtable", "compress", "decompress", "bzlib")
_PROGRAM = ("pbzip2", "BZ2StreamScanner", "ErrorContext")
_BYTES = {
    Size.FULL: 40_000_000,
    Size.SECOND: 25_000_000,
    Size.PART: 1_000_000,
    Size.SMALL: 1_001,
}
# Of one letter: long ones are little work for a block.
_RUN = {Size.FULL: 1, Size.SECOND: 1, Size.PART: 1, Size.SMALL: 200}


class Pbzip2:
    """Compresses text to standard output."""

    name = "pbzip2"

    def build(self, kit: Kit) -> Path:
        """Both sources in one program."""
        return built(self.name, kit, self._recipe, Path(__file__))

    def _recipe(self, kit: Kit, folder: Path) -> Path:
        library, program = source("bzip2"), self._source(folder)
        large = "-D_FILE_OFFSET_BITS=64"
        compiled(kit, [library / f"{name}.c" for name in _LIBRARY], folder, large)
        files = [program / f"{name}.cpp" for name in _PROGRAM]
        options = ("-std=gnu++98", f"-I{library}", "-DUSE_STACKSIZE_CUSTOMIZATION", large)
        compiled(kit, files, folder, *options)
        return linked(kit.cxx, folder / "pbzip2")

    def _source(self, _: Path) -> Path:
        return source("pbzip2")

    def job(self, program: Path, size: Size, folder: Path) -> Job:
        """Blocks of the least size, so that there is work for all threads."""
        file = text(_BYTES[size], run=_RUN[size])
        command = (str(program), "-c", "-k", "-p4", "-b1", str(file))
        return Job(command, folder, right=lambda out: bz2.decompress(out) == file.read_bytes())


class Pbzip2Unlocked(Pbzip2):
    """The same with one lock left out: who looks whether all was read does not take it."""

    name = "pbzip2-unlocked"

    def _source(self, folder: Path) -> Path:
        changed = shutil.copytree(source("pbzip2"), folder / "changed")
        file = changed / "pbzip2.cpp"
        code, look = file.read_text(encoding="utf-8"), "\tret = producerDone;\n"
        taken, given = (f"\tsafe_mutex_{do}lock(ProducerDoneMutex);\n" for do in ("", "un"))
        locked = f"{taken}{look}{given}"
        if code.count(locked) != 1:
            raise SystemExit("this pbzip2 is another one: the lock to leave out is not there")
        file.write_text(code.replace(locked, look), encoding="utf-8")
        return changed
