# SPDX-License-Identifier: Apache-2.0
"""How large and quick the page of thousands of findings is, and what importing a long log costs.

The page is opened in a real browser; "open" is the time until it has drawn the first finding,
"filter" that of one change of the search, which draws the list and the finding anew. The log is
what ThreadSanitizer, Helgrind and DRD wrote of one program, again and again, with other output
between; each round has other names, so that the list grows too.
"""

import tempfile
from pathlib import Path

from benchmarks import browser as browsers
from benchmarks.browser import Browser
from benchmarks.findings import finding
from benchmarks.measure import Figures, Watch, alone, arguments, published, table, timed

from eitherway.cli.inputs import Inputs
from eitherway.errors import Unavailable
from eitherway.findings.agreeing import agreed
from eitherway.findings.baseline import Baseline, compare
from eitherway.findings.merge import merged
from eitherway.findings.summary import summarized
from eitherway.model.finding import Excerpt, Finding
from eitherway.model.history import Edge, History, Moment
from eitherway.model.identity import identified
from eitherway.model.words import OpKind
from eitherway.report import report

COUNT = 5000
SIZES = (50, 100, 200)  # MB of a log
SAMPLES = Path(__file__).parent.parent / "tests" / "logs" / "samples"
_DISTINCT = 500  # rounds with names of their own

_READY = (
    "new Promise(done => requestAnimationFrame(() => setTimeout(() => done(performance.now()))))"
)
_FILTER = """(() => {{
  const box = document.getElementById("search"), begun = performance.now();
  box.value = {words!r};
  box.dispatchEvent(new Event("input"));
  document.body.offsetHeight;
  return performance.now() - begun;
}})()"""


def with_history(number: int) -> Finding:
    """A finding as `check` tells it: 16 moments, source lines of both sides."""
    found = finding(number)
    actors = tuple(operation.actor for operation in found.operations)
    moments = tuple(
        Moment(
            actor=at % 2,
            step=at,
            kind=OpKind.STORE,
            op="write of size 4",
            touched=f"global 'counter_{number % 3000}'",
            value=str(at),
            place=found.operations[at % 2].place,
            side={6: 1, 9: 2}.get(at, 0),
        )
        for at in range(16)
    )
    code = tuple(
        Excerpt(op.place.file, op.place.line, tuple(f"    line_{number}_{n};" for n in range(9)))
        for op in found.operations
    )
    history = History(actors, moments, (Edge(0, 1), Edge(2, 3, chance=True)))
    return identified(
        Finding(
            found.world,
            found.kind,
            found.operations,
            klass=found.klass,
            explanation=found.explanation,
            replay=f"eitherway replay 20310501-120000-{number:06}",
            history=history,
            code=code,
        )
    )


def page(count: int) -> Figures:
    """Write a page of so many findings, and look at it."""
    findings = merged(map(with_history, range(count)))
    summary = summarized(findings, compare(findings, Baseline()))
    with tempfile.TemporaryDirectory(prefix="eitherway-") as folder:
        path = Path(folder, "page.html")
        with path.open("w", encoding="utf-8") as file:
            written, _ = timed(lambda: report("html").write(findings, summary, file))
        with Browser() as browser:
            browser.open(path)
            opened = browser.run(_READY)
            filters = [browser.run(_FILTER.format(words=w)) for w in ("put_77", "", "counter_2")]
            rows = browser.run("document.querySelectorAll('.row').length")
        size = path.stat().st_size
    return {
        "write": written,
        "size": size / 1e6,
        "open": opened,
        "filter": max(filters),
        "rows": rows,
    }


def log(megabytes: int) -> Figures:
    """Import a log of this size."""
    with tempfile.TemporaryDirectory(prefix="eitherway-") as folder:
        path = Path(folder, "large.log")
        _fill(path, megabytes * 1_000_000)
        seconds, findings = timed(lambda: agreed(merged(Inputs([str(path)]).findings())))
        return {"seconds": seconds, "findings": len(findings)}


def _fill(path: Path, size: int) -> None:
    parts = [(SAMPLES / name).read_bytes() for name in ("tsan-gcc.log", "helgrind.log", "drd.log")]
    sample = b"\n".join(parts) + b"test 12 of 345 has passed\n" * 400
    written = 0
    with path.open("wb") as file:
        for number in range(size):
            part = sample.replace(b"put", b"put_%d" % (number % _DISTINCT))
            written += file.write(part)
            if written >= size:
                return


def main() -> None:
    """Measure both, each case in a process of its own."""
    parser = arguments(__doc__ or "")
    parser.add_argument("--count", type=int, default=COUNT, help=f"findings (default: {COUNT})")
    options = parser.parse_args()
    if not browsers.is_there():
        raise Unavailable("chromium is not installed", fix="tools/setup dev")
    watch = Watch()
    pages = [_page_row(count, alone(page, count)) for count in (options.count // 10, options.count)]
    logs = [_log_row(size, alone(log, size)) for size in SIZES]
    head = ["findings", "file MB", "write s", "open ms", "filter ms", "rows drawn"]
    text = f"{watch.told()}\n\n{table(head, pages)}\n\n"
    head = ["log MB", "s", "MB/s", "findings", "peak MiB"]
    published(text + table(head, logs), "reports", options.write)


def _page_row(count: int, got: Figures) -> list[str]:
    return [
        f"{count:,}",
        f"{got['size']:.1f}",
        f"{got['write']:.2f}",
        f"{got['open']:.0f}",
        f"{got['filter']:.0f}",
        f"{got['rows']:.0f}",
    ]


def _log_row(size: int, got: Figures) -> list[str]:
    seconds = got["seconds"]
    return [
        f"{size}",
        f"{seconds:.1f}",
        f"{size / seconds:.1f}",
        f"{got['findings']:,.0f}",
        f"{got['peak']:.0f}",
    ]


if __name__ == "__main__":
    main()
