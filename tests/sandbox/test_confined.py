# SPDX-License-Identifier: Apache-2.0
"""Whether the number of processes is limited where anything may run, and that it is said."""

from typing import Any

import pytest

from eitherway.errors import Unavailable
from eitherway.sandbox import confined as module
from eitherway.sandbox.box import Sandbox
from eitherway.sandbox.isolation import ALL, Limits

UNLIMITED = "number of processes: not limited"


def test_a_limit_that_is_kept_needs_no_words() -> None:
    try:
        Sandbox(limits=Limits(processes=module.PROCESSES), require=()).close()
    except Unavailable:
        pytest.skip("root's processes cannot be counted by this kernel")
    with module.confined() as box:
        assert not box.isolation.unlimited
        assert UNLIMITED not in str(box.isolation)


def test_a_limit_that_cannot_be_kept_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def refusing(*, limits: Limits, **options: Any) -> Sandbox:
        if limits.processes is not None:
            raise Unavailable("root's processes are not counted")
        return Sandbox(limits=limits, **options)

    monkeypatch.setattr(module, "Sandbox", refusing)
    with module.confined() as box:
        assert box.isolation.unlimited == "root's processes are not counted"
        assert str(box.isolation).endswith(UNLIMITED)


def test_what_is_required_is_still_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def refusing(**_: Any) -> Sandbox:
        raise Unavailable("nothing is isolated here")

    monkeypatch.setattr(module, "Sandbox", refusing)
    with pytest.raises(Unavailable, match="nothing is isolated here"):
        module.confined(require=ALL)
