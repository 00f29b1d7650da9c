# SPDX-License-Identifier: Apache-2.0
"""xz with four threads and its own liblzma, configured and made as its users do."""

import lzma
from pathlib import Path

from benchmarks.sources import Kit, built, configured, do, source
from benchmarks.subjects.subject import Job, Size
from benchmarks.subjects.text import text

_OPTIONS = (
    "--disable-shared",
    "--disable-nls",
    "--disable-doc",
    "--disable-scripts",
    "--disable-xzdec",
    "--disable-lzmadec",
    "--disable-lzmainfo",
)
_BYTES = {
    Size.FULL: 24_000_000,
    Size.SECOND: 20_000_000,
    Size.PART: 1_000_000,
    Size.SMALL: 10_000,
}
_BLOCK = {Size.FULL: 500_000, Size.SECOND: 500_000, Size.PART: 200_000, Size.SMALL: 2_000}


class Xz:
    """Compresses text to standard output."""

    name = "xz"

    def build(self, kit: Kit) -> Path:
        """A static liblzma, so that all of its code is instrumented."""
        return built(self.name, kit, self._recipe)

    def _recipe(self, kit: Kit, folder: Path) -> Path:
        return _made(source("xz-utils"), kit, folder)

    def job(self, program: Path, size: Size, folder: Path) -> Job:
        """Blocks small enough that there are several for each thread."""
        file = text(_BYTES[size])
        command = (str(program), "-c", "-k", "-T4", "-2", f"--block-size={_BLOCK[size]}", str(file))
        return Job(command, folder, right=lambda out: lzma.decompress(out) == file.read_bytes())


class XzReleased:
    """The same version as its makers released it: what Debian mended since is broken in it."""

    name = "xz-released"

    def build(self, kit: Kit) -> Path:
        """From the archive that Debian began with."""
        return built(self.name, kit, self._recipe)

    def _recipe(self, kit: Kit, folder: Path) -> Path:
        archive = next(source("xz-utils").parent.glob("*.orig.tar.*z"))
        do(["tar", "--extract", "--file", str(archive)], folder)
        return _made(next(folder.glob("xz-*")), kit, folder)


def _made(tree: Path, kit: Kit, folder: Path) -> Path:
    configured(tree, kit, folder, *_OPTIONS)
    do(["make", "-s", "-j2", "-C", "src"], folder)
    return folder / "src" / "xz" / "xz"
