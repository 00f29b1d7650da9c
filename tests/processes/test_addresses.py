# SPDX-License-Identifier: Apache-2.0
"""Who connects needs somebody who listens: at a port, at a name in a directory or in none."""

from pathlib import Path

import pytest
from tests.processes.harness import calls, launch, ran

from eitherway.find.trees import TreeSearch
from eitherway.model.finding import Finding
from eitherway.model.words import Class
from eitherway.recording.store import Store
from eitherway.sandbox.box import Sandbox

LOUD = {Class.SPEC_VIOLATED, Class.OUTPUT_DIFFERS}
CLIENT = 'socket(C, {family}, SOCK_STREAM, 0); connect(C, {at}) or die "nobody\\n"; exit 0;'
SERVER = "socket(S, {family}, SOCK_STREAM, 0); bind(S, {at}); listen(S, 1);"
EARLY = f"use Socket; fork or do {{{{ {CLIENT} }}}}; {SERVER} wait;"
LATE = f"use Socket; {SERVER} fork or do {{{{ {CLIENT} }}}}; wait;"
PLACES = {
    "port": ("PF_INET", "sockaddr_in(4567, INADDR_LOOPBACK)"),
    "file": ("PF_UNIX", 'sockaddr_un("s")'),
    "name": ("PF_UNIX", 'pack("Sa*", PF_UNIX, "\\0s")'),
}


def loud(work: Path, program: str, place: str) -> list[Finding]:
    family, at = PLACES[place]
    text = program.format(family=family, at=at)
    with TreeSearch(launch(work, "perl", "-e", text), Store(work / "store"), jobs=2) as search:
        found = search.check(600.0, lambda _: None).findings.values()
    return [finding for finding in found if finding.klass in LOUD]


@pytest.mark.parametrize(
    ("place", "variable"), [("port", "port 4567"), ("file", "{work}/s"), ("name", "@s")]
)
@pytest.mark.usefixtures("box")
def test_who_comes_too_early_finds_nobody(work: Path, place: str, variable: str) -> None:
    (finding,) = loud(work, EARLY, place)
    assert finding.klass is Class.SPEC_VIOLATED
    assert "connect" in {operation.op for operation in finding.operations}
    assert {op.variable for op in finding.operations} == {variable.format(work=work)}
    assert "says 'nobody'" in finding.consequence


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.usefixtures("box")
def test_who_is_started_when_there_is_somebody_finds_it(work: Path, place: str) -> None:
    assert loud(work, LATE, place) == []


def test_a_socket_with_a_name_is_an_entry(box: Sandbox, work: Path) -> None:
    family, at = PLACES["file"]
    log = ran(box, work, "perl", "-e", LATE.format(family=family, at=at)).log
    (bound,), (connected,) = (calls(log, name) for name in ("bind", "connect"))
    made, looked = bound.entry(), connected.entry()
    assert made is not None
    assert looked is not None
    assert (made.name, made.object) == ("s", 0)
    assert (looked.name, looked.directory) == ("s", made.directory)
    assert looked.object != 0
