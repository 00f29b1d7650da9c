# SPDX-License-Identifier: Apache-2.0
"""Checks of JSON values that were read: each takes one and returns what it stands for.

Checks are put together from smaller ones. A failing one tells what is wrong; the path to it is
added on the way out, so that nothing is paid for it when all is well.
"""

import re
from collections.abc import Callable
from enum import StrEnum
from typing import Any

Check = Callable[[object], Any]
JsonObject = dict[str, Any]


class ShapeError(ValueError):
    """What is wrong, and at which path of the JSON text."""

    def __init__(self, what: str, path: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.path = path

    def __str__(self) -> str:
        return f"${self.path} {self.what}"

    def inside(self, part: str) -> "ShapeError":
        """The same, seen from one level further out."""
        return type(self)(self.what, part + self.path)


def record(**fields: Check) -> Callable[[object], JsonObject]:
    """An object with exactly these fields."""

    def check(value: object) -> JsonObject:
        result = some(value)
        if len(result) != len(fields):
            missing = next(name for name in fields if name not in result)
            raise ShapeError(f"lacks the field {shown(missing)}")
        return result

    some = partial(**fields)
    return check


def partial(**fields: Check) -> Callable[[object], JsonObject]:
    """An object with any of these fields and no others."""

    def check(value: object) -> JsonObject:
        if not isinstance(value, dict):
            raise ShapeError(f"must be an object, is {_type_name(value)}")
        result: JsonObject = {}
        for name, item in value.items():
            if name not in fields:
                raise ShapeError(f"has the unknown field {shown(name)}")
            try:
                result[name] = fields[name](item)
            except ShapeError as error:
                raise error.inside(f".{name}") from None
        return result

    return check


def listing(item: Check, *, unique: bool = False) -> Check:
    """A list of such items."""

    def check(value: object) -> tuple[Any, ...]:
        if not isinstance(value, list):
            raise ShapeError(f"must be a list, is {_type_name(value)}")
        result = []
        for index, element in enumerate(value):
            try:
                result.append(item(element))
            except ShapeError as error:
                raise error.inside(f"[{index}]") from None
        if unique and len(set(result)) != len(result):
            raise ShapeError("has something twice")
        return tuple(result)

    return check


def text(value: object) -> str:
    """Any text."""
    if not isinstance(value, str):
        raise ShapeError(f"must be a text, is {_type_name(value)}")
    return value


def some_text(value: object) -> str:
    """A text that is not empty."""
    given = text(value)
    if not given:
        raise ShapeError("must not be empty")
    return given


def matching(pattern: str, what: str) -> Check:
    """A text of this form."""
    compiled = re.compile(pattern)

    def check(value: object) -> str:
        given = text(value)
        if not compiled.fullmatch(given):
            raise ShapeError(f"must be {what}, is {shown(given)}")
        return given

    return check


def number(low: int, high: int) -> Check:
    """A whole number in these bounds."""

    def check(value: object) -> int:
        if isinstance(value, float) and value.is_integer():
            value = int(value)  # to JSON, 1.0 is a whole number
        if isinstance(value, bool) or not isinstance(value, int):
            raise ShapeError(f"must be a whole number, is {_type_name(value)}")
        if not low <= value <= high:
            raise ShapeError(f"must be a whole number from {low} to {high}")
        return value

    return check


def word(words: type[StrEnum]) -> Check:
    """One of the values of this enumeration."""
    known = {word.value: word for word in words}

    def check(value: object) -> StrEnum:
        word = known.get(text(value))
        if word is None:
            raise ShapeError(f"must be one of {', '.join(known)}; is {shown(value)}")
        return word

    return check


def flag(value: object) -> bool:
    """true or false."""
    if not isinstance(value, bool):
        raise ShapeError(f"must be true or false, is {_type_name(value)}")
    return value


def shown(value: object) -> str:
    """A part of the input in a message: short, and nothing that a terminal would obey."""
    text = ascii(value)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "..."


def _type_name(value: object) -> str:
    return _TYPE_NAMES.get(type(value), "null")


_SHOWN = 60
_TYPE_NAMES = {
    dict: "an object",
    list: "a list",
    str: "a text",
    bool: "true or false",
    int: "a number",
    float: "a number",
}
