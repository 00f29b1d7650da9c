# SPDX-License-Identifier: Apache-2.0
"""Saved findings documents, read from files and standard input."""

import sys
from pathlib import Path

from eitherway.errors import BadInput
from eitherway.model.document import read_document
from eitherway.model.finding import Document
from eitherway.model.shape import ShapeError


def load(source: str) -> Document:
    """The document in this file; `-` is standard input."""
    name = "standard input" if source == "-" else source
    try:
        return read_document(read_bytes(source))
    except ShapeError as error:
        raise BadInput(
            f"{name} is not a findings document: {error}",
            fix="eitherway races --json FILE writes one",
        ) from None


def read_bytes(source: str) -> bytes:
    """The content of a file that the user named, `-` for standard input."""
    if source == "-":
        return sys.stdin.buffer.read()
    try:
        return Path(source).read_bytes()
    except OSError as error:
        raise BadInput(f"{source} cannot be read: {error.strerror}") from None


def read_text(source: str) -> str:
    """The text of a file that the user named."""
    try:
        return read_bytes(source).decode("utf-8")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise BadInput(f"{source}:{line}: is not UTF-8 text") from None
