# SPDX-License-Identifier: Apache-2.0
"""The page in a real browser: what it shows, what keys do, and that nothing in it is obeyed."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from benchmarks import browser as browsers
from benchmarks.browser import Browser
from tests.report.report_samples import HOSTILE, hostile, race, summary_of

from eitherway.model.finding import Finding, Ordered, Source, Summary
from eitherway.model.history import Moment
from eitherway.model.words import Class, Kind, OpKind
from eitherway.report.html import HtmlReport

pytestmark = pytest.mark.skipif(
    not browsers.is_there(), reason="chromium is not installed: tools/setup dev installs it"
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with Browser() as one:
        yield one


def shown(
    browser: Browser, path: Path, findings: Sequence[Finding], summary: Summary | None = None
) -> Browser:
    with path.open("w", encoding="utf-8") as file:
        HtmlReport().write(findings, summary or summary_of(*findings), file)
    browser.open(path)
    return browser


def text_of(browser: Browser, selector: str) -> Any:
    return browser.run(f"document.querySelector({selector!r}).textContent")


def rows(browser: Browser) -> list[str]:
    script = "[...document.querySelectorAll('.row .what')].map(one => one.textContent)"
    return list(browser.run(script))


def search(browser: Browser, words: str) -> None:
    browser.run(
        f"(() => {{ const box = document.getElementById('search'); box.value = {words!r};"
        " box.dispatchEvent(new Event('input')); })()"
    )


def test_a_race_is_drawn(browser: Browser, tmp_path: Path) -> None:
    shown(browser, tmp_path / "page.html", [race()])
    assert browser.troubles() == []
    assert browser.asked_for() == [(tmp_path / "page.html").as_uri()]
    assert text_of(browser, "#finding h2") == "Data race on balance"
    assert text_of(browser, ".lanes .pill") == "nothing decides this order"
    assert browser.run("document.querySelectorAll('.lanes .moment').length") == 4
    assert browser.run("document.querySelectorAll('.lanes .edge').length") == 2
    assert browser.run("document.querySelectorAll('.lanes .edge.chance').length") == 1
    assert text_of(browser, ".run code") == "eitherway replay 20310501-120000-000001"
    assert "balance = before + amount;" in text_of(browser, ".code .hit")
    link = browser.run("document.querySelector('.frame a').href")
    assert link == "vscode://file/src/bank/bank.c:12:5"
    assert text_of(browser, ".proof li:last-child") == "So B can come first."


def marked(browser: Browser) -> list[str]:
    script = "[...document.querySelectorAll('.order .hit')].map(one => one.textContent)"
    return list(browser.run(script))


@pytest.mark.parametrize(
    ("outputs", "hits"),
    [
        (("a\nb\x1b\nc", "a\nc"), ["b\\x1b"]),
        (("a\nthink\nact", "a\nact\nthink"), ["think", "act", "act", "think"]),
        (("a\nb", "a\nb"), []),
    ],
)
def test_the_lines_that_differ_are_marked(
    browser: Browser, tmp_path: Path, outputs: tuple[str, str], hits: list[str]
) -> None:
    """Each line is one; where both orders write the same lines, those in another place."""
    orders = tuple(Ordered("first", "ends", output) for output in outputs)
    shown(browser, tmp_path / "page.html", [replace(race(), orders=orders)])
    assert marked(browser) == hits


def test_who_wants_a_lock_is_drawn_to_who_has_it(browser: Browser, tmp_path: Path) -> None:
    taken = [(1, "front"), (2, "back"), (1, "back"), (2, "front")]
    moments = tuple(
        Moment(actor, step, OpKind.ACQUIRE, "lock", f"mutex '{lock}'", side=step)
        for step, (actor, lock) in enumerate(taken, start=1)
    )
    history = replace(race().history, moments=moments, edges=())
    ring = replace(race("ring"), kind=Kind.DEADLOCK, history=history)
    shown(browser, tmp_path / "page.html", [ring, race()])
    assert browser.run("document.querySelectorAll('.lanes .wait').length") == 2
    assert "one has the lock, the other wants it" in text_of(browser, ".legend")
    browser.press("j")
    assert browser.run("document.querySelectorAll('.lanes .wait').length") == 0


@pytest.mark.parametrize(("source", "locks"), [("eitherway", 2), ("DRD", 0)])
def test_no_lock_is_told_only_by_who_looks(
    browser: Browser, tmp_path: Path, source: str, locks: int
) -> None:
    shown(browser, tmp_path / "page.html", [replace(race(), sources=(Source(source, "x"),))])
    facts = browser.run("[...document.querySelectorAll('.card dt')].map(one => one.textContent)")
    assert facts.count("locks held") == locks


def test_the_list_is_searched_and_filtered(browser: Browser, tmp_path: Path) -> None:
    calm = race("calm", Class.SINGLE_ORDERING)
    shown(browser, tmp_path / "page.html", [race(), race("queue.head"), calm])
    assert len(rows(browser)) == 3
    search(browser, "QUEUE deposit")
    assert rows(browser) == ["Data race queue.head"]
    assert text_of(browser, "#shown") == "1 of 3 findings"
    assert text_of(browser, "#finding h2") == "Data race on queue.head"
    search(browser, "nowhere")
    assert rows(browser) == []
    assert "No finding matches" in text_of(browser, "#finding")
    browser.press("Escape")
    assert len(rows(browser)) == 3
    browser.run("document.querySelector('#classes .single-ordering').click()")
    assert rows(browser) == ["Data race balance", "Data race queue.head"]
    assert browser.troubles() == []


def test_keys_lead_through_the_list(browser: Browser, tmp_path: Path) -> None:
    shown(browser, tmp_path / "page.html", [race(), race("one"), race("two")])
    for key, title in (
        ("j", "Data race on one"),
        ("End", "Data race on two"),
        ("j", "Data race on two"),
        ("k", "Data race on one"),
        ("Home", "Data race on balance"),
    ):
        browser.press(key)
        assert text_of(browser, "#finding h2") == title
    browser.press("j")
    assert browser.run("location.hash") == f"#{race('one').id}"
    browser.press("/")
    assert browser.run("document.activeElement.id") == "search"
    browser.press("j")  # is typed now
    assert text_of(browser, "#finding h2") == "Data race on one"
    browser.press("Escape")
    assert browser.run("document.getElementById('search').value") == ""
    browser.press("?")
    assert browser.run("document.getElementById('keys').hidden") is False


def test_what_is_marked_becomes_a_command(browser: Browser, tmp_path: Path) -> None:
    shown(browser, tmp_path / "page.html", [race(), race("one"), race("two")])
    for key in ("m", "j", "m", "m", "j"):
        browser.press(key)
    browser.run("document.querySelector('#finding .small').click()")
    assert text_of(browser, "#marked") == "2 marked: copy the command"
    assert browser.run("suppressing()") == (
        "eitherway report FINDINGS --gen-suppressions FILE "
        f"--mark {race().id} --mark {race('two').id}"
    )
    assert browser.run("document.querySelectorAll('.star').length") == 2


def test_an_address_leads_to_its_finding(browser: Browser, tmp_path: Path) -> None:
    shown(browser, tmp_path / "page.html", [race(), race("one"), race("two")])
    browser.run(f"new Promise(done => {{ addEventListener('hashchange', () => done());"
                f" location.hash = '#{race('two').id}'; }})")  # fmt: skip
    assert text_of(browser, "#finding h2") == "Data race on two"


def test_of_many_only_those_in_sight_are_elements(browser: Browser, tmp_path: Path) -> None:
    many = [race(f"variable_{number}") for number in range(3000)]
    shown(browser, tmp_path / "page.html", many)
    assert text_of(browser, "#shown") == "3,000 findings"
    assert len(rows(browser)) < 40
    browser.press("End")
    assert rows(browser)[-1] == "Data race variable_2999"
    assert len(rows(browser)) < 40


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_that_a_program_names_is_obeyed(
    browser: Browser, tmp_path: Path, text: str
) -> None:
    """Neither run as a script, nor made an element, nor fetched."""
    shown(browser, tmp_path / "page.html", [hostile(text)])
    browser.run("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    browser.printed()
    assert browser.run("document.title") == "EitherWay: 1 finding"
    assert browser.run("document.querySelectorAll('img, script:not([id]) ~ script').length") == 0
    links = browser.run("[...document.querySelectorAll('a')].map(one => one.protocol)")
    assert set(links) <= {"file:", "vscode:"}
    assert browser.asked_for() == [(tmp_path / "page.html").as_uri()]
    assert browser.troubles() == []


def test_colours_follow_the_system_and_paper_is_white(browser: Browser, tmp_path: Path) -> None:
    shown(browser, tmp_path / "page.html", [race()])
    ground = "getComputedStyle(document.body).backgroundColor"
    browser.prefer("dark")
    dark = browser.run(ground)
    browser.prefer("light")
    assert dark != browser.run(ground)
    assert browser.printed().startswith(b"%PDF")


def test_what_is_printed_is_every_finding_that_is_shown(browser: Browser, tmp_path: Path) -> None:
    shown(browser, tmp_path / "page.html", [race(), race("one"), race("two")])
    search(browser, "two")
    browser.run(
        "addEventListener('beforeprint', () => { window.printed = "
        "[...document.querySelectorAll('#print h2')].map(one => one.textContent); })"
    )
    browser.printed()
    assert browser.run("window.printed") == ["Data race on two"]
    assert browser.run("document.querySelectorAll('#print *').length") == 0


@pytest.mark.parametrize("width", [1024, 1440])
def test_the_page_is_not_wider_than_its_window(
    browser: Browser, tmp_path: Path, width: int
) -> None:
    browser.resize(width, 700)
    shown(browser, tmp_path / "page.html", [race()])
    assert browser.run("document.documentElement.scrollWidth") <= width
    assert browser.run("document.getElementById('finding').scrollWidth") <= width


def test_nothing_found_says_what_was_looked_at(browser: Browser, tmp_path: Path) -> None:
    shown(browser, tmp_path / "page.html", [])
    assert "Nothing was found" in text_of(browser, "#finding")
    assert "8 schedules were tried" in text_of(browser, "#finding")
    assert browser.troubles() == []
