# SPDX-License-Identifier: Apache-2.0
"""The JSON form: what is written is read again, fits the schema, and bad input says where."""

import copy
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.findings.finding_strategies import documents

from eitherway.errors import BadInput, Unavailable
from eitherway.findings import document
from eitherway.findings.document import load, read_bytes
from eitherway.model.document import document_from_json, lines_of, read_document
from eitherway.model.finding import Document
from eitherway.model.shape import ShapeError

ROOT = Path(__file__).parents[2]
SCHEMA = json.loads((ROOT / "format" / "finding.schema.json").read_text(encoding="utf-8"))
SAMPLES = sorted((ROOT / "format" / "samples" / "findings").glob("*.json"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def sample() -> Any:
    """A fresh copy of a document with two findings, to be spoiled."""
    path = ROOT / "format" / "samples" / "findings" / "threads.json"
    return json.loads(path.read_text(encoding="utf-8"))


def written(document: Document) -> str:
    return "".join(lines_of(document))


def test_the_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@given(documents)
@settings(max_examples=60)
def test_what_is_written_is_read_again(document: Document) -> None:
    assert read_document(written(document)) == document


@given(documents)
@settings(max_examples=25)
def test_what_is_written_fits_the_schema(document: Document) -> None:
    VALIDATOR.validate(json.loads(written(document)))


@given(documents)
@settings(max_examples=25)
def test_what_is_written_is_ascii_and_one_finding_a_line(document: Document) -> None:
    text = written(document)
    assert text.isascii()
    assert text.count("\n") == 5 + len(document.findings)


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_a_sample_is_valid_and_reads_back_to_itself(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    VALIDATOR.validate(json.loads(text))
    assert written(read_document(text)) == text


def test_there_are_samples_of_every_world() -> None:
    worlds = {finding.world for path in SAMPLES for finding in load(str(path)).findings}
    assert len(worlds) == 3


def first(document: Any) -> Any:
    return document["findings"][0]


def side(document: Any) -> Any:
    return first(document)["operations"][0]


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda d: d.pop("summary"), "$ lacks the field 'summary'"),
        (lambda d: d.update(more=1), "$ has the unknown field 'more'"),
        (lambda d: d.update(format=2), "$.format is 2, and this version reads up to 1"),
        (lambda d: d.update(format=0), "$.format is 0; the first format is 1"),
        (lambda d: d.update(format="1"), "$.format must be a whole number"),
        (lambda d: d.update(findings={}), "$.findings must be a list, is an object"),
        (lambda d: d.update(tool=None), "$.tool must be an object, is null"),
        (lambda d: first(d).pop("class"), "$.findings[0] lacks the field 'class'"),
        (lambda d: first(d).update({"class": "safe"}), "$.findings[0].class must be one of spec-"),
        (lambda d: first(d).update(id="EW-12"), "$.findings[0].id must be an id such as"),
        (lambda d: first(d).update(reason=3), "$.findings[0].reason must be a text, is a number"),
        (lambda d: side(d).update(line=-1), "$.findings[0].operations[0].line must be a whole"),
        (lambda d: side(d).update(line=True), ".line must be a whole number, is true or false"),
        (lambda d: side(d).update(line=13), "[0].line is not that of the innermost frame"),
        (lambda d: side(d).update(actor=""), "$.findings[0].operations[0].actor must not be empty"),
        (
            lambda d: side(d)["stack"][1].update(inlined=1),
            ".stack[1].inlined must be true or false",
        ),
        (lambda d: first(d)["seen"].update(count=0), "$.findings[0].seen.count must be a whole"),
        (
            lambda d: first(d)["seen"].update(first="today"),
            "$.findings[0].seen.first must be a time",
        ),
        (
            lambda d: first(d).update(sources=2 * first(d)["sources"]),
            ".sources has something twice",
        ),
        (lambda d: d["summary"].update(classes={"safe": 1}), "has the unknown field 'safe'"),
    ],
)
def test_a_bad_document_says_where(spoil: Callable[[Any], object], message: str) -> None:
    document = sample()
    spoil(document)
    with pytest.raises(ShapeError) as error:
        document_from_json(document)
    assert message in str(error.value)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"format": NaN}',
        b'{"format": ' + b"9" * 10_000 + b"}",
        b"null",
        b"[]",
        b'"\\ud800"',
    ],
    ids=lambda text: text[:12].decode("latin-1"),
)
def test_what_is_no_document_is_refused(text: bytes) -> None:
    with pytest.raises(ShapeError):
        read_document(text)


@pytest.mark.parametrize(
    "text",
    [
        '{"format": 1, "format": 1}',
        '{"format": 1, "tool": {"name": "a", "version": "", "name": "b"}}',
        '[{"\\u0061": 1, "a": 2}]',
    ],
)
def test_a_field_that_stands_twice_is_refused(text: str) -> None:
    with pytest.raises(ShapeError, match=r"has an object with the field '\w+' twice"):
        read_document(text)


def test_a_document_of_a_newer_version_says_what_to_do(tmp_path: Path) -> None:
    file = tmp_path / "f.json"
    file.write_text('{"format": 2, "verdicts": {}}', encoding="utf-8")
    with pytest.raises(BadInput, match=r"\.format is 2, and this version reads up to 1") as error:
        load(str(file))
    assert error.value.fix == "pip install --upgrade eitherway"


