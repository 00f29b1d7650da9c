# SPDX-License-Identifier: Apache-2.0
"""Libraries of the user's are part of what was recorded: with another build it is another run."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from eitherway.errors import BadInput
from eitherway.recording.read import Recording
from eitherway.recording.store import Store
from eitherway.worlds.threads.launch import Launch
from eitherway.worlds.threads.recorded import Recorded, load, save
from eitherway.worlds.threads.run import run

PROGRAM = r"""
#include <dlfcn.h>
#include <stdio.h>
int linked(void);
int main(void) {
    void *late = dlopen("./late.so", RTLD_NOW);
    int (*loaded)(void) = (int (*)(void))dlsym(late, "loaded");
    printf("%d %d\n", linked(), loaded());
}
"""


def library(folder: Path, name: str, function: str, value: int) -> None:
    source = folder / f"{name}.c"
    source.write_text(f"int {function}(void) {{ return {value}; }}\n", encoding="ascii")
    built = folder / f"{name}.so"
    compiler = shutil.which("gcc")
    assert compiler
    subprocess.run([compiler, "-shared", "-fPIC", source, "-o", built], check=True)


@pytest.mark.parametrize(("name", "function"), [("early", "linked"), ("late", "loaded")])
def test_a_library_that_was_rebuilt_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, function: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "program.c").write_text(PROGRAM, encoding="utf-8")
    library(tmp_path, "early", "linked", 1)
    library(tmp_path, "late", "loaded", 2)
    objects = ["program.c", "-o", "program", "-L.", "-l:early.so", "-Wl,-rpath,$ORIGIN"]
    subprocess.run([sys.executable, "-m", "eitherway", "cc", *objects], check=True)
    launch = Launch.here(["./program"])
    first = run(launch)
    assert first.out.beginning == b"1 2\n", first.err.beginning
    path = save(Recorded(launch, first), Store(tmp_path / "store"))
    with Recording.open(path) as recording:
        noted = {os.path.basename(file) for file in recording.manifest.build_ids}
        assert noted == {"program", "early.so", "late.so"}
        again = load(recording)
    assert run(again.launch, replay=again.ran).differences(first) == []
    library(tmp_path, name, function, 3)
    with Recording.open(path) as recording, pytest.raises(BadInput, match=f"build of .*{name}"):
        load(recording)
