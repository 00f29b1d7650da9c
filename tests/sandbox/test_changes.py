# SPDX-License-Identifier: Apache-2.0
"""Changes read from the layers are those seen by comparing the tree inside with that outside."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.sandbox.conftest import make_place
from tests.sandbox.harness import Place

from eitherway.errors import Unavailable
from eitherway.sandbox.box import Sandbox
from eitherway.sandbox.changes import How

NAMES = st.sampled_from(["keep", "gone", "dir", "dir2", "dir2/inner", "new", "dir/new", "dir2/new"])
ACTIONS = st.one_of(
    st.tuples(st.sampled_from(["rm -rf", "mkdir", "rmdir", "mkfifo"]), NAMES),
    st.tuples(st.sampled_from(["mv -T", "cp -rT", "ln -sT", "ln -T"]), NAMES, NAMES),
    st.tuples(st.sampled_from(["printf x >>", "printf y >"]), NAMES),
    st.tuples(st.sampled_from(["chmod 700", "chmod 755", "chmod 644"]), NAMES),
)
# Each path with its kind, permissions and what is behind it; of files the time too.
LIST = """find . -mindepth 1 | while read -r p; do
    stat -c '%n|%F|%a' "$p" | tr '\\n' '|'
    if [ -L "$p" ]; then stat -c %y "$p" | tr '\\n' '|'; readlink "$p"
    elif [ -f "$p" ]; then stat -c %y "$p" | tr '\\n' '|'; cksum < "$p"
    else echo
    fi
done"""


@pytest.fixture(scope="module")
def fresh(programs: Path) -> Iterator[Place]:
    """A directory of work that stays as it is, for this user."""
    yield from make_place(programs, os.geteuid())


@pytest.fixture(scope="module")
def box(programs: Path) -> Iterator[Sandbox]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("eitherway.__path__", [str(programs)])
        try:
            made = Sandbox()
        except Unavailable as refused:
            pytest.skip(refused.message)
    with made:
        yield made


def listing(text: str) -> dict[str, str]:
    lines = (line.partition("|") for line in text.splitlines())
    return {name.removeprefix("./"): rest for name, _, rest in lines}


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
    script = "\n".join(" ".join(action) for action in actions)
    # What cannot be done, such as to remove what is not there, is not done.
    with box.popen(["sh", "-c", f"exec 2>&-\n{script}\n{LIST}"], cwd=fresh.work,
                   stdout=subprocess.PIPE) as process:  # fmt: skip
        after, _ = process.communicate()
    told = {(str(Path(change.path).relative_to(fresh.work)), change.how)
            for change in box.changes()}  # fmt: skip
    assert told == expected(listing(before.stdout.decode()), listing(after.decode()))
    assert box.dirty() or not told
    box.reset()
