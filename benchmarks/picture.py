# SPDX-License-Identifier: Apache-2.0
"""Takes README's picture: the page that `eitherway demo` leaves, by day and by night."""

import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.browser import Browser

DOCS = Path(__file__).parent.parent / "docs"
WIDTH, HEIGHT = 1280, 860


def main() -> None:
    """Run the demo where nothing else is, and look at its page."""
    with tempfile.TemporaryDirectory(prefix="eitherway-picture-") as folder:
        command = [sys.executable, "-m", "eitherway", "demo"]
        subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, check=True)
        with Browser(WIDTH, HEIGHT) as browser:
            browser.open(Path(folder, "eitherway-demo", "report.html"))
            for scheme in ("light", "dark"):
                browser.prefer(scheme)
                browser.picture(DOCS / f"report-{scheme}.png")


if __name__ == "__main__":
    main()
