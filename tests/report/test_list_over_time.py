# SPDX-License-Identifier: Apache-2.0
"""One list that each run adds to, and suppressions for what is marked in it."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.report.test_report_verb import LOGS, Report, report

__all__ = ["report"]  # the fixture


def list_in(folder: Path) -> dict[str, Any]:
    findings = json.loads((folder / "list.json").read_text("utf-8"))["findings"]
    return {finding["id"]: finding for finding in findings}


def test_a_list_begins_grows_and_knows_what_it_has(report: Report, tmp_path: Path) -> None:
    first = report("threads.json", "--merge", "list.json")
    assert (first.returncode, len(list_in(tmp_path))) == (1, 2), first.stderr
    again = report("threads.json", "--merge", "list.json")
    assert again.returncode == 0  # nothing is new
    assert "0 new, 2 in the baseline, 0 gone" in again.stdout
    other = report("processes.json", "--merge", "list.json")
    assert other.returncode == 1
    assert "2 new, 2 in the baseline, 2 gone" in other.stdout
    assert len(list_in(tmp_path)) == 4


def test_times_and_counts_are_kept(report: Report, tmp_path: Path) -> None:
    report("threads.json", "--merge", "list.json")
    before = list_in(tmp_path)
    report("threads.json", "--merge", "list.json")
    for one, finding in list_in(tmp_path).items():
        assert finding["seen"]["count"] == 2 * before[one]["seen"]["count"]
        assert finding["seen"]["first"] == before[one]["seen"]["first"]


def test_what_is_told_better_later_is_not_new(report: Report, tmp_path: Path) -> None:
    report(str(LOGS / "drd.log"), "--merge", "list.json")
    known = len(list_in(tmp_path))
    done = report(str(LOGS / "helgrind.log"), "--merge", "list.json")
    assert known == 3
    assert "1 new, 3 in the baseline" in done.stdout  # the ring of locks
    tools = [
        {source["tool"] for source in finding["sources"]} for finding in list_in(tmp_path).values()
    ]
    assert tools.count({"DRD", "Helgrind"}) == 3


def test_a_list_that_is_none_is_refused_and_stays(report: Report, tmp_path: Path) -> None:
    (tmp_path / "list.json").write_text("precious", encoding="utf-8")
    done = report("threads.json", "--merge", "list.json")
    assert done.returncode == 65
    assert (tmp_path / "list.json").read_text("utf-8") == "precious"


def test_suppressions_take_out_what_was_marked_and_say_what_else(
    report: Report, tmp_path: Path
) -> None:
    log = str(LOGS / "tsan-gcc.log")
    every = json.loads(report(log, "--json", "-").stdout)["findings"]
    races = [finding for finding in every if finding["kind"] == "data-race"]
    shelf = next(f["id"] for f in races if f["operations"][0]["variable"])
    done = report(log, "--gen-suppressions", "s.supp", "--mark", shelf)
    assert "next: add --suppressions s.supp" in done.stderr
    text = (tmp_path / "s.supp").read_text("utf-8")
    assert text == f"# {shelf} data-race on shelf: shop.cc:put / shop.cc:put\nrace:^shop::shelf$\n"
    left = json.loads(report(log, "--suppressions", "s.supp", "--json", "-").stdout)
    assert {f["id"] for f in every} - {f["id"] for f in left["findings"]} == {shelf}
    whole = report(log, "--gen-suppressions", "-")
    assert whole.stdout.startswith("# EW-")
    assert "# takes out 1 more of this list\nrace_top:^put$\n" in whole.stdout
    (tmp_path / "all.supp").write_text(whole.stdout, encoding="utf-8")
    assert report(log, "--suppressions", "all.supp").returncode == 0


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--mark", "EW-0123456789abcdef"], "--mark says what --gen-suppressions is to write"),
        (["--gen-suppressions", "x", "--mark", "EW-0"], "the list has no finding 'EW-0'"),
        (["--merge", "no/such/list.json"], "cannot be written: No such file"),
        (["--gen-suppressions", "."], "cannot be written: Is a directory"),
    ],
)
def test_what_does_not_fit_together(report: Report, args: list[str], message: str) -> None:
    done = report("threads.json", *args)
    assert (done.returncode, message in done.stderr) == (64, True), done.stderr
