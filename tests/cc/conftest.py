# SPDX-License-Identifier: Apache-2.0
"""Folders for the tests of `eitherway cc`, one for each compiler family."""

from pathlib import Path

import pytest
from tests.cc.harness import Shop, has


def shop_of(family: str, path: Path) -> Shop:
    """gcc is part of the set-up; clang is said when it is not there."""
    if family == "clang" and not has("clang++"):
        pytest.skip("no clang on this machine: apt-get install clang")
    return Shop(path, family)


@pytest.fixture(params=["gcc", "clang"])
def shop(request: pytest.FixtureRequest, tmp_path: Path) -> Shop:
    """Both families."""
    return shop_of(request.param, tmp_path)


@pytest.fixture
def clang(tmp_path: Path) -> Shop:
    """For what only clang does."""
    return shop_of("clang", tmp_path)


@pytest.fixture
def gcc(tmp_path: Path) -> Shop:
    """For what does not depend on the family."""
    return Shop(tmp_path, "gcc")
