# SPDX-License-Identifier: Apache-2.0
"""Who takes too much is ended, and nobody else: of the machine's memory, or of a container's."""

from pathlib import Path

import pytest

from eitherway.sandbox.memory import Share

GIB = 1 << 30


def share(folder: Path, left: int, most: int | None = None, **group: str) -> Share:
    """On a machine of 16 GiB."""
    machine = folder / "meminfo"
    machine.write_text(f"MemTotal: {16 << 20} kB\nMemFree: 1 kB\nMemAvailable: {left >> 10} kB\n")
    for name, text in group.items():
        (folder / f"memory.{name}").write_text(text)
    return Share(most, machine, folder)


@pytest.mark.parametrize(
    ("took", "left", "exceeds"),
    [
        (8 * GIB, 8 * GIB, False),
        (8 * GIB + 1, 8 * GIB, True),
        (7 * GIB, 2 * GIB, False),
        (7 * GIB, 2 * GIB - 1024, True),  # another run has the rest
        (GIB, 0, False),  # somebody else has it all
        (GIB + 1, 0, True),
    ],
)
def test_a_run_has_its_share(tmp_path: Path, took: int, left: int, exceeds: bool) -> None:
    assert share(tmp_path, left).is_exceeded(took) is exceeds
    assert share(tmp_path, left, max="max\n").is_exceeded(took) is exceeds


def test_a_share_can_be_less(tmp_path: Path) -> None:
    small = share(tmp_path, 16 * GIB, most=GIB)
    assert (small.is_exceeded(GIB), small.is_exceeded(GIB + 1)) == (False, True)


@pytest.mark.parametrize(
    ("took", "used", "cached", "exceeds"),
    [
        (GIB + 1, GIB + 1, 0, True),
        (GIB - 1, 2 * GIB - 1, GIB, False),  # the cache can be had
        (GIB - 1, 2 * GIB - 1, 0, True),
    ],
)
def test_a_container_counts_as_the_machine(
    tmp_path: Path, took: int, used: int, cached: int, exceeds: bool
) -> None:
    stat = f"anon 1\ninactive_file {cached}\n"
    small = share(tmp_path, 16 * GIB, max=f"{2 * GIB}\n", current=f"{used}\n", stat=stat)
    assert small.is_exceeded(took) is exceeds


def test_this_machine_has_memory() -> None:
    assert not Share().is_exceeded(1 << 20)
