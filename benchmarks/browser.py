# SPDX-License-Identifier: Apache-2.0
"""A real browser without a window, driven over its DevTools protocol through two pipes.

Messages are JSON texts that end with a NUL. Nothing here waits by time: the browser says when it is
done, and one that has gone closes the pipe.
"""

import fcntl
import json
import os
import select
import shutil
import signal
import tempfile
from base64 import b64decode
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from eitherway.closing import Closing

PROGRAM = "chromium"
_OPTIONS = (
    "--headless",
    "--no-sandbox",  # a container has no user namespaces; the pages are our own
    "--disable-gpu",
    "--hide-scrollbars",
    "--no-first-run",
    "--disable-extensions",
    "--disable-background-networking",
    "--disable-dev-shm-usage",
    "--remote-debugging-pipe",
)


def is_there() -> bool:
    """Whether this machine has one."""
    return shutil.which(PROGRAM) is not None


class Browser(Closing):
    """One page in one browser."""

    def __init__(self, width: int = 1280, height: int = 900) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="eitherway-browser-")
        reads, self._out = os.pipe()
        self._in, writes = os.pipe()
        self._process = _start(reads, writes, self._folder.name)
        self._rest = b""
        self._number = 0
        self._session = ""
        self.events: list[Mapping[str, Any]] = []
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        attached = self.send("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.send(f"{domain}.enable")
        self.resize(width, height)

    def send(self, method: str, **parameters: object) -> dict[str, Any]:
        """Ask for something; its result. What happens meanwhile is kept in `events`."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") != self._number:
                self.events.append(answer)
            elif "error" in answer:
                raise RuntimeError(f"{method}: {answer['error']}")
            else:
                result: dict[str, Any] = answer["result"]
                return result

    def open(self, path: Path) -> None:
        """Show a file, and come back when it is loaded."""
        self.events.clear()
        self.send("Page.navigate", url=path.resolve().as_uri())
        self.wait_for("Page.loadEventFired")

    def wait_for(self, method: str) -> Mapping[str, Any]:
        """The next event of this name, or one that came already."""
        while True:
            for event in self.events:
                if event.get("method") == method:
                    return event
            self.events.append(self._next())

    def run(self, script: str) -> Any:
        """The value of an expression in the page."""
        result = self.send(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in result:
            raise RuntimeError(str(result["exceptionDetails"]))
        return result["result"].get("value")

    def press(self, key: str) -> None:
        """A key, with its text if it has one."""
        text = {"text": key} if len(key) == 1 else {}
        self.send("Input.dispatchKeyEvent", type="keyDown", key=key, **text)
        self.send("Input.dispatchKeyEvent", type="keyUp", key=key)

    def resize(self, width: int, height: int) -> None:
        """The window."""
        self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def prefer(self, scheme: str) -> None:
        """`light` or `dark`."""
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self.send("Emulation.setEmulatedMedia", features=[feature])

    def picture(self, path: Path) -> None:
        """What is in the window, as PNG."""
        path.write_bytes(b64decode(self.send("Page.captureScreenshot", format="png")["data"]))

    def printed(self) -> bytes:
        """What a printer would get, as PDF."""
        return b64decode(self.send("Page.printToPDF", printBackground=True)["data"])

    def troubles(self) -> list[str]:
        """What the page complained of so far: exceptions, errors, refusals by its policy."""
        self.run("0")  # what was said before has arrived by then
        told = []
        for event in self.events:
            parameters = event.get("params", {})
            if event.get("method") == "Runtime.exceptionThrown":
                told.append(str(parameters["exceptionDetails"]))
            if event.get("method") == "Log.entryAdded" and parameters["entry"]["level"] == "error":
                told.append(parameters["entry"]["text"])
        return told

    def asked_for(self) -> list[str]:
        """The addresses that the page asked the network or the disk for."""
        return [
            event["params"]["request"]["url"]
            for event in self.events
            if event.get("method") == "Network.requestWillBeSent"
        ]

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            part = os.read(self._in, 1 << 20)
            if not part:
                raise RuntimeError(f"{PROGRAM} has ended")
            self._rest += part
        message, _, self._rest = self._rest.partition(b"\0")
        read: dict[str, Any] = json.loads(message)
        return read

    def close(self) -> None:
        """End it with all that it started, and remove what it kept."""
        os.close(self._out)
        os.close(self._in)
        os.killpg(self._process, signal.SIGKILL)
        _gone(self._process)
        os.waitpid(self._process, 0)
        self._folder.cleanup()


def _start(reads: int, writes: int, folder: str) -> int:
    """Its process; it wants the ends of the pipes as 3 and 4, which may be somebody else's here."""
    ends = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in (reads, writes)]
    os.close(reads)
    os.close(writes)
    actions: list[tuple[Any, ...]] = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
        (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
        *((os.POSIX_SPAWN_DUP2, end, number) for number, end in enumerate(ends, start=3)),
    ]
    words = [PROGRAM, *_OPTIONS, f"--user-data-dir={folder}", "about:blank"]
    surroundings = {**os.environ, "TMPDIR": folder}  # what it has no time to remove lies there too
    process = os.posix_spawnp(PROGRAM, words, surroundings, file_actions=actions, setpgroup=0)
    for end in ends:
        os.close(end)
    return process


def _gone(group: int) -> None:
    """Come back when no process of a killed group runs, so that none writes any more.

    Most of them are not our children: they cannot be waited for, but looked at.
    """
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            # behind the name, which may hold anything: state, parent, group
            of = int(status.read_text(errors="replace").rpartition(")")[2].split()[2])
            if of != group:
                continue
            member = os.pidfd_open(int(status.parent.name))
        except (FileNotFoundError, ProcessLookupError):
            continue  # it has gone meanwhile
        try:
            select.select([member], [], [])
        finally:
            os.close(member)
