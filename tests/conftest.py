# SPDX-License-Identifier: Apache-2.0
"""What every test shares: the one Hypothesis profile, and nothing else."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "eitherway",
    derandomize=True,  # the same examples on every machine and every day
    deadline=None,  # machines are slow at times; no test is about time
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("eitherway")
