# SPDX-License-Identifier: Apache-2.0
"""What the tests of this folder share."""

from pathlib import Path

import pytest
from tests.recording import samples


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    """A good recording."""
    samples.write_sample(tmp_path / "r")
    return tmp_path / "r"
