# SPDX-License-Identifier: Apache-2.0
"""Where a module keeps its variables: not what the loader and the compiler keep beside them."""

from functools import lru_cache

from eitherway.elf import ElfError, Section, SectionFlag, SectionKind, opened
from eitherway.symbols.files import File, file_at

# Written when the module is loaded, when a function is called for the first time, or by nobody.
_OF_THE_LOADER = frozenset(
    {b".got", b".got.plt", b".dynamic", b".data.rel.ro", b".init_array", b".fini_array"}
)
_MEANING = SectionFlag.WRITABLE | SectionFlag.LOADED
_KINDS = (SectionKind.BITS, SectionKind.NO_BITS)

Ranges = tuple[tuple[int, int], ...]  # addresses [low, high) of the ELF file


def data_of(module: str) -> Ranges:
    """In order; nothing of what is no ELF file, or has no sections."""
    return _read(file_at(module))


@lru_cache(maxsize=256)
def _read(file: File) -> Ranges:
    try:
        with opened(file.path) as elf:
            sections = [section for section in elf.sections if _is_data(section)]
    except (ElfError, OSError):
        return ()
    return tuple(sorted((each.address, each.address + each.size) for each in sections))


def _is_data(section: Section) -> bool:
    relevant = section.flags & (_MEANING | SectionFlag.THREAD_LOCAL)
    named = section.name not in _OF_THE_LOADER
    return section.kind in _KINDS and relevant == _MEANING and section.size > 0 and named
