# SPDX-License-Identifier: Apache-2.0
"""zstd with threads: its library in the program, as its own makefile has it."""

import shutil
from pathlib import Path

from benchmarks.sources import Kit, built, do, source


class Zstd:
    """The command."""

    name = "zstd"

    def build(self, kit: Kit) -> Path:
        """Without other formats and their libraries."""
        return built(self.name, kit, self._recipe)

    def _recipe(self, kit: Kit, folder: Path) -> Path:
        for part in ("lib", "programs"):
            shutil.copytree(source("libzstd") / part, folder / part)
        others = (
            "HAVE_ZLIB=0",
            "HAVE_LZMA=0",
            "HAVE_LZ4=0",
            "BACKTRACE=0",
            "ZSTD_LEGACY_SUPPORT=0",
        )
        settings = (f"CC={' '.join(kit.cc)}", f"CFLAGS={' '.join(kit.flags)}", *others)
        do(["make", "-s", "-j2", "-C", "programs", "zstd", *settings], folder)
        return folder / "programs" / "zstd"
