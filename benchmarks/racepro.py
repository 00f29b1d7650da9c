# SPDX-License-Identifier: Apache-2.0
"""The ten bugs of RacePro's Table 4: what one recorded run shows of each, and how often it is seen.

Each is a script in `programs/racepro`, run with the programs of this machine where they still have
the bug, else with a stand-in that makes the calls that they made then. Nothing sleeps, and nothing
is put under stress. Plain runs have no tool around them.
"""

import os
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic

from benchmarks.measure import Watch, arguments, progress, published, started, table

from eitherway.errors import Unavailable
from eitherway.find.specification import Specification
from eitherway.find.tree_rules import Rules
from eitherway.find.trees import Checked, TreeSearch
from eitherway.model.words import Class
from eitherway.recording.store import Store
from eitherway.worlds.threads.launch import Launch

PROGRAMS = Path(__file__).parent / "programs" / "racepro"
PLAIN, SECONDS, JOBS = 50, 300.0, 2
LOUD = (Class.SPEC_VIOLATED, Class.OUTPUT_DIFFERS)


@dataclass(frozen=True, slots=True)
class Bug:
    """One of them; `good` is what a plain run must give, beside exit status 0."""

    name: str
    folder: str
    program: str
    needs: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    good: str = ""  # a shell command, in the directory of the run
    rules: Rules = field(default_factory=Rules)


def _installed(name: str) -> str:
    return shutil.which(name) or ""


def bugs() -> tuple[Bug, ...]:
    """All of them, with the real program where this machine has it."""
    checked = Rules(Specification(checker=("sh", "check.sh")))
    tcsh, updatedb = _installed("tcsh"), _installed("updatedb.findutils")
    real = f"{updatedb} --localpaths=$PWD/files --output=$PWD/db --prunepaths=" if updatedb else ""
    plocate = _installed("updatedb.plocate") if _installed("plocate") else ""
    renews = f"{plocate} -U files -o db --require-visibility 0"
    return (
        Bug("debian-294579", "adduser", "adduser, stand-in", ("perl",), {}, "sh check.sh", checked),
        Bug("debian-438076", "mv", "mv", ("mv",)),
        Bug("debian-399930", "logrotate", "logrotate", ("logrotate", "setpriv")),
        Bug("redhat-54127", "ps", "ps, grep", ("ps", "grep"), {}, "! test -s found"),
        Bug("launchpad-596064", "upstart", "stand-in", (), {}, "! grep -q ERROR log/nmbd"),
        Bug("launchpad-10809", "bash", "bash", ("bash",), {}, "sh check.sh", checked),
        Bug(
            "new-1",
            "tcsh",
            "tcsh" if tcsh else "tcsh, stand-in",
            ("perl",),
            {"TCSH": f"{tcsh} -i"} if tcsh else {},
            "sh check.sh",
            checked,
        ),
        Bug(
            "new-2",
            "locate",
            "plocate" if plocate else "updatedb, stand-in",
            (),
            {"UPDATEDB": renews, "LOCATE": "plocate -d db"} if plocate else {},
        ),
        Bug(
            "new-3",
            "updatedb",
            "updatedb of findutils" if updatedb else "updatedb, stand-in",
            (),
            {"UPDATEDB": real} if real else {},
            "! test -s errors",
        ),
        Bug("new-4", "make", "make, gcc", ("make", "gcc")),
    )


@dataclass(frozen=True, slots=True)
class Measured:
    """One bug."""

    bug: Bug
    plain: int  # runs that showed it
    checked: Checked
    seconds: float

    @property
    def harmful(self) -> Counter[Class]:
        """Races with a class that is one."""
        found = (finding.klass for finding in self.checked.findings.values())
        return Counter(klass for klass in found if klass in LOUD)


def placed(bug: Bug, folder: str) -> Path:
    """The files of a bug in a directory of their own, which other users may enter."""
    work = Path(folder) / bug.folder
    shutil.copytree(PROGRAMS / bug.folder, work)
    Path(folder).chmod(0o755)
    return work


def missing(bug: Bug) -> tuple[str, ...]:
    """Programs that this machine does not have."""
    return tuple(name for name in bug.needs if not _installed(name))


def checked(bug: Bug, *, seconds: float = SECONDS, jobs: int = JOBS) -> Checked:
    """One recorded run and both orders of its races."""
    with tempfile.TemporaryDirectory(prefix="eitherway-") as folder:
        work = placed(bug, folder)
        launch = Launch(("sh", "run.sh"), str(work), {**os.environ, **bug.environment}, b"")
        store = Store(Path(folder) / "store")
        with TreeSearch(launch, store, jobs=jobs, rules=bug.rules) as search:
            return search.check(seconds, lambda _: None)


def plain(bug: Bug) -> bool:
    """Whether one plain run shows the bug."""
    with tempfile.TemporaryDirectory(prefix="eitherway-") as folder:
        work, environment = placed(bug, folder), {**os.environ, **bug.environment}
        with (work / "errors").open("wb") as errors:
            run = subprocess.run(
                ["sh", "run.sh"],
                cwd=work,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                check=False,
            )
        good = (
            not bug.good
            or not subprocess.run(
                ["sh", "-c", bug.good], cwd=work, stderr=subprocess.DEVNULL, check=False
            ).returncode
        )
        return run.returncode != 0 or not good


def measured(bug: Bug, runs: int) -> Measured:
    """Plain runs, then ours."""
    shown = sum(plain(bug) for _ in range(runs))
    start = monotonic()
    found = checked(bug)
    return Measured(bug, shown, found, monotonic() - start)


def told(results: Sequence[Measured], runs: int) -> str:
    """The columns of Table 5, and what it took."""
    head = [
        "bug",
        "programs",
        "processes",
        "calls",
        "resources",
        "races",
        "one order only",
        "no difference",
        "not decided",
        "part of one told",
        "harmful",
        f"seen in {runs} plain runs",
        "branches",
        "ms a branch",
    ]
    return table(head, [_row(one) for one in results])


def _row(one: Measured) -> list[str]:
    checked = one.checked
    undecided = len(checked.findings) - one.harmful.total() + checked.covered.total()
    return [
        one.bug.name,
        one.bug.program,
        f"{checked.processes:,}",
        f"{checked.calls:,}",
        f"{checked.resources:,}",
        f"{checked.races:,}",
        f"{checked.one_order.total():,}",
        f"{checked.quiet:,}",
        f"{undecided:,}",
        f"{checked.parts:,}",
        f"**{one.harmful.total()}**" if one.harmful else "0",
        f"{one.plain}",
        f"{checked.branches:,}",
        f"{1000 * one.seconds * JOBS / max(checked.branches, 1):.0f}",
    ]


def main() -> None:
    """Measure all, or those that are named."""
    parser = arguments(__doc__ or "")
    parser.add_argument("--plain", type=int, default=PLAIN, help="plain runs of each")
    parser.add_argument("bugs", nargs="*")
    args = parser.parse_args()
    watch, results, lacking = Watch(), [], []
    for bug in bugs():
        if args.bugs and bug.name not in args.bugs and bug.folder not in args.bugs:
            continue
        progress(f"{bug.name}: {bug.program}")
        if names := missing(bug):
            lacking.append(f"{bug.name} was not run: there is no {' and no '.join(names)} here.")
        else:
            results.append(measured(bug, args.plain))
    if not results:
        raise Unavailable("none of the programs is there", fix="apt-get install logrotate")
    lines = [told(results, args.plain), "", watch.told(), *lacking]
    published("\n".join(lines), "racepro", args.write)


if __name__ == "__main__":
    started(main)
