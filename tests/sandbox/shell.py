# SPDX-License-Identifier: Apache-2.0
"""What a shell may do in a directory of work, and how that looks afterwards."""

import subprocess
from pathlib import Path

from hypothesis import strategies as st

from eitherway.sandbox.box import Sandbox

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


def script_of(actions: list[tuple[str, ...]]) -> str:
    """What cannot be done, such as to remove what is not there, is not done."""
    return "\n".join(["exec 2>&-", *map(" ".join, actions)])


def listed_in(box: Sandbox, work: Path, script: str = "") -> dict[str, str]:
    """What there is inside, after a script."""
    with box.popen(["sh", "-c", f"{script}\n{LIST}"], cwd=work, stdout=subprocess.PIPE) as process:
        return listing(process.communicate()[0].decode())


def listing(text: str) -> dict[str, str]:
    lines = (line.partition("|") for line in text.splitlines())
    return {name.removeprefix("./"): rest for name, _, rest in lines}
