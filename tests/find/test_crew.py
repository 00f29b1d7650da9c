# SPDX-License-Identifier: Apache-2.0
"""Who works for a search comes to an end before the sandboxes do."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from eitherway.find.crew import Crew
from eitherway.find.ways import Batch
from eitherway.sandbox.box import Sandbox
from eitherway.worlds.threads.build import build
from eitherway.worlds.threads.course import Plan
from eitherway.worlds.threads.launch import Launch

PROGRAMS = Path(__file__).parent / "programs"


def test_nobody_is_at_work_when_a_sandbox_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else it would be asked for another server, and say that it has ended."""
    build(PROGRAMS / "endings.c", tmp_path / "endings")
    launch = Launch.here([str(tmp_path / "endings"), "never"])
    seen: list[str] = []
    close, shutdown = Sandbox.close, ThreadPoolExecutor.shutdown

    def closed(box: Sandbox) -> None:
        seen.append("closed")
        close(box)

    def waited(pool: ThreadPoolExecutor, wait: bool = True, **options: Any) -> None:
        shutdown(pool, wait=wait, **options)
        seen.extend(["waited"] * wait)

    monkeypatch.setattr(Sandbox, "close", closed)
    monkeypatch.setattr(ThreadPoolExecutor, "shutdown", waited)
    with Crew(launch, plan=Plan(), threads=0, jobs=2) as crew:
        endless = Batch("random-walk", range(1))
        results = crew.results([lambda: iter(()), endless, endless, endless])
        crew.hurry(0.0)  # the first one is cut off, and the others are under way
        assert next(results)[0] is endless
        results.close()
    assert seen == ["waited", "closed", "closed", "closed"]
