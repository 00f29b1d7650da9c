# SPDX-License-Identifier: Apache-2.0
"""The probe built from the sources at hand, and `eitherway doctor` run under restrictions."""

import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

import pytest
from tests.machine.harness import UNDER, Doctor, RunDoctor, build_probe


@pytest.fixture(scope="session")
def open_folder() -> Iterator[Path]:
    """A folder that any user may enter and write, unlike pytest's own."""
    folder = Path(tempfile.mkdtemp(prefix="eitherway-test-", dir="/tmp"))
    folder.chmod(0o1777)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="session")
def probe(open_folder: Path) -> Path:
    """eitherway-probe, in a folder that can stand in for the package."""
    return build_probe(open_folder / "package" / "bin" / "eitherway-probe")


@pytest.fixture
def run_doctor(probe: Path, open_folder: Path) -> RunDoctor:
    """Run doctor in a process of its own; temporary files go to a folder that is then empty."""

    def run(
        *arguments: str,
        filter_name: str = "none",
        nobody: bool = False,
        environ: Mapping[str, str] = MappingProxyType({}),
    ) -> Doctor:
        if filter_name != "none" and platform.machine() != "x86_64":
            pytest.skip("the emulated filters have the call numbers of x86-64")
        temporary = Path(tempfile.mkdtemp(dir=open_folder))
        temporary.chmod(0o777)
        target = temporary / "doctor.json"
        user = "NOBODY" if nobody else "ROOT"
        base_command = [sys.executable, str(UNDER), str(probe.parent.parent), filter_name, user]
        base = {**os.environ, "TMPDIR": str(temporary), "COLUMNS": "80", "NO_COLOR": "1"}
        ran = subprocess.run(
            [*base_command, "doctor", "--json", str(target), *arguments],
            capture_output=True,
            text=True,
            env={**base, **environ},
            check=False,
        )
        document = json.loads(target.read_text()) if target.exists() else {}
        target.unlink(missing_ok=True)
        assert list(temporary.iterdir()) == [], "doctor leaves no files behind"
        return Doctor(ran.returncode, ran.stdout, ran.stderr, document)

    return run
