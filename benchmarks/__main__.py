# SPDX-License-Identifier: Apache-2.0
"""All benchmarks, one after the other; the figures go into docs/benchmarks.md."""

import subprocess
import sys

MODULES = ("model", "detect", "recordings", "findings", "compiling", "threads")

for module in MODULES:
    print(f"--- {module}", flush=True)
    command = [sys.executable, "-m", f"benchmarks.{module}", "--write", "docs/benchmarks.md"]
    subprocess.run(command, check=True)
