# SPDX-License-Identifier: Apache-2.0
"""What is read of a block that was given back is the same in a replay."""

from pathlib import Path

from eitherway.worlds.threads.build import build
from eitherway.worlds.threads.launch import Launch
from eitherway.worlds.threads.run import run

# The second word of a small block holds libc's mark for blocks that were given back.
SOURCE = r"""
#include <stdio.h>
#include <stdlib.h>
int main(void) {
    volatile unsigned long *block = malloc(24);
    block[1] = 0;
    free((void *)block);
    printf("%lx\n", block[1]);
    return 0;
}
"""


def test_a_mark_of_libc_is_the_same_in_each_run(tmp_path: Path) -> None:
    source = tmp_path / "freed.c"
    source.write_text(SOURCE, encoding="utf-8")
    build(source, tmp_path / "freed")
    launch = Launch.here([str(tmp_path / "freed")])
    first = run(launch, seed=1)
    assert first.out.size > len("0\n")
    assert run(launch, replay=first).differences(first) == []
    assert run(launch, seed=1).out.digest == first.out.digest
