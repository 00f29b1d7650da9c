# SPDX-License-Identifier: Apache-2.0
"""Imports point upstream only: a stage knows what comes before it, never what comes after."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "eitherway"

# Each stage with the stages it may know. What is in COMMON is known to all.
MAY_KNOW = {
    "model": set[str](),
    "detect": {"model"},
    "recording": {"model"},
    "symbols": {"model"},
    "machine": {"model"},
    "sandbox": {"machine"},
    "findings": {"model", "detect"},
    "judge": {"model"},
    "explain": {"model", "judge"},
    "engine": set[str](),
    "logs": {"model", "findings"},
    "report": {"model", "findings"},
    "worlds": {"model", "recording", "symbols", "machine", "sandbox"},
    "find": {
        "model",
        "detect",
        "recording",
        "symbols",
        "findings",
        "judge",
        "explain",
        "engine",
        "sandbox",
        "worlds",
    },
    "cli": {
        "find",
        "judge",
        "model",
        "detect",
        "recording",
        "symbols",
        "machine",
        "sandbox",
        "findings",
        "logs",
        "report",
        "worlds",
    },
}
COMMON = {"closing", "dispositions", "elf", "errors", "installed", "__version__"}


def imports(text: str) -> Iterator[str]:
    """The stages that a module imports, wherever in it."""
    for node in ast.walk(ast.parse(text)):
        names: list[str] = []
        if isinstance(node, ast.ImportFrom) and node.module == "eitherway":
            names = [f"eitherway.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [node.module]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        for name in names:
            if match := re.match(r"eitherway\.(\w+)", name):
                yield match[1]


def offences(stage: str, text: str) -> set[str]:
    return set(imports(text)) - MAY_KNOW[stage] - {stage} - COMMON


def modules() -> list[Path]:
    return sorted(path for path in SOURCE.rglob("*.py") if path.parent != SOURCE)


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_module_imports_upstream_only(path: Path) -> None:
    stage = path.relative_to(SOURCE).parts[0]
    assert stage in MAY_KNOW, f"{stage} is a new stage: say here what it may know"
    assert not offences(stage, path.read_text(encoding="utf-8"))


def test_the_common_modules_know_nobody() -> None:
    for name in COMMON - {"__version__"}:
        assert not set(imports((SOURCE / f"{name}.py").read_text(encoding="utf-8"))) - COMMON


@pytest.mark.parametrize(
    "text",
    [
        "from eitherway.cli.main import main",
        "import eitherway.report.text",
        "def late():\n    from eitherway import detect",
    ],
)
def test_an_import_downstream_is_noticed(text: str) -> None:
    assert offences("model", text)


def test_every_source_file_says_its_licence() -> None:
    root = SOURCE.parent.parent
    files = [
        p
        for d in ("src", "tests", "native", "include", "benchmarks", "format", "examples")
        for p in (root / d).rglob("*")
        if p.suffix in {".py", ".c", ".h", ".S", ".cc", ".toml"}
    ]
    missing = []
    for path in files:
        in_the_kernel = path.name == "seen.h" or path.name.endswith(".bpf.c")
        licence = "GPL-2.0-only OR BSD-2-Clause" if in_the_kernel else "Apache-2.0"
        if f"SPDX-License-Identifier: {licence}" not in path.read_text(encoding="utf-8")[:200]:
            missing.append(str(path))
    assert files
    assert not missing


def test_no_two_test_files_have_one_name() -> None:
    """pytest would import only one of them."""
    names = [path.name for path in (SOURCE.parent.parent / "tests").rglob("test_*.py")]
    assert sorted(set(names)) == sorted(names)
