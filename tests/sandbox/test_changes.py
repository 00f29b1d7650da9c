# SPDX-License-Identifier: Apache-2.0
"""Changes read from the layers are those seen by comparing the tree inside with that outside."""

import subprocess
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.sandbox.harness import Place
from tests.sandbox.shell import ACTIONS, LIST, listed_in, listing, script_of

from eitherway.sandbox.box import Sandbox
from eitherway.sandbox.changes import How


def expected(outside: dict[str, str], inside: dict[str, str]) -> set[tuple[str, How]]:
    gone = outside.keys() - inside.keys()
    deleted = {name for name in gone if not any(name.startswith(f"{top}/") for top in gone)}
    # What lay in a directory that is none any more went with it.
    deleted = {name for name in deleted if is_directory(inside, name.rpartition("/")[0])}
    modified = {name for name in outside.keys() & inside.keys() if outside[name] != inside[name]}
    return (
        {(name, How.DELETED) for name in deleted}
        | {(name, How.CREATED) for name in inside.keys() - outside.keys()}
        | {(name, How.MODIFIED) for name in modified}
    )


def is_directory(listed: dict[str, str], name: str) -> bool:
    return not name or listed[name].startswith("directory")


@settings(max_examples=80)
@given(actions=st.lists(ACTIONS, min_size=1, max_size=6))
def test_changes_are_the_difference(
    box: Sandbox, fresh: Place, actions: list[tuple[str, ...]]
) -> None:
    before = subprocess.run(["sh", "-c", LIST], cwd=fresh.work, capture_output=True, check=True)
    after = listed_in(box, fresh.work, script_of(actions))
    told = {(str(Path(change.path).relative_to(fresh.work)), change.how)
            for change in box.changes()}  # fmt: skip
    assert told == expected(listing(before.stdout.decode()), after)
    assert box.dirty() or not told
    box.reset()
