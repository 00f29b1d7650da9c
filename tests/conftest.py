# SPDX-License-Identifier: Apache-2.0
"""What every test shares: the one Hypothesis profile, and signals as a terminal has them."""

import signal

from hypothesis import HealthCheck, settings

settings.register_profile(
    "eitherway",
    derandomize=True,  # the same examples on every machine and every day
    deadline=None,  # machines are slow at times; no test is about time
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("eitherway")


def as_a_terminal_has_them() -> None:
    """What whoever started us ignores or blocks, every program that we test would too.

    A shell that starts a job in the background ignores SIGINT; nohup, a CI runner and a container's
    first process ignore or block others. What Python itself ignores it gives back to children.
    """
    kept = {signal.SIGPIPE, signal.SIGXFSZ}
    for number in signal.valid_signals() - kept:
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])


as_a_terminal_has_them()
