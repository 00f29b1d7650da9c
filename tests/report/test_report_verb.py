# SPDX-License-Identifier: Apache-2.0
"""`eitherway report` as a person types it."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SAMPLES = ROOT / "format" / "samples" / "findings"

Done = subprocess.CompletedProcess[str]
Report = Callable[..., Done]


@pytest.fixture
def report(tmp_path: Path) -> Report:
    """Runs the verb in an empty folder with copies of the samples."""
    for sample in SAMPLES.glob("*.json"):
        shutil.copy(sample, tmp_path)

    def run(*args: str, stdin: str = "", **environment: str) -> Done:
        return subprocess.run(
            [sys.executable, "-m", "eitherway", "report", *args],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT / "src"), **environment},
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def ids(document: str) -> list[str]:
    return [finding["id"] for finding in json.loads(document)["findings"]]


def test_text_is_the_default(report: Report) -> None:
    done = report("threads.json", "processes.json")
    assert done.returncode == 1
    assert done.stdout.count("WARNING: EitherWay:") == 4
    assert done.stdout.endswith(
        "EitherWay: 4 findings: 1 spec-violated, 1 output-differs, 1 unjudged, 1 inconclusive\n"
    )
    assert done.stderr == ""


def test_nothing_found_succeeds_and_says_what_was_tried(report: Report) -> None:
    done = report("nothing.json")
    assert done.returncode == 0
    assert "8 schedules were tried" in done.stdout


def test_many_files_become_one_list(report: Report) -> None:
    done = report("threads.json", "threads.json", "-", "--json", "-",
                  stdin=(SAMPLES / "threads.json").read_text(encoding="utf-8"))  # fmt: skip
    findings = json.loads(done.stdout)["findings"]
    assert len(findings) == 2
    assert [finding["seen"]["count"] for finding in findings] == [3, 3]


def test_json_on_standard_output_is_alone_there(report: Report) -> None:
    for args in (["--json", "-"], ["--format", "json"]):
        done = report("threads.json", *args)
        assert len(ids(done.stdout)) == 2
        assert done.returncode == 1


def test_files_are_written_and_named_with_what_to_do_next(report: Report, tmp_path: Path) -> None:
    done = report("threads.json", "--json", "all.json", "--output", "all.txt")
    assert done.stdout == ""
    assert done.stderr == (
        "eitherway: wrote all.txt\neitherway: wrote all.json; next: eitherway report all.json\n"
    )
    assert "WARNING: EitherWay: data race" in (tmp_path / "all.txt").read_text(encoding="utf-8")
    assert ids((tmp_path / "all.json").read_text(encoding="utf-8")) == ids(
        report("all.json", "--json", "-").stdout
    )
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith(".")) == []


def test_a_baseline_makes_known_what_is_there(report: Report, tmp_path: Path) -> None:
    first = report("threads.json", "--write-baseline", "known.txt")
    assert first.returncode == 0, "what is written is known"
    assert "wrote known.txt; next: add --baseline known.txt" in first.stderr
    assert report("threads.json", "--baseline", "known.txt").returncode == 0
    more = report("threads.json", "processes.json", "--baseline", "known.txt")
    assert more.returncode == 1
    assert "  2 new, 2 in the baseline, 0 gone\n" in more.stdout
    less = report("nothing.json", "--baseline", "known.txt")
    assert less.returncode == 0
    assert less.stdout.count("  gone: EW-") == 2
    (tmp_path / "known.txt").write_text("eitherway-baseline 1\nEW-1\n", encoding="utf-8")
    broken = report("threads.json", "--baseline", "known.txt")
    assert broken.returncode == 65
    assert "known.txt:2: 'EW-1' does not begin with a finding id" in broken.stderr


def test_suppressions(report: Report, tmp_path: Path) -> None:
    (tmp_path / "ours.supp").write_text("race:^deposit$\nrace:nowhere\n", encoding="utf-8")
    done = report("threads.json", "--suppressions", "ours.supp")
    assert done.stdout.count("WARNING: EitherWay:") == 1
    assert "  1 suppressed\n  matched nothing: ours.supp:2: race:nowhere\n" in done.stdout
    (tmp_path / "broken.supp").write_text("race:x\nraise:y\n", encoding="utf-8")
    broken = report("threads.json", "--suppressions", "ours.supp", "--suppressions", "broken.supp")
    assert broken.returncode == 65
    assert "broken.supp:2: 'raise:y' is no suppression" in broken.stderr
    assert broken.stdout == ""


def test_shipped_suppressions_can_be_turned_off(report: Report, tmp_path: Path) -> None:
    document = json.loads((tmp_path / "threads.json").read_text(encoding="utf-8"))
    frame = document["findings"][0]["operations"][0]["stack"][1]
    frame["function"] = "tzset_internal"
    (tmp_path / "zone.json").write_text(json.dumps(document), encoding="utf-8")
    assert report("zone.json").stdout.count("WARNING: ") == 1
    assert report("zone.json", "--no-default-suppressions").stdout.count("WARNING: ") == 2


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (["threads.json", "--fail-on", "spec-violated"], 0),
        (["processes.json", "--fail-on", "none"], 2),
        (["threads.json", "--exitcode", "42"], 42),
        (["threads.json", "--exitcode", "0"], 0),
        (["nothing.json", "--exitcode", "42"], 0),
    ],
)
def test_exit_codes_can_be_chosen(report: Report, args: list[str], code: int) -> None:
    assert report(*args).returncode == code


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ([], "give files of findings, or --trace DIR"),
        (["threads.json", "--fail-on", "safe"], "--fail-on: there is no class 'safe'"),
        (["threads.json", "--exitcode", "256"], "'256' is not an exit code"),
        (["threads.json", "--exitcode", "-1"], "--exitcode"),
        (["threads.json", "--format", "xml"], "invalid choice: 'xml'"),
        (["-", "-"], "standard input ('-') can be read only once"),
        (["threads.json", "--json", "-", "--format", "json"], "drop one"),
        (["threads.json", "--json", "no/such/folder/x"], "cannot be written: No such file"),
        (["threads.json", "--output", "."], "cannot be written: Is a directory"),
        (["threads.json", "--json", ""], "--json: the name of a file must not be empty"),
        (["threads.json", "--output", ""], "--output: the name of a file must not be empty"),
        (["threads.json", "--baseline", ""], "--baseline: the name of a file must not be empty"),
        (["threads.json", "--write-baseline", ""], "must not be empty"),
        (["threads.json", "--suppressions", ""], "must not be empty"),
        ([""], "FILE: the name of a file must not be empty"),
        (["threads.json", "--fail-on", ""], "--fail-on: there is no class ''"),
    ],
)
def test_what_does_not_fit_is_a_usage_error(report: Report, args: list[str], message: str) -> None:
    done = report(*args)
    assert (done.returncode, message in done.stderr) == (64, True), done.stderr
    assert "Traceback" not in done.stderr


def test_what_is_no_document_is_bad_input(report: Report, tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text('{"format": 1, "findings": 3}', encoding="utf-8")
    done = report("bad.json")
    assert done.returncode == 65
    assert done.stderr.startswith("eitherway: bad.json is not a findings document: $.findings must")
    assert done.stdout == ""
    beside = report("threads.json", "bad.json")
    assert (beside.returncode, beside.stderr) == (65, done.stderr)
    assert "WARNING: EitherWay: data race" in beside.stdout
    assert report("none.json").returncode == 65


def test_a_device_stays_a_device(report: Report) -> None:
    assert report("threads.json", "--json", "/dev/null").returncode == 1
    assert Path("/dev/null").is_char_device()


def test_a_link_is_written_through(report: Report, tmp_path: Path) -> None:
    (tmp_path / "link.json").symlink_to("real.json")
    report("threads.json", "--json", "link.json")
    assert (tmp_path / "link.json").is_symlink()
    assert (tmp_path / "real.json").is_file()


def test_a_terminal_that_knows_only_ascii(report: Report, tmp_path: Path) -> None:
    text = (SAMPLES / "threads.json").read_text(encoding="utf-8").replace("teller", "k\\u00e4sse")
    (tmp_path / "umlaut.json").write_text(text, encoding="utf-8")
    done = report("umlaut.json", PYTHONIOENCODING="ascii")
    assert done.returncode == 1
    assert r"thread T1 'k\xe4sse'" in done.stdout


def test_several_reports_are_written_at_once(report: Report, tmp_path: Path) -> None:
    forms = ("html", "sarif", "junit", "github", "markdown", "text", "json")
    targets = ",".join(f"{form}=out,{form}" for form in forms)
    done = report("threads.json", "--report", targets, "--report", "text=more")
    assert done.returncode == 1
    for form in forms:
        assert f"wrote out,{form}" in done.stderr
        assert (tmp_path / f"out,{form}").stat().st_size > 0
    assert (tmp_path / "more").read_text("utf-8") == done.stdout


@pytest.mark.parametrize("form", ["html", "sarif", "junit", "github", "markdown"])
def test_a_report_has_standard_output_for_itself(report: Report, form: str) -> None:
    done = report("threads.json", "--format", form)
    also = report("threads.json", "--report", f"{form}=-")
    assert done.stdout == also.stdout != ""
    assert "WARNING: EitherWay" not in done.stdout.split("\n", maxsplit=1)[0]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--report", "pdf=x"], "'pdf=x' is not FORM=FILE; forms: text, json, html, sarif"),
        (["--report", "html"], "'html' is not FORM=FILE"),
        (["--report", "html="], "'html=' is not FORM=FILE"),
        (["--report", "html=no/such/x"], "no/such/x cannot be written: No such file"),
        (["--report", "html=-,sarif=-"], "only one of --json and --report"),
        (["--report", "html=-", "--format", "sarif"], "drop one, or add --output"),
    ],
)
def test_a_report_that_cannot_be_is_refused_before_the_work(
    report: Report, args: list[str], message: str
) -> None:
    done = report("threads.json", *args)
    assert (done.returncode, message in done.stderr) == (64, True), done.stderr


# --- logs of other tools

LOGS = ROOT / "tests" / "logs" / "samples"


def test_logs_and_documents_are_one_list(report: Report) -> None:
    names = [str(path) for path in sorted(LOGS.iterdir())]
    done = report("threads.json", *names, "--json", "-")
    assert done.returncode == 1, done.stderr
    document = json.loads(done.stdout)
    by_tools = [{source["tool"] for source in one["sources"]} for one in document["findings"]]
    assert {"ThreadSanitizer", "Helgrind", "DRD"} in by_tools
    assert {"Go race detector"} in by_tools
    assert {"KCSAN"} in by_tools
    assert {"eitherway"} in by_tools
    assert f"{LOGS}/go.log: reports: 2 of Go race detector" in document["summary"]["notes"]


def test_a_log_comes_through_standard_input(report: Report) -> None:
    done = report("-", stdin=(LOGS / "tsan-gcc.log").read_text("utf-8"))
    assert done.returncode == 1
    assert "standard input: reports: 5 of ThreadSanitizer" in done.stdout


def test_what_cannot_be_read_does_not_cost_the_rest(report: Report, tmp_path: Path) -> None:
    (tmp_path / "noise.txt").write_text("nothing\n", encoding="utf-8")
    done = report("noise.txt", "threads.json")
    assert done.returncode == 65
    assert "WARNING: EitherWay: data race" in done.stdout
    assert "noise.txt has no report of ThreadSanitizer" in done.stderr
    assert "--allow-clean" in done.stderr
    done = report("noise.txt", "threads.json", "--allow-clean")
    assert done.returncode == 1
    assert "noise.txt: reports: none" in done.stdout


def test_a_file_that_is_missing_does_not_cost_the_rest(report: Report) -> None:
    done = report("threads.json", "missing.json", "--json", "kept.json")
    assert done.returncode == 65
    assert "WARNING: EitherWay: data race" in done.stdout
    assert "missing.json cannot be read: No such file" in done.stderr
    assert "wrote kept.json" in done.stderr


def test_nothing_but_problems_is_told_alone(report: Report, tmp_path: Path) -> None:
    done = report("missing.json", "--merge", "list.json")
    assert (done.returncode, done.stdout) == (65, "")
    assert not (tmp_path / "list.json").exists()


def test_nothing_a_log_says_is_obeyed(report: Report, tmp_path: Path) -> None:
    evil = "\x1b]0;owned\x07</script>"
    (tmp_path / "evil.log").write_text(
        "WARNING: ThreadSanitizer: data race (pid=1)\n  Write of size 4 at 0x1 by thread T1:\n"
        f"    #0 {evil} /{evil}/x.c:1 (x+0x1)\n",
        encoding="utf-8",
    )
    done = report("evil.log", "--report", "html=page.html")
    assert done.returncode == 1, done.stderr
    assert "\x1b" not in done.stdout + done.stderr
    assert "\\x1b]0;owned" in done.stdout
    page = (tmp_path / "page.html").read_text("utf-8")
    assert page.count("</script>") == 2


@pytest.mark.parametrize(
    "args",
    [
        ["--report", "html=x.out,sarif=./x.out"],
        ["--json", "x.out", "--merge", "x.out"],
        ["--output", "x.out", "--report", "junit=x.out"],
    ],
)
def test_no_report_replaces_another(report: Report, tmp_path: Path, args: list[str]) -> None:
    done = report("threads.json", *args)
    assert done.returncode == 64
    assert "x.out is to be written 2 times" in done.stderr
    assert not (tmp_path / "x.out").exists()
