# SPDX-License-Identifier: Apache-2.0
"""Text of the program under test, made safe to show.

Symbols, paths and output are the program's, and a terminal obeys what is printed to it. So nothing
but visible signs and spaces passes: control characters, overrides of the writing direction, line
separators and bytes that are not UTF-8 are spelled out.
"""

import re

_OBEYED = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff"
    "\U000e0000-\U000e007f]"
)


def printable(text: str) -> str:
    """The text with everything that a terminal could obey written as an escape."""
    if text.isprintable():  # nearly always; none of what is obeyed counts as printable
        return text
    return _OBEYED.sub(_escaped, text)


def _escaped(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode("ascii")


def counted(number: int, word: str) -> str:
    """A number of things: "1 race", "2,000 races", "2 switches"."""
    plural = f"{word}es" if word.endswith(("ch", "s")) else f"{word}s"
    return f"{number:,} {word if number == 1 else plural}"
