# SPDX-License-Identifier: Apache-2.0
"""Paths, reduced to what is the same on every machine and in every run."""

import re
from posixpath import normpath

_TEMPORARY = re.compile(r"^(?:/tmp|/var/tmp|/dev/shm|/run/user/\d+)/")
# Only folders that mean the same everywhere: /usr/src, /var/lib, /srv hold somebody's builds too.
_SAME_EVERYWHERE = re.compile(
    r"^/(?:bin|dev|etc|lib|lib32|lib64|proc|run|sbin|sys"
    r"|usr/(?:local/)?(?:bin|etc|include|lib|lib32|lib64|libexec|sbin|share)"
    r"|var/(?:log|run|lock|mail|spool)|var/lib/(?:apt|dpkg|pacman|rpm|systemd))/"
)
_MADE_BY_TOOLS = re.compile(  # gcc, Python's tempfile, mktemp; process ids
    r"\b(cc)[A-Za-z0-9]{6}\b|\b(tmp)[a-z0-9_]{8}\b|\b(tmp\.)[A-Za-z0-9]{10}\b|\b\d{3,}\b"
)
# What replaces the X of a template ("shop.XXXXXX"): as many as people write, six at least.
_FROM_TEMPLATE = re.compile(r"(?<![A-Za-z0-9])(?:[A-Za-z0-9]{2}){3,6}(?![A-Za-z0-9])")
_WORD = re.compile(  # config2, Makefile1, ABI64, fooBarBaz: a person's name for a file
    r"[A-Z]?[a-z]*[0-9]*|[A-Z]+[0-9]*|[a-z]*(?:[A-Z][a-z]{2,})+[0-9]*"
)
_NUMBER_PART = re.compile(r"(?<=/)\d+(?=/|$)")


def base(path: str) -> str:
    """The last part of a path; what stands before it differs from machine to machine."""
    return path.rsplit("/", 1)[-1]


def portable_path(path: str) -> str:
    """A path without what differs between machines and runs.

    Relative paths and those of the system are kept whole; of others, as they lie in somebody's home
    or build folder, the last part remains. Process ids and random parts of names become `#`.
    """
    path = _plain(path.removesuffix(" (deleted)"))
    if _TEMPORARY.match(path):
        return _FROM_TEMPLATE.sub(_generated, _MADE_BY_TOOLS.sub(_tagged, base(path)))
    path = _NUMBER_PART.sub("#", path)
    if path.startswith("/") and not _SAME_EVERYWHERE.match(path):
        return base(path)
    return path


def _plain(path: str) -> str:
    """One spelling: no `./`, no `//`, no slash at the end."""
    plain = normpath(path) if path else ""
    return plain[1:] if plain.startswith("//") else plain


def _tagged(found: re.Match[str]) -> str:
    return "".join(filter(None, found.groups())) + "#"


def _generated(found: re.Match[str]) -> str:
    return found[0] if _WORD.fullmatch(found[0]) else "#"
