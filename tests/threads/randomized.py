# SPDX-License-Identifier: Apache-2.0
"""Runs `eitherway` where addresses cannot be fixed, as in a default container."""

import sys
from pathlib import Path

from eitherway.cli import main

sys.path.insert(0, str(Path(__file__).parent.parent.parent))
from tests.machine.restrict import restrict

if __name__ == "__main__":
    restrict("docker", nobody=False)
    sys.exit(main.main(sys.argv[1:]))
