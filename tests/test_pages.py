# SPDX-License-Identifier: Apache-2.0
"""What the pages say about the project is so: links, folders, what CI runs, what set-up watches."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]
LINK = re.compile(r"\[[^\]]*\]\(([^()\s]+)\)")
CODE = re.compile(r"^```.*?^```$|`[^`\n]*`", re.MULTILINE | re.DOTALL)


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def anchors(text: str) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(
        r"^#+ (.*)$",
        re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL),
        re.MULTILINE,
    )
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken(page: Path, text: str) -> list[str]:
    """The links of a page that lead nowhere in the project."""
    wrong = []
    for link in LINK.findall(CODE.sub("", text)):
        if re.match(r"\w+:", link):
            continue
        name, _, anchor = link.partition("#")
        target = page.parent / name if name else page
        if not target.exists() or (anchor and anchor not in anchors(target.read_text("utf-8"))):
            wrong.append(link)
    return wrong


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_somewhere(page: Path) -> None:
    assert broken(page, page.read_text(encoding="utf-8")) == []


def test_a_link_that_leads_nowhere_is_noticed() -> None:
    text = "# Two words\n[a](README.md#limits) [b](#two-words) [c](https://x.org) `[d](e)`\n"
    assert broken(ROOT / "x.md", text.replace("(#two-words)", "(README.md)")) == []
    assert broken(ROOT / "README.md", text) == ["#two-words"]
    assert broken(ROOT / "docs" / "x.md", text) == ["README.md#limits", "#two-words"]


# --- ARCHITECTURE.md and `ls` tell the same story


def told() -> set[str]:
    """The folders in the first column of the table."""
    rows = re.findall(r"^\| (`.*?) \|", read("ARCHITECTURE.md"), re.MULTILINE)
    return {name for row in rows for name in re.findall(r"`([^`]+)/`", row)}


def folders(inside: str) -> set[str]:
    """The folders that hold a file of the project."""
    ignored = {line.strip("/") for line in read(".gitignore").splitlines()}
    return {
        str(folder.relative_to(ROOT))
        for folder in (ROOT / inside).iterdir()
        if folder.is_dir() and not folder.name.startswith(".") and folder.name not in ignored
        if any(file.is_file() and "__pycache__" not in file.parts for file in folder.rglob("*"))
    }


def test_every_folder_that_is_told_is_there() -> None:
    assert len(told()) > 10
    assert [name for name in sorted(told()) if not (ROOT / name).is_dir()] == []


@pytest.mark.parametrize("inside", [".", "native", "src/eitherway"])
def test_every_folder_that_is_there_is_told(inside: str) -> None:
    parents = {name.split("/")[0] for name in told()}
    assert folders(inside) - told() - parents == set()


# --- CONTRIBUTING.md, CI and set-up


def test_what_ci_runs_is_what_contributing_says() -> None:
    runs = re.findall(r"^make (\w+)$", read(".ci/run"), re.MULTILINE)
    assert f"CI runs `make {' '.join(runs)}`." in read("CONTRIBUTING.md")


def test_set_up_is_done_again_when_something_that_is_installed_changes() -> None:
    """tools/setup compares times of what CMake reads; what it does not list would stay old."""
    found = re.search(r'^inputs="(.*)"$', read("tools/setup"), re.MULTILINE)
    assert found is not None
    inputs = found[1].split()
    assert [name for name in inputs if not (ROOT / name).exists()] == []
    rules = read("CMakeLists.txt")
    used = re.findall(r"add_subdirectory\(([\w./-]+)|install\(FILES ([\w./-]+)", rules)
    assert len(used) >= 2
    version = re.search(r'^input = "(.*)"$', read("pyproject.toml"), re.MULTILINE)
    assert version is not None  # compiled into the runtime
    for name in [*("".join(pair) for pair in used), "pyproject.toml", "CMakeLists.txt", version[1]]:
        assert any(Path(name).is_relative_to(known) for known in inputs), name
