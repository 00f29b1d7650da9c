# SPDX-License-Identifier: Apache-2.0
"""Redis: one thread for commands, others for input and output and for what may take long."""

import shutil
from pathlib import Path

from benchmarks.sources import BARE, Kit, built, do, source


class Redis:
    """The server, and the clients that ask it."""

    name = "redis"

    def build(self, kit: Kit) -> Path:
        """With libc's allocator, which is the one that is looked at."""
        return built(self.name, kit, lambda kit, folder: _made(kit, folder, "redis-server"))

    def client(self, name: str) -> Path:
        """A program of the same package, bare."""
        return built(name, BARE, lambda kit, folder: _made(kit, folder, name))


def _made(kit: Kit, folder: Path, name: str) -> Path:
    """Its makefile builds beside the sources."""
    tree = folder / "redis"
    shutil.copytree(source("redis"), tree)
    settings = (
        f"CC={' '.join(kit.cc)}",
        f"OPTIMIZATION={' '.join(kit.flags)}",
        "MALLOC=libc",
        "BUILD_TLS=no",
        "USE_SYSTEMD=no",
    )
    do(["make", "-s", "-j2", "-C", "src", name, *settings], tree)
    return tree / "src" / name
