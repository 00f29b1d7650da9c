# SPDX-License-Identifier: Apache-2.0
"""From a finding and its recording to its class: both orders of the pair are run.

The recorded run is traced to find the pair in it again, by the id that its finding has.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from pathlib import Path

from eitherway.closing import Closing
from eitherway.engine.local import Workers
from eitherway.find.confirm import Traced, Tracer
from eitherway.find.one_value import have_one_value
from eitherway.find.opened import Budget, Opened, Opening, Seen, met
from eitherway.find.orders import Kept, first_differences, orders_of, seen_apart
from eitherway.find.other_runs import cuts_of, other_runs
from eitherway.find.racing import Instance, Racing
from eitherway.find.reasons import OF_ONE, REDUNDANT, reason_of, weakest
from eitherway.find.specification import ANYTHING, Specification
from eitherway.find.states import States, states_of
from eitherway.find.states import told as told_states
from eitherway.find.stopped import told_of_stopped
from eitherway.find.unseen_loads import both_store, with_lost
from eitherway.findings.sentences import UNDECIDED
from eitherway.judge.experiment import CONTINUATIONS, Verdict, judge_among, worst
from eitherway.judge.loose import loosened
from eitherway.judge.sentences import consequence, opened_by, opened_in_vain, slowly, why_single
from eitherway.model.finding import Confidence, Finding
from eitherway.model.outcome import Ending, Outcome
from eitherway.model.words import STORES, Arm, Class, Kind
from eitherway.worlds.threads.branch import (
    SLOW,
    SLOW_STEPS,
    Branches,
    Pair,
    Spec,
    Turned,
    outcome_of,
    why_not,
)
from eitherway.worlds.threads.explorer import Explorer
from eitherway.worlds.threads.places import NOWHERE, Places
from eitherway.worlds.threads.run import Ran

INSTANCES = 8  # of one race in one run
MORE, SHORT = 32, 65_536  # of a run of so many steps at most
PAIR = 2  # accesses
SLOWLY = 4  # instances that are tried with a thread that is very slow
ELSEWHERE = 2  # in each of the other runs that are tried
FEWER, FEWEST = 6, 2  # continuations of those behind the first, and behind the usual number
NOT_SHOWN = "the recorded run does not show it"

Keep = Callable[[Ran], Path]  # puts a run where it can be done again


@dataclass(frozen=True)
class Shown:
    """An instance of a race with what its experiment said."""

    instance: Instance
    verdict: Verdict
    branches: Branches  # of the run that shows it
    look: Callable[[], States | None]
    seen: Seen = field(default_factory=dict)  # to race
    opened: tuple[Opened, Opening] | None = None  # by the pair, if that is what it is about

    @cached_property
    def states(self) -> States | None:
        """What both orders leave; it takes two traced branches."""
        return self.look()

    def run(self, arm: Arm, kept_from: tuple[int, int]) -> Ran:
        """What the decisive trial did, to be kept."""
        if self.opened is not None:
            opened, opening = self.opened
            return opened.run(arm, opening.way, kept_from)
        trial = self.verdict.decisive
        spec = Spec(self.instance.pair, trial.with_both(arm), trial.continuation)
        return self.branches.run(spec, kept_from=kept_from)

    @property
    def is_quiet(self) -> bool:
        """Whether it was tried, and nothing was seen."""
        return self.verdict.klass in (Class.K_WITNESS_HARMLESS, Class.SINGLE_ORDERING)

    @property
    def both_store(self) -> bool:
        """The same bytes, so that one may undo what the other does."""
        return both_store(self.instance.pair)


def _single(finding: Finding, verdict: Verdict, instance: Instance) -> tuple[str, ...]:
    """Not by what orders two threads, but it is decided."""
    why = why_single(verdict, instance.sides)
    return _held_back(finding, f", in {len(verdict.trials)} ways, B did not come: {why}.")


def _slow(finding: Finding, instance: Instance) -> tuple[str, ...]:
    """The other order was not had, and who waits for it is slow: as any thread may be."""
    slow = instance.sides[0].actor
    return _held_back(finding, f", B did not come: what goes wrong is that {slow} is slow.")


def _proof(finding: Finding, anew: tuple[str, ...]) -> tuple[str, ...]:
    """What is told of a finding before it is judged; it may have been."""
    told = finding.explanation[: len(anew)]
    return told if told and told[-1].startswith(UNDECIDED) else anew


def _held_back(finding: Finding, told: str) -> tuple[str, ...]:
    proof = [line for line in finding.explanation if not line.startswith(UNDECIDED)]
    so = "So nothing that is meant to order threads decides it. But while A was held back"
    return (*proof, f"{so}{told}")


def _is_looked_at(pair: Pair) -> bool:
    """Whether the second loads what the first stores: it may look again and again."""
    return pair.first.op in STORES and pair.second.op not in STORES


class Judge(Closing):
    """Judges findings of one program."""

    def __init__(
        self,
        explorers: Sequence[Explorer],
        *,
        fixed: bool,
        isolation: str,
        places: Places = NOWHERE,
        continuations: int = CONTINUATIONS,
        specification: Specification = ANYTHING,
    ) -> None:
        """As many branches run at a time as there are explorers.

        `fixed`: addresses are the same in every run; `places` that are known to be shared.
        """
        self._explorers = explorers
        self._explorer = explorers[0]
        self._workers = Workers(explorers)
        self._fixed = fixed
        self._isolation = isolation
        self._places = places
        self._continuations = continuations
        self._specification = specification
        self._tracer = Tracer(self._explorer, fixed=fixed)
        self._runs_on = False  # a run in another order had to be stopped: each would take as long
        self._last: tuple[Ran, Traced, Racing | None] | None = None

    def judged(self, finding: Finding, ran: Ran, keep: Keep) -> Finding:
        """The finding with its class; runs that show it are kept."""
        finding = replace(finding, consequence="", orders=())  # it may have been judged before
        if reason := self._obstacle(finding, ran):
            return replace(finding, klass=Class.INCONCLUSIVE, reason=reason)
        traced, racing = self._traced(ran)
        if traced.differs or racing is None:
            reason = f"the recorded run is not the same again: {', '.join(traced.differs)}"
            return replace(finding, klass=Class.INCONCLUSIVE, reason=reason)
        if anew := racing.proof(finding.id):
            finding = replace(finding, explanation=_proof(finding, anew))
        branches = Branches(self._explorer, ran, self._places | racing.places)
        short = branches.steps <= SHORT
        shown = self._tried(branches, racing.instances(finding.id, MORE if short else INSTANCES))
        if not shown:
            return replace(finding, klass=Class.INCONCLUSIVE, reason=NOT_SHOWN)
        words: list[str] = []
        if all(each.is_quiet for each in shown):
            shown += self._tried_slowly(finding.id, racing, shown, words)
        if short and all(each.is_quiet for each in shown):
            shown += self._tried_opened(tuple(shown), racing, words)
        if short and all(each.is_quiet for each in shown):
            shown += self._tried_elsewhere(finding.id, ran, traced, racing)
        finding = replace(finding, explanation=(*finding.explanation, *words))
        return self._told(finding, shown, keep)

    def close(self) -> None:
        """End branches that are under way, and with them the explorers."""
        for explorer in self._explorers:
            explorer.close()
        self._workers.close()

    def _traced(self, ran: Ran) -> tuple[Traced, Racing | None]:
        """Several findings may be of one run, one after the other."""
        if self._last is None or self._last[0] is not ran:
            traced = self._tracer.accesses(ran)
            self._last = ran, traced, None if traced.differs else Racing(traced)
        return self._last[1], self._last[2]

    def _tried(self, branches: Branches, instances: list[Instance]) -> list[Shown]:
        """One after the other, until one violates the specification, or two had to be left."""
        shown: list[Shown] = []
        for number, instance in enumerate(instances):
            some = self._continuations if not number else FEWER if number < INSTANCES else FEWEST
            shown.append(self._shown(branches, instance, some))
            left = sum(each.verdict.is_stopped for each in shown)
            if shown[-1].verdict.klass is Class.SPEC_VIOLATED or left > 1:
                break
        return shown

    def _shown(self, branches: Branches, instance: Instance, continuations: int) -> Shown:
        pair = instance.pair
        seen: Seen = {}
        verdict = self._try(branches, pair, min(continuations, self._continuations), seen)
        look = partial(states_of, self._tracer, branches, pair, verdict.trials[0])
        return Shown(instance, verdict, branches, look, seen)

    def _tried_slowly(
        self, number: str, racing: Racing, shown: list[Shown], words: list[str]
    ) -> list[Shown]:
        """With who stores held back while the other looks again: what that alone does, if any."""
        known = [trial for each in shown for trial in each.verdict.trials]
        branches = shown[0].branches
        found = racing.instances(number, 2 * SLOWLY, of_stores=True)
        for instance in [each for each in found if _is_looked_at(each.pair)][:SLOWLY]:
            seen: Seen = {}
            tried = self._try(branches, instance.pair, 1, seen, first=SLOW).trials
            trial = loosened([*known, *tried])[-1]  # in the light of what is known of output
            better = [each.control if trial.worse is Arm.FLIP else each.flip for each in known]
            is_loud = trial.klass in (Class.SPEC_VIOLATED, Class.OUTPUT_DIFFERS)
            if is_loud and not any(map(trial.is_done_by, better)):
                words.append(slowly(instance.sides))
                verdict = Verdict(trial.klass, (trial,))
                return [Shown(instance, verdict, branches, lambda: None, seen)]
            if trial.flip.steps - instance.pair.first.step > SLOW_STEPS:
                break  # it waits: others would as well
        return []

    def _tried_opened(
        self, shown: tuple[Shown, ...], racing: Racing, words: list[str]
    ) -> Iterator[Shown]:
        """With races turned round that only branches of the race show, until one does harm."""
        budget = Budget()
        for each in shown:
            opened = Opened(
                self._tracer,
                self._explorer,
                each.branches,
                each.instance.pair,
                self._places | racing.places,
                racing,
                self._specification.outcome,
                budget,
            )
            for opening in opened.openings(each.seen, each.verdict.trials):
                verdict = Verdict(opening.trial.klass, (opening.trial,))
                if verdict.klass is Class.INCONCLUSIVE:
                    continue
                yield replace(each, verdict=verdict, opened=(opened, opening))
                if verdict.klass in (Class.SPEC_VIOLATED, Class.OUTPUT_DIFFERS):
                    words.append(opened_by(opening.sides))
                    return
        if budget.races:
            words.append(opened_in_vain(len(budget.races), lacks=budget.lacks))

    def _tried_elsewhere(
        self, number: str, ran: Ran, traced: Traced, racing: Racing
    ) -> Iterator[Shown]:
        """In other runs that show the race of that id, until it does harm in one; not in long ones,
        in which a thread looks again and again.

        Where it cannot be told there, it was in the recorded run.
        """
        if len(racing.operations) == PAIR or self._runs_on:
            return
        cuts = cuts_of(ran.schedule, traced.events, racing.operations)
        places = self._places | racing.places
        for other in other_runs(self._explorer, ran, cuts, places):
            if outcome_of(other).ending is Ending.BUDGET:
                self._runs_on = True
                return
            if other.schedule.reached > SHORT:
                continue
            again = self._tracer.accesses(other)
            if again.differs:
                continue
            branches = Branches(self._explorer, other, places)
            for instance in Racing(again).instances(number, ELSEWHERE):
                shown = self._shown(branches, instance, FEWEST)
                if shown.verdict.klass is not Class.INCONCLUSIVE:
                    yield shown
                    if not shown.is_quiet:
                        return

    def _obstacle(self, finding: Finding, ran: Ran) -> str:
        if finding.kind is not Kind.DATA_RACE or len(finding.operations) != 2:
            return "only data races can be judged so far"
        if not self._fixed:
            return "addresses are other ones in every run on this machine (eitherway doctor)"
        return why_not(ran)

    def _try(
        self,
        branches: Branches,
        pair: Pair,
        continuations: int,
        seen: Seen,
        *,
        first: int = 0,
    ) -> Verdict:
        """`seen` is told what races in each branch."""

        def outcome(spec: Spec, explorer: Explorer) -> Outcome:
            ran = branches.run(spec, explorer)
            seen[spec.arm, spec.continuation] = met(ran)
            return self._specification.outcome(ran)

        def begin(arm: Arm, continuation: int) -> Future[Outcome]:
            return self._workers.submit(partial(outcome, Spec(pair, arm, continuation)))

        return judge_among(begin, continuations, self._workers.count, first=first)

    def _told(self, finding: Finding, shown: list[Shown], keep: Keep) -> Finding:
        verdict = worst(each.verdict for each in shown)
        best = next(each for each in shown if each.verdict.klass is verdict.klass)
        confidence = Confidence(
            paths=1,
            schedules=verdict.witnesses,
            arms=verdict.arms,
            isolation=self._isolation,
            matching="thread, operation and bytes",
        )
        told = replace(
            finding,
            klass=verdict.klass,
            reason=verdict.reason,
            consequence=consequence(verdict, best.instance.sides),
            confidence=confidence,
        )
        if verdict.klass is Class.SINGLE_ORDERING:
            return replace(told, explanation=_single(finding, verdict, best.instance))
        if verdict.klass is Class.SPEC_VIOLATED and not best.verdict.decisive.flipped:
            told = replace(told, explanation=_slow(finding, best.instance))
            return self._with_evidence(told, best, keep)
        if not any(trial.flipped for trial in best.verdict.trials):
            return told
        return self._of_both_orders(told, shown, best, keep)

    def _of_both_orders(
        self, told: Finding, shown: list[Shown], best: Shown, keep: Keep
    ) -> Finding:
        """With what is to be said where both were had."""
        verdict = best.verdict
        if verdict.klass is Class.INCONCLUSIVE:
            pair, trial = best.instance.pair, best.verdict.decisive
            words = told_of_stopped(self._tracer, best.branches, pair, trial)
            return replace(told, explanation=(*told.explanation, *filter(None, [words])))
        told = replace(told, explanation=(*told.explanation, *told_states(best.states)))
        if verdict.klass is Class.K_WITNESS_HARMLESS:
            harmless = [
                each for each in shown if each.verdict.klass is verdict.klass and not each.opened
            ]
            told = self._with_reason(told, harmless)
            return self._with_lost(told, harmless)
        if verdict.klass not in (Class.SPEC_VIOLATED, Class.OUTPUT_DIFFERS):
            return told
        return self._with_evidence(told, best, keep)

    def _with_reason(self, finding: Finding, shown: list[Shown]) -> Finding:
        """Why it does no harm, as far as that can be shown.

        It has to hold of several instances; that a write is redundant, of all that the run shows.
        """
        some = INSTANCES if shown[0].branches.steps <= SHORT else 1
        few = shown[:: -(-len(shown) // some)]
        reasons = []
        for each in few:
            reasons.append(self._reason(each))
            if reasons[-1] in OF_ONE:
                break
        reason = weakest(reasons)
        if reason == REDUNDANT and not self._have_one_value(shown):
            reason = ""
        return replace(finding, reason=reason)

    def _have_one_value(self, shown: list[Shown]) -> bool:
        """Whether the places of a race store and see one value in each run that was tried."""
        pairs: dict[Branches, list[Pair]] = {}
        for each in shown:
            pairs.setdefault(each.branches, []).append(each.instance.pair)
        return all(have_one_value(self._tracer, run.ran, some) for run, some in pairs.items())

    def _reason(self, shown: Shown) -> str:
        trial = shown.verdict.trials[0]
        steps = {Arm.FLIP: trial.flip.steps, Arm.CONTROL: trial.control.steps}

        @cache
        def put(arm: Arm, bits: int, *, patient: bool = False) -> Outcome:
            turned = Turned(bits, None if patient else steps[arm])
            spec = Spec(shown.instance.pair, arm, 0, turned)
            return self._specification.outcome(shown.branches.run(spec))

        return reason_of(shown.states, put, trial) if shown.states else ""

    def _with_lost(self, finding: Finding, shown: list[Shown]) -> Finding:
        """With what comes of it when one of two stores undoes the other, where it may."""
        stores = {each.instance.places: each for each in reversed(shown) if each.both_store}
        for each in stores.values():
            states, trials = each.states, each.verdict.trials
            if states is None:
                continue

            @cache
            def put(bits: int, continuation: int, each: Shown = each) -> Outcome:
                turned = Turned(bits, last=True)
                spec = Spec(each.instance.pair, Arm.CONTROL, continuation, turned)
                return self._specification.outcome(each.branches.run(spec))

            finding = with_lost(finding, each.instance.sides, states, range(len(trials)), put)
            if finding.klass is not Class.K_WITNESS_HARMLESS:
                break
        return finding

    def _with_evidence(self, finding: Finding, shown: Shown, keep: Keep) -> Finding:
        """Both orders as runs that can be done again, first the one that fails."""
        trial = shown.verdict.decisive
        flip, control = seen_apart(partial(shown.run, Arm.FLIP), partial(shown.run, Arm.CONTROL))
        other = Kept(flip, trial.flip, keep(flip))
        recorded = Kept(control, trial.control, keep(control))
        tells = finding.klass is Class.OUTPUT_DIFFERS and not self._specification.ignored
        differences = first_differences(control, flip) if tells else ()
        first, second = shown.instance.sides[:2]
        orders = orders_of((first, second), recorded, other, came=trial.flipped)
        worse = recorded if trial.control.fails and not trial.flip.fails else other
        return replace(
            finding,
            evidence=os.fspath(worse.path),
            replay=worse.replay,
            orders=orders if worse is recorded else orders[::-1],
            explanation=(*finding.explanation, *differences),
        )
