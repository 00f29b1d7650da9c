# SPDX-License-Identifier: Apache-2.0
"""Findings as one page to look at: a file that needs no network, no server and no other file.

Names, paths and output are the program's. They reach the page as data that it shows as text, and
the policy of the page lets no script run but its own, which it names by its hash.
"""

import base64
import hashlib
import json
import re
from collections.abc import Sequence
from importlib import resources
from typing import TextIO

from eitherway.model.finding import Finding, Summary
from eitherway.report.view import Data, view_of

_PAGE = "page.html"
_STYLE, _SCRIPTS = "page.css", ("data.js", "lanes.js", "finding.js", "list.js")
_MARK = re.compile(r"(\{\{\w+\}\})")
# What would end the element or begin another one; in JSON it stands in texts alone.
_ESCAPED = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


class HtmlReport:
    """The whole page at once."""

    def write(self, findings: Sequence[Finding], summary: Summary, out: TextIO) -> None:
        """Write the page."""
        style, script = _part(_STYLE), "\n".join(map(_part, _SCRIPTS))
        parts = {
            "{{policy}}": _policy(style, script),
            "{{style}}": style,
            "{{script}}": script,
            "{{data}}": embedded(view_of(findings, summary)),
        }
        for piece in _MARK.split(_part(_PAGE)):
            out.write(parts.get(piece, piece))


def embedded(data: Data) -> str:
    """JSON that stays inside its element, whatever is in it."""
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"))
    return text.translate(_ESCAPED)


def _policy(style: str, script: str) -> str:
    return (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


def _part(name: str) -> str:
    file = resources.files("eitherway.report") / "page" / name
    return file.read_text(encoding="utf-8")
