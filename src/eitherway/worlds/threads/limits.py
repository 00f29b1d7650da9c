# SPDX-License-Identifier: Apache-2.0
"""Limits of this process that no program under control fits into."""

import resource

from eitherway.errors import Unavailable

_NEEDED = 1 << 46  # bytes of addresses, reserved and hardly used: native/runtime/shadow.c has most
_LIMITS = {resource.RLIMIT_AS: "v", resource.RLIMIT_DATA: "d"}


def refuse_limits() -> None:
    """Before a program is started, which could say less about it."""
    for which, letter in _LIMITS.items():
        limit, _ = resource.getrlimit(which)
        if limit != resource.RLIM_INFINITY and limit < _NEEDED:
            raise Unavailable(
                f"a program under control reserves more addresses than ulimit -{letter} permits",
                fix=f"ulimit -{letter} unlimited",
            )
