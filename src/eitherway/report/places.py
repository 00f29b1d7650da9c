# SPDX-License-Identifier: Apache-2.0
"""Source files as the services that show them know them: relative to the root of the checkout."""

import os
from dataclasses import dataclass, field
from pathlib import PurePosixPath


@dataclass(frozen=True, slots=True)
class Root:
    """The folder that paths are told relative to: where the command runs, as CI runs it."""

    path: str = field(default_factory=os.getcwd)

    def relative(self, file: str) -> str:
        """The path below the root; one that lies elsewhere, as it is."""
        path = PurePosixPath(os.path.normpath(file)) if file else PurePosixPath()
        if path.is_relative_to(self.path):
            path = path.relative_to(self.path)
        return str(path)

    def is_inside(self, file: str) -> bool:
        """Whether it lies below the root, as far as its name says."""
        relative = self.relative(file)
        return bool(file) and not relative.startswith(("/", "../"))
