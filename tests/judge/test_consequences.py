# SPDX-License-Identifier: Apache-2.0
"""Classes of races in small programs, held against all schedules that these programs have."""

from pathlib import Path

import pytest
from tests.corpus.checked import build
from tests.corpus.expect import PROGRAMS
from tests.judge.bench import Bench, bench
from tests.judge.truth import truth_of

from eitherway.detect import detect_all
from eitherway.find.confirm import ACCESSES, Traced, Tracer
from eitherway.find.judged import SHORT
from eitherway.find.unseen_loads import NOT_RUN
from eitherway.model.finding import Finding
from eitherway.model.words import Class
from eitherway.worlds.threads import branch
from eitherway.worlds.threads.run import Ran

SEEDS = range(6)
BOUNDS = range(2)  # preemptions: all of these need but one

CLASSES = {
    "lost_update": {"counter": Class.OUTPUT_DIFFERS},
    "asserted": {"counter": Class.SPEC_VIOLATED},
    "invariant": {"counter": Class.SPEC_VIOLATED},
    "unused_result": {"counter": Class.K_WITNESS_HARMLESS},
    "order_assumed": {"made": Class.SPEC_VIOLATED},
    "redundant": {"same": Class.K_WITNESS_HARMLESS},
    "adhoc": {"done": Class.K_WITNESS_HARMLESS, "result": Class.SINGLE_ORDERING},
    "guarded": {"done": Class.K_WITNESS_HARMLESS, "result": Class.SINGLE_ORDERING},
    "deadlocks": {"turned": Class.SPEC_VIOLATED},
    "sleeps_on": {"ready": Class.SPEC_VIOLATED},
    "kills_itself": {"ready": Class.SPEC_VIOLATED},
    "kills_its_group": {"ready": Class.SPEC_VIOLATED},
    "frees_twice": {"claimed": Class.SPEC_VIOLATED},
    "late_instance": {"stage": Class.SPEC_VIOLATED},
    "seen_before": {"low": Class.SPEC_VIOLATED, "high": Class.SPEC_VIOLATED},
    "one_of_many": {"nth": Class.OUTPUT_DIFFERS},
    "computed_twice": {"cached": Class.K_WITNESS_HARMLESS},
}


pytestmark = pytest.mark.usefixtures("fixed")


def classes_of(bench: Bench, folder: Path) -> set[tuple[str, Class]]:
    """Of all races of a few schedules: variable and class; what shows them is done again."""
    kept: list[Ran] = []

    def keep(ran: Ran) -> Path:
        kept.append(ran)
        return folder / f"run-{len(kept)}"

    classes = set()
    for seed in SEEDS:
        ran = bench.explorer.run(seed=seed, detect=True)
        for finding in bench.races_in(ran).values():
            judged = bench.judge.judged(finding, ran, keep)
            classes.add((judged.operations[0].variable, judged.klass))
    for ran in kept:
        assert not bench.explorer.run(replay=ran).differences(ran)
    return classes


@pytest.mark.parametrize("mode", CLASSES)
def test_classes_agree_with_all_schedules(consequences: str, mode: str, tmp_path: Path) -> None:
    with bench([consequences, mode]) as made:
        assert classes_of(made, tmp_path) == set(CLASSES[mode].items())
        worst = max(CLASSES[mode].values(), key=lambda klass: klass.weight)
        assert truth_of(made.explorer, made.tracer, BOUNDS) is worst


def test_a_loop_that_gives_up_is_outlasted(consequences: str, tmp_path: Path) -> None:
    """A slow writer makes the reader fail, however often that looks; no look is another one."""
    with bench([consequences, "relies_on_luck"], continuations=2) as made:
        assert classes_of(made, tmp_path) == {("done", Class.SPEC_VIOLATED)}


def test_who_is_slow_fails_for_what_it_has_not_stored(consequences: str, tmp_path: Path) -> None:
    """Not for what it has stored before that, in whichever order."""
    with bench([consequences, "relies_on_another"], continuations=2) as made:
        ran = made.explorer.run(scheduler="round-robin", detect=True)
        classes = {
            race.operations[0].variable: made.judge.judged(race, ran, lambda _: tmp_path).klass
            for race in made.races_in(ran).values()
        }
    assert classes["done"] is Class.SPEC_VIOLATED
    assert classes["hinted"] is Class.K_WITNESS_HARMLESS


