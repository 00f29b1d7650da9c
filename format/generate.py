# SPDX-License-Identifier: Apache-2.0
"""Writes both sides of the format from its one description: `python format/generate.py [--check]`.

With --check nothing is written; the exit status says whether what is checked in is up to date.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "src")]  # the numbers of operation kinds are the model's

from format import calls, description, to_c, to_markdown, to_python  # noqa: E402

HEADER = ROOT / "native" / "recording" / "eitherway_format.h"
CRC_TABLE = ROOT / "native" / "recording" / "crc32_table.h"
MODULE = ROOT / "src" / "eitherway" / "recording" / "layout.py"
PAGE = ROOT / "docs" / "recording-format.md"
CALL_TABLE_C = ROOT / "native" / "tracer" / "call_table.h"
CALL_TABLE = ROOT / "src" / "eitherway" / "worlds" / "processes" / "call_table.py"
CALL_PAGE = ROOT / "docs" / "processes.md"


def generated() -> dict[Path, str]:
    """What each generated file should hold."""
    form, table = description.read(), calls.read()
    return {
        HEADER: to_c.render(form),
        CRC_TABLE: to_c.render_crc_table(form),
        MODULE: to_python.render(form),
        PAGE: to_markdown.fill(PAGE.read_text(encoding="utf-8"), form),
        CALL_TABLE_C: calls.to_c(table),
        CALL_TABLE: calls.to_python(table),
        CALL_PAGE: to_markdown.marked(
            CALL_PAGE.read_text(encoding="utf-8"), {"calls": calls.to_markdown(table)}
        ),
    }


def stale(files: dict[Path, str]) -> list[Path]:
    """The files that hold something else."""
    return [
        path
        for path, text in files.items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    ]


def main(arguments: list[str]) -> int:
    """Writes what is out of date, or names it."""
    files = generated()
    for path in stale(files):
        print(path.relative_to(ROOT))
        if "--check" not in arguments:
            path.write_text(files[path], encoding="utf-8")
    return int("--check" in arguments and bool(stale(files)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
