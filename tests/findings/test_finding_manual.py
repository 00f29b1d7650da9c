# SPDX-License-Identifier: Apache-2.0
"""docs/findings.md says what the schema and the code say."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from eitherway.findings.suppressions import Type
from eitherway.model.words import Arm, Class, Kind, World

ROOT = Path(__file__).parents[2]
MANUAL = (ROOT / "docs" / "findings.md").read_text(encoding="utf-8")
SCHEMA = json.loads((ROOT / "format" / "finding.schema.json").read_text(encoding="utf-8"))
OBJECTS = {"document": SCHEMA, **SCHEMA["$defs"]}


def type_of(field: dict[str, Any]) -> str:
    """The type of a field in words, its bounds included."""
    if "$ref" in field:
        return f"[{name_of(field)}](#{name_of(field)})"
    if "const" in field:
        return f"`{field['const']}`"
    if "enum" in field:
        return "one of " + ", ".join(f"`{word}`" for word in field["enum"])
    if field["type"] == "array":
        return f"list of {type_of(field['items'])}"
    if field["type"] == "integer":
        return f"{field['minimum']} to {field['maximum']}"
    if field["type"] == "string" and field.get("minLength"):
        return "text, not empty"
    return {"string": "text", "boolean": "true or false", "object": "object"}[field["type"]]


def name_of(field: dict[str, Any]) -> str:
    return str(field["$ref"]).rpartition("/")[2]


def rows(name: str) -> Iterator[str]:
    for field, schema in OBJECTS[name]["properties"].items():
        target = SCHEMA["$defs"][name_of(schema)] if "$ref" in schema else schema
        yield f"| `{field}` | {type_of(schema)} | {target['description']} |"


@pytest.mark.parametrize("name", OBJECTS)
def test_the_manual_lists_the_fields_of_the_schema(name: str) -> None:
    found = re.search(rf"^### {name}\n(.*?)(?=^##|\Z)", MANUAL, re.MULTILINE | re.DOTALL)
    assert found, f"docs/findings.md has no section '### {name}'"
    listed = [line for line in found[1].split("\n") if line.startswith("| `")]
    assert listed == list(rows(name)), "\n".join(rows(name))


@pytest.mark.parametrize(
    ("words", "path"),
    [
        (World, ("finding", "world")),
        (Kind, ("finding", "kind")),
        (Class, ("finding", "class")),
    ],
)
def test_the_schema_has_the_words_of_the_model(words: Any, path: tuple[str, str]) -> None:
    schema = SCHEMA["$defs"][path[0]]["properties"][path[1]]
    assert schema["enum"] == [word.value for word in words]


def test_the_schema_has_the_arms_and_counts_of_the_model() -> None:
    arms = SCHEMA["$defs"]["confidence"]["properties"]["arms"]["items"]["enum"]
    assert arms == [arm.value for arm in Arm]
    classes = SCHEMA["$defs"]["summary"]["properties"]["classes"]["properties"]
    assert list(classes) == [klass.value for klass in Class]


def test_nothing_else_may_be_in_a_document() -> None:
    for name, schema in OBJECTS.items():
        assert schema["additionalProperties"] is False, name
        assert name == "frame" or schema["required"] == list(schema["properties"]), name
        assert all("$ref" in f or f.get("description") for f in schema["properties"].values()), name


def test_the_manual_explains_every_type_of_suppression() -> None:
    for known in Type:
        assert f"| `{known.value}:` |" in MANUAL
