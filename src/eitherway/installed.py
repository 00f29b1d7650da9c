# SPDX-License-Identifier: Apache-2.0
"""Where the native parts lie once installed: programs, archives and headers inside the package."""

from pathlib import Path

import eitherway
from eitherway.errors import Unavailable


def native(name: str) -> Path:
    """The installed file `name`, such as "bin/eitherway-probe".

    An editable install has two package directories, the sources and what CMake installed.
    """
    for directory in eitherway.__path__:
        path = Path(directory) / name
        if path.exists():
            return path
    raise Unavailable(
        f"this installation lacks its native part {name}",
        fix="make setup (in a checkout) or pip install --force-reinstall eitherway",
    )