def test_an_order_that_never_came_is_not_told_as_one(consequences: str, tmp_path: Path) -> None:
    """What goes wrong is shown all the same, with what was done to see it."""
    with bench([consequences, "sent_at_once"], continuations=2) as made:
        ran = made.explorer.run(scheduler="round-robin", detect=True)
        races = made.races_in(ran).values()
        (race,) = (race for race in races if race.operations[1].place.function == "measure")
        told = made.judge.judged(race, ran, lambda _: tmp_path)
    assert (told.klass, told.confidence.schedules) == (Class.SPEC_VIOLATED, 0)
    assert told.consequence.startswith(
        "While thread T1 is held right before its write of size 8 at "
    )
    assert told.consequence.endswith(
        " on the other side of that, the program ends with exit status 0."
    )
    before, behind = told.orders
    assert ("right before its write" in before.order, "status 3" in before.does) == (True, True)
    assert ("right behind its write" in behind.order, "status 0" in behind.does) == (True, True)
    assert "B can come first" not in "".join(told.explanation)


def test_other_runs_that_wait_for_long_are_not_looked_at(
    consequences: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thread that looks again hundreds of thousands of times says nothing new, and takes long."""
    steps: list[int] = []
    accesses = Tracer.accesses

    def noted(tracer: Tracer, ran: Ran) -> Traced:
        steps.append(ran.schedule.reached)
        return accesses(tracer, ran)

    monkeypatch.setattr(Tracer, "accesses", noted)
    with bench([consequences, "adhoc"], continuations=2) as made:
        ran = made.explorer.run(detect=True)
        for finding in made.races_in(ran).values():
            made.judge.judged(finding, ran, lambda _: tmp_path)
    assert len(steps) > 1
    assert max(steps) <= SHORT


def test_what_is_shown_before_it_is_whole_may_be_seen_half(consequences: str) -> None:
    """What only its thread had touched is asked about from then on, as all that is shared."""
    with bench([consequences, "shown_early"]) as made:
        ran = made.explorer.run(scheduler="round-robin", detect=True)
        races = made.races_in(ran).values()
        (finding,) = (race for race in races if race.operations[0].variable == "shown")
        assert made.judge.judged(finding, ran, lambda _: Path("run")).klass is Class.SPEC_VIOLATED
        assert truth_of(made.explorer, made.tracer, BOUNDS) is Class.SPEC_VIOLATED


def test_so_it_is_when_it_is_handed_over_without_a_release(consequences: str) -> None:
    with bench([consequences, "handed_early"]) as made:
        assert truth_of(made.explorer, made.tracer, BOUNDS) is Class.SPEC_VIOLATED


def judged_alone(made: Bench, folder: Path) -> Finding:
    ran = made.explorer.run(scheduler="round-robin", detect=True)
    (finding,) = made.races_in(ran).values()
    return made.judge.judged(finding, ran, lambda _: folder / "run")


def test_who_waits_for_what_never_comes_hangs(consequences: str, tmp_path: Path) -> None:
    """Not ad-hoc synchronisation: that one ends when the first thread has gone on."""
    with bench([consequences, "spins_on"]) as made:
        judged = judged_alone(made, tmp_path)
    assert judged.klass is Class.SPEC_VIOLATED
    assert "goes round in circles and never ends" in judged.consequence


def test_the_order_of_lines_is_told_only_of_a_pair_that_decides_it(
    consequences: str, tmp_path: Path
) -> None:
    with bench([consequences, "prints_anyhow"]) as made:
        assert judged_alone(made, tmp_path).klass is Class.K_WITNESS_HARMLESS
    with bench([consequences, "order_of_lines"]) as made:
        judged = judged_alone(made, tmp_path)
    assert judged.klass is Class.OUTPUT_DIFFERS
    assert "the lines of standard output come in another order" in judged.consequence


def test_what_a_thread_says_for_itself_counts_whoever_speaks_between(
    consequences: str, tmp_path: Path
) -> None:
    with bench([consequences, "own_order"]) as made:
        assert judged_alone(made, tmp_path).klass is Class.OUTPUT_DIFFERS


def test_bits_that_a_store_keeps_may_be_old(consequences: str, tmp_path: Path) -> None:
    """No schedule of ours shows that: what it would leave is put in memory."""
    with bench([consequences, "lost_bits"]) as made:
        judged = judged_alone(made, tmp_path)
    assert judged.klass is Class.OUTPUT_DIFFERS
    assert "so that the latter is lost, the program writes something else" in judged.consequence
    assert judged.explanation[-1] == NOT_RUN
    with bench([consequences, "unused_bits"]) as made:
        judged = judged_alone(made, tmp_path)
    assert judged.klass is Class.K_WITNESS_HARMLESS
    assert NOT_RUN not in judged.explanation


def test_where_much_output_differs_is_told(consequences: str, tmp_path: Path) -> None:
    """Behind what is kept: the branches were done again, to see that part."""
    with bench([consequences, "much_output"], continuations=2) as made:
        judged = judged_alone(made, tmp_path)
    assert judged.klass is Class.OUTPUT_DIFFERS
    assert "the program writes something else to standard output" in judged.consequence
    assert judged.explanation[-1] == (
        "Standard output differs from byte 2400000 on, in line 150001: in the recorded order "
        "'one', in the other order 'two'."
    )
    assert [order.output.splitlines()[-1] for order in judged.orders] == ["two", "one"]


def test_what_third_threads_do_is_not_told_of_the_two(tmp_path: Path) -> None:
    """Workers lose a count of each other, and `main` only looks at it."""
    build(PROGRAMS / "paper_pfscan.c", tmp_path / "program")
    with bench([str(tmp_path / "program")]) as made:
        ran = made.explorer.run(seed=0, detect=True)
        classes = {
            "main" in {side.place.function for side in finding.operations}: made.judge.judged(
                finding, ran, lambda _: tmp_path / "run"
            ).klass
            for finding in made.races_in(ran).values()
        }
    assert classes == {True: Class.K_WITNESS_HARMLESS, False: Class.SPEC_VIOLATED}


def test_a_branch_that_only_goes_on_for_long_says_nothing(
    consequences: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may end some day: its state is another one all the time."""
    monkeypatch.setattr(branch, "_LONG", 100_000)
    with bench([consequences, "counts_on"], continuations=2) as made:
        judged = judged_alone(made, tmp_path)
    assert judged.klass is Class.INCONCLUSIVE
    assert "took too long" in judged.reason
    assert "thread T2 alone had done something for" in judged.explanation[-1]
    assert "read global 'never' again and again, which stayed as it was" in judged.explanation[-1]
    assert "and changed global 'looks'." in judged.explanation[-1]


def test_of_what_goes_on_for_long_and_gets_somewhere_nothing_is_told(
    consequences: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(branch, "_LONG", 100_000)
    with bench([consequences, "works_on"], continuations=2) as made:
        judged = judged_alone(made, tmp_path)
    assert judged.klass is Class.INCONCLUSIVE
    assert not any(line.startswith("When it was stopped") for line in judged.explanation)


@pytest.mark.parametrize(
    ("mode", "klass"),
    [("late_output", Class.OUTPUT_DIFFERS), ("late_assertion", Class.SPEC_VIOLATED)],
)
def test_what_comes_first_is_done_once(
    consequences: str, tmp_path: Path, mode: str, klass: Class
) -> None:
    with bench([consequences, mode]) as made:
        ran = made.explorer.run(seed=1, detect=True)
        found = made.tracer.accesses(ran)
        finding, *_ = found.findings(detect_all(found.trace, ACCESSES))
        kept: list[Ran] = []

        def keep(ran: Ran) -> Path:
            kept.append(ran)
            assert made.explorer.standing  # the branches were copies of it
            return tmp_path / "run"

        judged = made.judge.judged(finding, ran, keep)
        assert judged.klass is klass
        assert len(kept) == 2
        for branched in kept:
            assert not made.explorer.run(replay=branched).differences(branched)
            assert branched.out.beginning.startswith(b"first\n")


def test_a_finding_says_what_both_orders_do_and_how_to_see_it(
    consequences: str, tmp_path: Path
) -> None:
    kept: list[Ran] = []

    def keep(ran: Ran) -> Path:
        kept.append(ran)
        return tmp_path / f"run-{len(kept)}"

    with bench([consequences, "order_assumed"]) as made:
        ran = made.explorer.run(seed=0, detect=True)
        (finding,) = made.races_in(ran).values()
        judged = made.judge.judged(finding, ran, keep)
    assert judged.id == finding.id
    assert "killed by SIGSEGV" in judged.consequence
    assert "exit status 0" in judged.consequence
    assert judged.replay == "eitherway replay run-1"
    assert [ran.status for ran in kept] == [-11, 0]
    crashes, goes_well = judged.orders
    assert (crashes.replay, goes_well.replay) == (judged.replay, "eitherway replay run-2")
    assert "killed by SIGSEGV" in crashes.does
    assert "exit status 0" in goes_well.does


def test_what_the_run_does_not_show_is_inconclusive(consequences: str, tmp_path: Path) -> None:
    with bench([consequences, "lost_update"]) as made:
        ran = made.explorer.run(seed=0, detect=True)
        (finding,) = made.races_in(ran).values()
    with bench([consequences, "redundant"]) as made:
        other = made.explorer.run(seed=0, detect=True)
        judged = made.judge.judged(finding, other, lambda _: tmp_path)
    assert judged.klass is Class.INCONCLUSIVE
    assert judged.reason == "the recorded run does not show it"