def test_a_message_shows_no_control_characters() -> None:
    with pytest.raises(ShapeError) as error:
        document_from_json({"format": 1, "\x1b[31m" + "x" * 500: 1})
    assert "\x1b" not in str(error.value)
    assert len(str(error.value)) < 200


def test_a_whole_number_may_be_written_as_json_allows() -> None:
    document = sample()
    first(document)["confidence"]["paths"] = 1.0
    assert document_from_json(document).findings[0].confidence.paths == 1


def test_a_place_without_a_stack_becomes_its_innermost_frame() -> None:
    document = sample()
    side(document)["stack"] = []
    (frame,) = document_from_json(document).findings[0].operations[0].stack
    assert (frame.function, frame.line) == (side(document)["function"], side(document)["line"])


def test_a_file_that_is_none_is_named(tmp_path: Path) -> None:
    file = tmp_path / "f.json"
    file.write_text('{"format": 1}', encoding="utf-8")
    with pytest.raises(BadInput, match=r"f\.json is not a findings document: \$ lacks the field"):
        load(str(file))
    with pytest.raises(BadInput, match="cannot be read: No such file"):
        load(str(tmp_path / "none.json"))
    with pytest.raises(BadInput, match="cannot be read: Is a directory"):
        load(str(tmp_path))


def test_a_device_has_no_end_and_is_refused() -> None:
    with pytest.raises(BadInput, match="/dev/zero cannot be read: Is a device"):
        read_bytes("/dev/zero")
    assert read_bytes("/dev/null") == b""  # "no suppressions", as people write it


def test_a_pipe_that_nobody_writes_to_is_empty(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert read_bytes(str(tmp_path / "pipe")) == b""  # or this test never ends


def test_a_pipe_is_read_to_its_end() -> None:
    content = b"x" * 200_000  # more than a pipe holds
    command = [sys.executable, "-c", "import sys; sys.stdout.write('x' * 200_000)"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        assert read_bytes(f"/dev/fd/{writer.stdout.fileno()}") == content


def test_there_is_a_largest_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "sparse.json"
    with file.open("wb") as sparse:
        sparse.truncate(document.LARGEST + 1)
    with pytest.raises(BadInput, match=r"sparse\.json cannot be read: it has more than 1024 MiB"):
        read_bytes(str(file))
    monkeypatch.setattr(document, "LARGEST", 1000)
    reading, writing = os.pipe()
    os.write(writing, b"x" * 1001)
    with pytest.raises(BadInput, match="cannot be read: it has more than"):
        read_bytes(f"/dev/fd/{reading}")  # and not only once the writer is done
    os.close(reading)
    os.close(writing)


def test_too_little_memory_is_the_machines_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def exhausted(_: bytes) -> NoReturn:
        raise MemoryError

    monkeypatch.setattr(document, "read_document", exhausted)
    (tmp_path / "f.json").write_bytes(b"{}")
    with pytest.raises(Unavailable, match="does not fit into the memory of this machine"):
        load(str(tmp_path / "f.json"))


# --- fuzzing --------------------------------------------------------------------------------------

JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 2**70),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=5),
    st.builds(list),
    st.builds(dict),  # its own each time: they are changed in place
    st.builds(lambda: [{}]),
    st.sampled_from(["EW-0123456789abcdef", "flip", "threads", "unjudged"]),
)


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every container of a document with every key in it."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in list(items):
        yield value, key
        if isinstance(item, dict | list):
            yield from places(item)


def refusal_of(reading: Callable[[], object]) -> str:
    """What the reader says against it; anything but a `ShapeError` fails the test."""
    try:
        reading()
    except ShapeError as error:
        return str(error)
    return ""


@st.composite
def spoiled(draw: st.DrawFn) -> Any:
    document = copy.deepcopy(sample())
    for _ in range(draw(st.integers(1, 3))):
        container, key = draw(st.sampled_from(list(places(document))))
        action = draw(st.sampled_from(["replace", "delete", "add"]))
        if action == "replace":
            container[key] = draw(JUNK)
        elif action == "delete":
            del container[key]
        elif isinstance(container, dict):
            container[draw(st.text(max_size=5))] = draw(JUNK)
        else:
            container.append(draw(JUNK))
    return document


CONTRADICTIONS = ("innermost frame", "is the number of no actor", "from no moment to a later one")


@given(spoiled())
@settings(max_examples=600)
def test_reader_and_schema_agree(document: Any) -> None:
    """The reader also refuses what contradicts itself, which a schema cannot say."""
    refusal = refusal_of(lambda: document_from_json(document))
    if not any(words in refusal for words in CONTRADICTIONS):
        assert VALIDATOR.is_valid(document) == (refusal == "")


@given(st.integers(0, 4000), st.binary(max_size=3), st.integers(0, 3))
@settings(max_examples=400)
def test_damaged_bytes_are_read_or_refused(at: int, junk: bytes, skipped: int) -> None:
    text = json.dumps(sample()).encode("ascii")
    refusal = refusal_of(lambda: read_document(text[:at] + junk + text[at + skipped :]))
    assert refusal == "" or refusal.startswith("$")
