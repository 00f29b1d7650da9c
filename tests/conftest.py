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

# A shell that starts us in the background ignores SIGINT, and so would every program we test.
signal.signal(signal.SIGINT, signal.default_int_handler)
