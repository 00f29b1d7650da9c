# SPDX-License-Identifier: Apache-2.0
"""What trees of processes do that are measured: builds, forks, archives, a server, a pipe."""

import socket
import sys
from collections.abc import Callable
from pathlib import Path

from benchmarks.sources import BARE, small_program
from benchmarks.subjects.subject import Job

SOURCES = 31  # files of the build
FORKS = 500
FILES = 3000  # of the archive
REQUESTS = 3000
ROUNDS = 20_000
_PYTHON = sys.executable

_SERVER = """
import http.server, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = b'x' * 512
        self.send_response(200)
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *words):
        pass
server = http.server.HTTPServer(('127.0.0.1', int(sys.argv[1])), Handler)
for _ in range(int(sys.argv[2])):
    server.handle_request()
print('served')
"""

_CLIENT = """
import socket, sys
address, left = ('127.0.0.1', int(sys.argv[1])), int(sys.argv[2])
while left:
    try:
        peer = socket.create_connection(address)
    except ConnectionRefusedError:
        continue
    peer.sendall(b'GET / HTTP/1.0\\r\\n\\r\\n')
    got = b''
    while part := peer.recv(65536):
        got += part
    assert got.endswith(b'x' * 512), got
    left -= 1
"""


def build(place: Path) -> Job:
    """make -j2 of small files, each compiled for itself."""
    sources = place / "sources"
    sources.mkdir()
    for number in range(SOURCES):
        text = f'#include <stdio.h>\nint part{number}(int x) {{ return printf("%d", x); }}\n'
        (sources / f"part{number}.c").write_text(text, encoding="ascii")
    objects = " ".join(f"part{number}.o" for number in range(SOURCES))
    rules = f"all: {objects}\n%.o: {sources}/%.c\n\tgcc -c $< -o $@\n"
    (sources / "Makefile").write_text(rules, encoding="ascii")
    script = f"make -s -j2 -f {sources}/Makefile && ls *.o | wc -l"
    return _job(place, script, f"{SOURCES}\n")


def forks(place: Path) -> Job:
    """A shell starts one program after the other."""
    script = f"i=0; while [ $i -lt {FORKS} ]; do /bin/true; i=$((i + 1)); done; echo $i"
    return _job(place, script, f"{FORKS}\n")


def archive(place: Path) -> Job:
    """Many small files into an archive, and out of it again."""
    sources = place / "files"
    for number in range(FILES):
        file = sources / f"d{number % 30}" / f"f{number}"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"x" * (number % 2048))
    script = f"tar cf all.tar -C {place} files && tar xf all.tar && find files -type f | wc -l"
    return _job(place, script, f"{FILES}\n")


def server(place: Path) -> Job:
    """An HTTP server on the loopback; who asks it is not looked at."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = str(found.getsockname()[1])
    command = (_PYTHON, "-c", _SERVER, port, str(REQUESTS))
    load = (_PYTHON, "-c", _CLIENT, port, str(REQUESTS))
    return Job(command, place / "work", lambda out: out == b"served\n", load=load)


def ping_pong(place: Path) -> Job:
    """One byte through two pipes, to and fro."""
    command = (str(small_program("ping_pong", BARE)), str(ROUNDS))
    return Job(command, place / "work", lambda out: out == f"{ROUNDS}\n".encode())


def _job(place: Path, script: str, answer: str) -> Job:
    command = ("/bin/sh", "-c", script)
    return Job(command, place / "work", lambda out: out == answer.encode())


WORKLOADS: dict[str, Callable[[Path], Job]] = {
    f"make -j2, {SOURCES} files": build,
    f"{FORKS} forks": forks,
    f"tar, untar {FILES:,} files": archive,
    f"HTTP, {REQUESTS:,} requests": server,
    f"pipe, {ROUNDS:,} rounds": ping_pong,
}
