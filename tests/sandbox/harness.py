# SPDX-License-Identifier: Apache-2.0
"""Builds the sandbox from the sources at hand, runs it as any user, and looks from outside."""

import ctypes
import hashlib
import json
import os
import pickle
import select
import stat
import subprocess
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

ROOT = Path(__file__).parent.parent.parent
SOURCES = sorted((ROOT / "native" / "sandbox").glob("*.c"))
WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wstrict-prototypes", "-Werror")
OTHER_USER = 12345  # nobody in particular
LIMIT_SECONDS = 300  # for what ends by itself; a sandbox that hangs is a failure

Result = TypeVar("Result")


def compile_c(sources: Iterable[Path], target: Path, *flags: str) -> Path:
    target.parent.mkdir(parents=True, exist_ok=True)
    base = ["gcc", "-std=gnu11", "-D_GNU_SOURCE", "-O1", "-g", *WARNINGS, *flags]
    subprocess.run([*base, *map(str, sources), "-o", str(target)], check=True)
    return target


def as_user(
    user: int, work: Callable[[], Result], prepare: Callable[[], None] | None = None
) -> Result:
    """Do it in a process of that user; what it raises is raised here.

    `prepare` is done there before, as who we are.
    """
    if user == os.geteuid() and not prepare:
        return work()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _answer(writing, user, work, prepare)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        answer = pipe.read()
    os.waitpid(child, 0)
    failed, result = pickle.loads(answer)  # noqa: S301  from our own child
    if failed:
        raise result
    return result  # type: ignore[no-any-return]


def _answer(
    writing: int, user: int, work: Callable[[], Any], prepare: Callable[[], None] | None
) -> None:
    try:
        if prepare:
            prepare()
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
        answer = pickle.dumps((False, work()))
    except BaseException as problem:  # whatever it was, it is the caller's
        answer = pickle.dumps((True, problem))
    with os.fdopen(writing, "wb") as pipe:
        pipe.write(answer)
    os._exit(0)


@dataclass(frozen=True)
class Ran:
    """One run of eitherway-sandbox. `status` is negative for a signal."""

    status: int
    output: str
    errors: str
    report: dict[str, Any]


@dataclass(frozen=True)
class Place:
    """Where the tests of one user work: programs, and directories that it owns."""

    user: int
    program: Path
    vandal: Path
    home: Path
    work: Path
    loose: Path  # directly in /tmp

    def environment(self) -> dict[str, str]:
        outside = " ".join(os.readlink(f"/proc/self/ns/{kind}") for kind in ("pid", "mnt"))
        return {**os.environ, "HOME": str(self.home), "OUTSIDE": outside, "LC_ALL": "C"}

    def start(
        self, words: Sequence[str | Path], *options: str, **popen: Any
    ) -> "subprocess.Popen[str]":
        identity: dict[str, Any] = {}
        if self.user != os.geteuid():
            identity = {"user": self.user, "group": self.user, "extra_groups": []}
        return subprocess.Popen(
            [self.program, *options, "--", *words],
            cwd=self.work,
            env=self.environment(),
            text=True,
            **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **identity, **popen},
        )

    def run(self, words: Sequence[str | Path], *options: str, **popen: Any) -> Ran:
        reading, writing = os.pipe()
        passed = [writing, *popen.pop("pass_fds", ())]
        process = self.start(words, "--report", str(writing), *options, pass_fds=passed, **popen)
        os.close(writing)
        output, errors = process.communicate(timeout=LIMIT_SECONDS)
        with os.fdopen(reading) as pipe:
            line = pipe.read()
        return Ran(process.returncode, output, errors, json.loads(line) if line else {})

    def act(self, *words: str | Path, options: Sequence[str] = (), **popen: Any) -> str:
        """What the vandal says of one act, in a sandbox with everything isolated."""
        ran = self.run([self.vandal, *words], "--require", "all", *options, **popen)
        assert ran.errors == ""
        assert ran.status == 0, ran
        return ran.output.rstrip("\n").removeprefix(f"{words[0]} ")


def snapshot(*tops: Path) -> dict[str, tuple[Any, ...]]:
    """Every path with all that can be changed of it."""
    found = {}
    for top in tops:
        for path in [top, *top.rglob("*")]:
            info = path.lstat()
            content: str | None = None
            if stat.S_ISREG(info.st_mode):
                content = hashlib.sha256(path.read_bytes()).hexdigest()
            elif stat.S_ISLNK(info.st_mode):
                content = os.readlink(path)
            times = (info.st_mtime_ns, info.st_ctime_ns)
            found[str(path)] = (info.st_mode, info.st_uid, info.st_gid, info.st_ino, times, content)
    return found


def users_of(namespaces: set[str], kind: str = "*") -> set[int]:
    """Living processes that are in any of the namespaces, given as their links read."""
    found = set()
    for link in Path("/proc").glob(f"[0-9]*/ns/{kind}"):
        try:
            if os.readlink(link) in namespaces and not has_ended(link.parts[2]):
                found.add(int(link.parts[2]))
        except OSError:
            continue  # gone meanwhile
    return found


def has_ended(process: str) -> bool:
    """Whether it waits only to be reaped, which is the affair of the machine's own init."""
    return Path("/proc", process, "stat").read_text().rpartition(")")[2].split()[0] in "ZX"


def members(namespace: str) -> set[int]:
    """Processes that are in a pid namespace, as far as this user may see that."""
    return users_of({namespace}, "pid")


@contextmanager
def held(processes: Iterable[int]) -> Iterator[None]:
    """Their namespaces are held: until then no new one of the machine has one of their numbers."""
    with ExitStack() as stack:
        for process in processes:
            for link in Path(f"/proc/{process}/ns").iterdir():
                stack.callback(os.close, os.open(link, os.O_RDONLY | os.O_CLOEXEC))
        yield


def watch(processes: Iterable[int]) -> list[int]:
    """Descriptors that tell when they end."""
    return [os.pidfd_open(process) for process in processes]


def all_end(descriptors: Iterable[int]) -> bool:
    """Wait until each has ended; False when one does not."""
    ended = []
    for descriptor in descriptors:
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        ended.append(bool(poll.poll(LIMIT_SECONDS * 1000)))
        os.close(descriptor)
    return all(ended)


def own_mounts() -> None:
    """What is mounted from now on is seen by this process and its children alone; only root can."""
    libc = ctypes.CDLL(None, use_errno=True)
    new_mounts, recursive, private = 0x20000, 0x4000, 0x40000
    if libc.unshare(new_mounts) < 0 or libc.mount(None, b"/", None, recursive | private, None) < 0:
        raise OSError(ctypes.get_errno(), "mounts of our own")


def mount(source: str, point: Path, kind: str = "", flags: int = 0, data: str = "") -> None:
    """A mount that must work."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(source.encode(), os.fsencode(point), kind.encode(), flags, data.encode()) < 0:
        raise OSError(ctypes.get_errno(), f"a mount at {point}")


def mount_privately(point: Path) -> None:
    """A tmpfs there, seen by this process and its children alone; only root can."""
    own_mounts()
    mount("test", point, "tmpfs", data="mode=0777")
