# SPDX-License-Identifier: Apache-2.0
"""Tools are handed out to one task at a time."""

from threading import Barrier

import pytest

from eitherway.engine.local import Workers


def test_each_task_has_a_tool_for_itself() -> None:
    meeting = Barrier(2, timeout=300)

    def task(tool: str) -> str:
        meeting.wait()  # both are under way
        return tool

    with Workers(["a", "b"]) as workers:
        assert workers.count == 2
        assert sorted(future.result() for future in [workers.submit(task) for _ in range(2)]) == [
            "a",
            "b",
        ]


def test_a_tool_is_free_again_after_a_task_that_failed() -> None:
    with Workers(["only"]) as workers:
        failed = workers.submit(lambda tool: tool.missing)  # type: ignore[attr-defined]
        assert workers.submit(str.upper).result(timeout=300) == "ONLY"
        assert isinstance(failed.exception(), AttributeError)


def test_there_must_be_something_to_work_with() -> None:
    with pytest.raises(ValueError, match="nothing to work with"):
        Workers([])
