# SPDX-License-Identifier: Apache-2.0
"""Which types have parts, as far as their names tell it."""

import pytest

from eitherway.symbols.fields import Entry


@pytest.mark.parametrize(
    ("name", "is_one"),
    [
        ("int", True),
        ("const long unsigned int", True),
        ("volatile _Bool", True),
        ("char *", True),
        ("queue *", True),
        ("bool", False),  # in C a structure may have that name
        ("interval", False),
        ("int[3]", False),
        ("char *[3]", False),
        ("std::vector<int *>", False),
        ("", False),
    ],
)
def test_a_number_or_a_pointer_has_no_parts(name: str, is_one: bool) -> None:
    entry = Entry("DW_TAG_variable", "0x10", {"DW_AT_type": f'0x00031bde "{name}"'})
    assert entry.is_one is is_one
