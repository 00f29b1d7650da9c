# SPDX-License-Identifier: Apache-2.0
"""Runs `eitherway` under restrictions: under.py PACKAGE FILTER ROOT|NOBODY ARGUMENTS...

PACKAGE is a folder whose bin/ has the probe to use. The restrictions come after all imports, for
another user may not even be able to read this interpreter's library.
"""

import sys
from pathlib import Path

from rich.console import Console
from rich.table import Table

import eitherway
from eitherway.cli import doctor, main

sys.path.insert(0, str(Path(__file__).parent.parent.parent))
from tests.machine.restrict import restrict


def warm_up() -> None:
    """Let rich import what it imports late."""
    table = Table()
    table.add_row("x")
    console = Console(color_system="truecolor", force_terminal=True)
    with console.capture():
        console.print(table)


if __name__ == "__main__":
    assert doctor.HELP  # imported late by main, too late here
    package, filter_name, user, *arguments = sys.argv[1:]
    eitherway.__path__.insert(0, package)
    warm_up()
    if (filter_name, user) != ("none", "ROOT"):
        restrict(filter_name, nobody=user == "NOBODY")
    sys.exit(main.main(arguments))
