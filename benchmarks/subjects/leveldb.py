# SPDX-License-Identifier: Apache-2.0
"""LevelDB, in a C++ program of ours: four std::threads and its own one that compacts."""

from pathlib import Path

from benchmarks.sources import PROGRAMS, Kit, built, compiled, do, linked, need, source

_DRIVER = PROGRAMS / "leveldb_threads.cc"


class LevelDb:
    """A library, and what uses it."""

    name = "leveldb"

    def build(self, kit: Kit) -> Path:
        """The library as CMake makes it."""
        return built(self.name, kit, self._recipe, _DRIVER)

    def _recipe(self, kit: Kit, folder: Path) -> Path:
        need("cmake", "cmake")
        tree = source("leveldb")
        settings = {
            "CMAKE_CXX_COMPILER": ";".join(kit.cxx),
            "CMAKE_C_COMPILER": ";".join(kit.cc),
            "CMAKE_CXX_FLAGS": " ".join(kit.flags),
            "LEVELDB_BUILD_TESTS": "OFF",
            "LEVELDB_BUILD_BENCHMARKS": "OFF",
        }
        made = folder / "library"
        options = [f"-D{name}={value}" for name, value in settings.items()]
        do(["cmake", "-S", str(tree), "-B", str(made), *options], folder)
        do(["make", "-s", "-j2", "-C", str(made), "leveldb"], folder)
        compiled(kit, [_DRIVER], folder, "-std=c++17", f"-I{tree / 'include'}")
        return linked(kit.cxx, folder / "leveldb_threads", str(made / "libleveldb.a"))
