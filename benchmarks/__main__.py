# SPDX-License-Identifier: Apache-2.0
"""All benchmarks, one after the other; the figures go into docs/benchmarks.md.

One that fails, or that this machine cannot do, does not keep the others from running; the first
such exit code is that of the whole.
"""

import subprocess
import sys

MODULES = (
    "model",
    "detect",
    "recordings",
    "findings",
    "reports",
    "compiling",
    "switching",
    "schedules",
    "policies",
    "costs",
    "detecting",
    "growing",
    "replays",
    "recording",
    "one_call",
    "lives",
    "parts",
    "tree_detection",
    "flips",
    "corpus",
    "judging",
    "judge_cost",
    "copies",
    "shrinking",
    "racepro",
)


def measured(module: str) -> int:
    """Run one; its exit code."""
    print(f"--- {module}", flush=True)
    command = [sys.executable, "-m", f"benchmarks.{module}", "--write", "docs/benchmarks.md"]
    return subprocess.run(command, check=False).returncode


failed = {module: code for module in MODULES if (code := measured(module))}
for module, code in failed.items():
    print(f"--- {module} ended with {code}", file=sys.stderr)
raise SystemExit(next(iter(failed.values()), 0))
