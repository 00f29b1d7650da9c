# SPDX-License-Identifier: Apache-2.0
"""A run in one word that can be copied: who decided, from which seed, for which build.

    ew1:0.1.0:threads:3fa2b1c09d7e:random-walk:7:c51e
    ─┬─ ──┬── ───┬─── ─────┬────── ─────┬───── ┬ ──┬─
     │    tool  world  build-id's   scheduler seed check (CRC-16 of all before it)
     layout of tokens  beginning    and options: pct,depth=3

Of a run in which races were looked for, an @ and the places in the code follow the options at which
plain accesses were decision points: pct,depth=3@Xh3k9_Qa2x0T. So a token says all that decides, and
whoever has the same build has the same run.

A token is no recording: what comes from outside is real when the run is done again.
"""

import binascii
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from eitherway import __version__
from eitherway.errors import BadInput
from eitherway.model.text import printable
from eitherway.model.words import World

LAYOUT = "ew1"
BUILD = 12  # digits of the build-id, in hexadecimal
_LARGEST_SEED = 2**64 - 1
_NAME = "[a-z][a-z0-9-]*"
_FORM = re.compile(
    rf"(?P<tool>[0-9A-Za-z.+-]+):(?P<world>{_NAME}):(?P<build>[0-9a-f]{{1,{BUILD}}})"
    rf":(?P<scheduler>{_NAME})(?P<options>(,{_NAME}=[0-9]{{1,20}})*)(@(?P<places>[0-9A-Za-z_-]*))?"
    r":(?P<seed>0|[1-9][0-9]{0,19})",
    re.ASCII,
)


@dataclass(frozen=True, slots=True)
class Token:
    """What a token says."""

    build: str  # the beginning of the build-id, or all of it
    scheduler: str
    seed: int
    options: Mapping[str, int] = field(default_factory=dict)  # of the scheduler
    places: str | None = None  # their name; None: races were not looked for
    world: World = World.THREADS
    tool: str = __version__

    def __str__(self) -> str:
        """The word."""
        options = "".join(f",{name}={value}" for name, value in sorted(self.options.items()))
        places = "" if self.places is None else f"@{self.places}"
        decides = f"{self.scheduler}{options}{places}"
        parts = (LAYOUT, self.tool, self.world, self.build[:BUILD], decides, self.seed)
        text = ":".join(map(str, parts))
        return f"{text}:{_check(text)}"

    def fits(self, build_id: str) -> bool:
        """Whether it names a run of this build."""
        return build_id.startswith(self.build[:BUILD])


def is_token(text: str) -> bool:
    """Whether it is meant as one; no recording is named so."""
    return re.match(r"ew[0-9]+:", text) is not None


def parse(text: str) -> Token:
    """Read a token. Raises `BadInput` that says what is wrong with it."""
    shown = printable(text if len(text) <= 80 else f"{text[:80]}...")
    body, _, check = text.strip().rpartition(":")
    layout, _, rest = body.partition(":")
    if not is_token(text.strip()):
        raise BadInput(f"'{shown}' is no token", fix="a token begins with ew1:")
    if check != _check(body):
        raise BadInput(f"the token {shown} was changed on its way", fix="copy all of it again")
    if layout != LAYOUT:
        raise BadInput(f"the token {shown} has another layout than {LAYOUT}: it is of a newer tool")
    match = _FORM.fullmatch(rest)
    if match is None or int(match["seed"]) > _LARGEST_SEED:
        raise BadInput(f"the token {shown} makes no sense, though its check is right")
    if match["world"] not in set(World):
        raise BadInput(f"the token {shown} is of a world that is not known")
    return _token(match)


def _token(match: re.Match[str]) -> Token:
    pairs = (pair.split("=") for pair in match["options"].split(",")[1:])
    options = {name: int(value) for name, value in pairs}
    return Token(
        build=match["build"],
        scheduler=match["scheduler"],
        seed=int(match["seed"]),
        options=options,
        places=match["places"],
        world=World(match["world"]),
        tool=match["tool"],
    )


def _check(text: str) -> str:
    """Any one character that is wrong, or two that changed places, change it."""
    return f"{binascii.crc_hqx(text.encode(errors='surrogatepass'), 0xFFFF):04x}"
