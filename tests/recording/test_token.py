# SPDX-License-Identifier: Apache-2.0
"""A token says the same when it is read as when it was written, and nothing else is one."""

import random
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eitherway.errors import BadInput
from eitherway.model.words import World
from eitherway.recording.token import BUILD, Token, _check, is_token, parse

NAMES = st.from_regex(r"[a-z][a-z0-9-]{0,9}", fullmatch=True)
TOKENS = st.builds(
    Token,
    build=st.text("0123456789abcdef", min_size=1, max_size=40),
    scheduler=NAMES,
    seed=st.integers(0, 2**64 - 1),
    options=st.dictionaries(NAMES, st.integers(0, 2**64), max_size=3),
    places=st.none() | st.from_regex("[0-9A-Za-z_-]*", fullmatch=True),
    world=st.sampled_from(World),
    tool=st.sampled_from(["0.1.0", "1.2.3rc1", "2.0.0+local.4"]),
)
EXAMPLE = Token("3fa2b1c09d7e55", "random-walk", 7, tool="0.1.0")


def test_a_token_is_one_word_that_no_shell_changes() -> None:
    text = str(EXAMPLE)
    assert text.startswith("ew1:0.1.0:threads:3fa2b1c09d7e:random-walk:7:")
    assert len(text) < 60
    assert set(text) <= set(string.ascii_letters + string.digits + ":.+-=,")


@given(TOKENS)
def test_what_is_written_is_read(token: Token) -> None:
    text = str(token)
    assert is_token(text)
    again = parse(text)
    assert str(again) == text
    assert again.build == token.build[:BUILD]
    assert (again.seed, again.scheduler, again.options, again.places) == (
        token.seed,
        token.scheduler,
        token.options,
        token.places,
    )


@given(TOKENS, st.data())
def test_a_slip_of_the_pen_is_noticed(token: Token, data: st.DataObject) -> None:
    text = str(token)
    place = data.draw(st.integers(4, len(text) - 1))
    other = data.draw(st.sampled_from(sorted(set(string.printable) - {text[place]})))
    if place == len(text) - 1 and not other.strip():
        return  # white space around a token is no part of it
    with pytest.raises(BadInput):
        parse(text[:place] + other + text[place + 1 :])


@given(TOKENS, st.data())
def test_two_characters_that_changed_places_are_noticed(token: Token, data: st.DataObject) -> None:
    text = str(token)
    place = data.draw(st.integers(4, len(text) - 2))
    turned = text[:place] + text[place + 1] + text[place] + text[place + 2 :]
    if turned != text:
        with pytest.raises(BadInput):
            parse(turned)


@given(st.text(max_size=200))
def test_any_text_is_a_token_or_refused(text: str) -> None:
    try:
        token = parse(text)
    except BadInput:
        return
    assert str(token) == text.strip()


def test_no_mutation_does_more_than_be_refused() -> None:
    dice = random.Random(11)  # noqa: S311  repeatable, not secret
    for _ in range(20_000):
        text = list(str(EXAMPLE))
        for _ in range(dice.randrange(1, 5)):
            text[dice.randrange(len(text))] = chr(dice.choice([0, 10, 45, 58, 120, 233, 0x1F600]))
        body = "".join(text).rpartition(":")[0]
        for made in ("".join(text), f"{body}:{_check(body)}"):  # also with a check that is right
            try:
                assert str(parse(made)) == made.strip()
            except BadInput:
                continue


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("", "is no token"),
        ("20260101-000000-000000", "is no token"),
        ("ew2:0.1.0:threads:3fa2:random-walk:7", "another layout"),
        ("ew1:0.1.0:threads:3fa2:random-walk", "makes no sense"),
        ("ew1:0.1.0:threads:3fa2:random-walk:07", "makes no sense"),
        ("ew1:0.1.0:threads:3fa2:random-walk:-7", "makes no sense"),
        ("ew1:0.1.0:threads:3fa2:random-walk:18446744073709551616", "makes no sense"),
        (f"ew1:0.1.0:threads:3fa2:random-walk:{'9' * 5000}", "makes no sense"),
        ("ew1:0.1.0:threads:xyz:random-walk:7", "makes no sense"),
        ("ew1:0.1.0:nowhere:3fa2:random-walk:7", "a world that is not known"),
        ("ew1:0.1.0:threads:3fa2:pct,depth:7", "makes no sense"),
    ],
)
def test_what_is_wrong_is_said(body: str, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        parse(f"{body}:{_check(body)}")


def test_a_token_is_of_one_build() -> None:
    assert EXAMPLE.fits("3fa2b1c09d7e55")
    assert EXAMPLE.fits("3fa2b1c09d7effff")
    assert not EXAMPLE.fits("3fa2b1c09d")
    assert not EXAMPLE.fits("")
