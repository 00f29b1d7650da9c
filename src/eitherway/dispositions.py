# SPDX-License-Identifier: Apache-2.0
"""Signals that whoever started us ignores: programs that we start ignore them too.

That of SIGCHLD the tool cannot keep for itself: the kernel would forget how its children ended.
"""

import signal
from collections.abc import Callable, Collection

# Python ignores these for itself, and gives its children the default: what was before is not known.
_OF_PYTHON = frozenset({signal.SIGPIPE, signal.SIGXFSZ})
_set_back: set[int] = set()


def set_back() -> None:
    """Before the first child is started."""
    if signal.getsignal(signal.SIGCHLD) is signal.SIG_IGN:
        _set_back.add(signal.SIGCHLD)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)


def ignored() -> tuple[int, ...]:
    """What a program that is started here is to ignore."""
    return tuple(sorted(_ignored_now() | _set_back))


def to_be_set(wanted: Collection[int]) -> Callable[[], None] | None:
    """What a new process has to call to ignore these and no others; None: it does so already."""
    now = _ignored_now()
    if now == set(wanted):
        return None

    def set_them() -> None:
        for number in now - set(wanted):
            signal.signal(number, signal.SIG_DFL)
        for number in set(wanted) - now:
            signal.signal(number, signal.SIG_IGN)

    return set_them


def _ignored_now() -> set[int]:
    numbers = signal.valid_signals() - _OF_PYTHON
    return {int(number) for number in numbers if signal.getsignal(number) is signal.SIG_IGN}
