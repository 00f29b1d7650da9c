# SPDX-License-Identifier: Apache-2.0
"""Both orders of races of a recorded process tree, and what they say, as findings."""

import difflib
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from eitherway.closing import Closing
from eitherway.engine.local import Workers
from eitherway.find.advice import Advice
from eitherway.find.tree_races import Candidate
from eitherway.find.tree_rules import Rules
from eitherway.findings.from_races import history_of
from eitherway.judge.experiment import Verdict, judge_among, worst
from eitherway.judge.sentences import Orders, consequence, does, side
from eitherway.judge.trial import Trial
from eitherway.model.finding import Confidence, Finding, Ordered
from eitherway.model.history import History
from eitherway.model.outcome import Ending, Outcome
from eitherway.model.words import Arm, Class, Kind
from eitherway.recording.store import Store
from eitherway.sandbox.box import Sandbox
from eitherway.worlds.processes.branch import Branches, Spec
from eitherway.worlds.processes.cut import (
    POLLS,
    Alone,
    Between,
    Came,
    Choice,
    Interrupted,
    Pair,
    Ring,
    Unended,
)
from eitherway.worlds.processes.outcome import text_of
from eitherway.worlds.processes.run import Ran
from eitherway.worlds.processes.traced import Traced
from eitherway.worlds.threads.launch import Launch

CONTINUATIONS = 2
REFUTE = 6  # more continuations, where only some show a difference
_NOT_AGAIN = "the same branch did something else when it was run again"
INSTANCES = 4  # of one race that are tried
LOUD = (Class.SPEC_VIOLATED, Class.OUTPUT_DIFFERS)
QUIET = (Class.K_WITNESS_HARMLESS, Class.SINGLE_ORDERING)
_SHOWN = 3  # differences that a sentence names
_LINES = 6  # of output that stand beside an order
_LONGEST = 160  # characters of a line that a sentence holds


@dataclass(frozen=True, slots=True)
class Tried:
    """A race, the instance of it that says most, and what all instances said."""

    candidate: Candidate
    verdict: Verdict

    @property
    def klass(self) -> Class:
        """Of all instances."""
        return self.verdict.klass


class TreeJudge(Closing):
    """Of one recorded run; as many branches at a time as there are sandboxes."""

    def __init__(
        self,
        launch: Launch,
        traced: Traced,
        boxes: Sequence[Sandbox],
        store: Store,
        *,
        rules: Rules,
        continuations: int = CONTINUATIONS,
        timeout: float | None = None,
    ) -> None:
        self._traced = traced
        self._box = boxes[0]
        self._store = store
        self._continuations = continuations
        self._workers = Workers(boxes)
        look = partial(_seen_by, rules, launch)
        self._branches = Branches(launch, traced, look, timeout=timeout)
        self._advice = Advice(launch, traced, boxes[0])

    def tried(self, instances: Sequence[Candidate]) -> Tried:
        """One instance after the other, until one shows something."""
        shown: list[Tried] = []
        for candidate in instances[:INSTANCES]:
            shown.append(Tried(candidate, self._experiment(candidate)))
            if shown[-1].klass in LOUD:
                break
        verdict = worst(each.verdict for each in shown)
        best = next(each for each in shown if each.klass is verdict.klass)
        return Tried(best.candidate, replace(verdict, trials=best.verdict.trials))

    def _experiment(self, candidate: Candidate) -> Verdict:
        def begin(arm: Arm, continuation: int) -> Future[Outcome]:
            spec = Spec(candidate.anchors, arm, continuation)
            return self._workers.submit(partial(self._branches.known, spec))

        three = candidate.anchors if isinstance(candidate.anchors, Between) else None
        return judge_among(
            begin,
            self._continuations,
            between=three.between if three else None,
            serial=three is not None and three.has_serial,
            refute=REFUTE,
        )

    @property
    def traced(self) -> Traced:
        """The run."""
        return self._traced

    @property
    def branches(self) -> int:
        """That were run."""
        return self._branches.ran

    def kept(self, spec: Spec) -> Path:
        """The recording of a branch, where it can be done again."""
        return self._kept(spec)[0]

    def _kept(self, spec: Spec) -> tuple[Path, Outcome]:
        with self._store.new() as slot:
            outcome = self.record(spec, slot.path)
            self._store.publish(slot.path)
            return slot.path, outcome

    def record(self, spec: Spec, into: Path) -> Outcome:
        """The same, where somebody else keeps it or not."""
        return self._branches.recorded(spec, self._box, into)

    def told(self, tried: Tried) -> Finding:
        """The finding with its class; what shows it is kept."""
        candidate, verdict = tried.candidate, tried.verdict
        relaxed = any(spec.anchors == candidate.anchors for spec in self._branches.relaxed)
        finding = replace(
            candidate.finding,
            history=self._history(candidate),
            klass=verdict.klass,
            reason=verdict.reason,
            consequence=consequence(verdict, candidate.sides, _orders(candidate)),
            confidence=Confidence(
                paths=1,
                schedules=verdict.witnesses,
                arms=verdict.arms,
                isolation=str(self._box.isolation),
                matching="relaxed" if relaxed else "strict",
            ),
        )
        return self._with_evidence(finding, tried) if verdict.klass in LOUD else finding

    def _history(self, candidate: Candidate) -> History:
        """Only the first instance of a race has one from the start."""
        known = candidate.finding.history
        if known.moments:
            return known
        return history_of(self._traced.trace, candidate.operations, self._traced.describe)

    def _with_evidence(self, finding: Finding, tried: Tried) -> Finding:
        """Both orders as runs that can be done again; first the one that fails."""
        trial, anchors = tried.verdict.decisive, tried.candidate.anchors
        again = {
            arm: self._kept(Spec(anchors, arm, trial.continuation))
            for arm in (Arm.FLIP, Arm.CONTROL)
        }
        if not is_shown_again(trial, again[Arm.FLIP][1], again[Arm.CONTROL][1]):
            return _unsure(finding)
        kept = {arm: path for arm, (path, _) in again.items()}
        swapped = trial.control.fails and not trial.flip.fails
        worse, better = (Arm.CONTROL, Arm.FLIP) if swapped else (Arm.FLIP, Arm.CONTROL)
        return replace(
            finding,
            evidence=os.fspath(kept[worse]),
            replay=_replay(kept[worse]),
            orders=tuple(
                _ordered(tried.candidate, trial, arm, kept[arm]) for arm in (worse, better)
            ),
            explanation=(
                *finding.explanation,
                *differences(trial),
                *self._advised(tried.candidate, swapped=swapped),
            ),
        )

    def _advised(self, candidate: Candidate, *, swapped: bool) -> Iterator[str]:
        if isinstance(candidate.anchors, Pair):
            yield from self._advice.on(candidate.anchors, candidate.operations, swapped=swapped)
        elif candidate.finding.kind is Kind.ATOMICITY:
            yield from self._advice.on_sections(candidate.operations)
        elif isinstance(candidate.anchors, Between):
            yield from self._advice.on_three(candidate.anchors, candidate.operations)
        elif isinstance(candidate.anchors, Interrupted):
            yield from self._advice.on_interrupted(candidate.operations)
        elif isinstance(candidate.anchors, Alone):
            yield from self._advice.on_polled(candidate.operations)
        elif isinstance(candidate.anchors, Ring):
            yield from self._advice.on_ring(candidate.operations)
        elif isinstance(candidate.anchors, Choice | Unended):
            yield from self._advice.on_choice(candidate.operations)

    def close(self) -> None:
        """Wait for what is under way, and forget it."""
        self._workers.close()
        self._branches.close()


def is_shown_again(trial: Trial, flip: Outcome, control: Outcome) -> bool:
    """Whether both arms of a trial, run again, end as they did and differ in something as then.

    What differs by itself in every run, as times and their lengths do, is another each time.
    """
    pairs = ((trial.flip, flip), (trial.control, control))
    if any(_ended(seen) != _ended(again) for seen, again in pairs):
        return False
    if _ended(flip) != _ended(control):
        return True
    before, now = _differing(trial.flip, trial.control), _differing(flip, control)
    return any(name in now and now[name] == values for name, values in before.items())


def _ended(outcome: Outcome) -> tuple[Ending, int, bool, tuple[str, ...]]:
    return outcome.ending, outcome.code, bool(outcome.complaints), outcome.errors


def _differing(flip: Outcome, control: Outcome) -> dict[str, tuple[object, object]]:
    """What of it the two do not have alike: what each wrote and left, and lines of one alone."""
    names = {*flip.output, *control.output}
    outputs = {name: (flip.output.get(name), control.output.get(name)) for name in names}
    lines = {
        line: (line in flip.said, line in control.said) for line in {*flip.said, *control.said}
    }
    both: dict[str, tuple[object, object]] = {**outputs, **lines}
    return {name: values for name, values in both.items() if values[0] != values[1]}


def _unsure(finding: Finding) -> Finding:
    """What shows it does not show it again: it may be anything but the order that did it."""
    return replace(
        finding,
        klass=Class.INCONCLUSIVE,
        reason=_NOT_AGAIN,
        consequence=f"What both orders do could not be told: {_NOT_AGAIN}.",
    )


def _seen_by(rules: Rules, launch: Launch, ran: Ran, box: Sandbox) -> Outcome:
    return rules.outcome(ran, box, launch)


def _replay(recording: Path) -> str:
    return f"eitherway replay {recording.name}"


def _ordered(candidate: Candidate, trial: Trial, arm: Arm, kept: Path) -> Ordered:
    outcomes = trial.flip, trial.control
    outcome, other = outcomes if arm is Arm.FLIP else reversed(outcomes)
    return Ordered(
        order=_order(candidate, arm),
        does=does(outcome, other),
        output=_output(outcome),
        replay=_replay(kept),
    )


def _order(candidate: Candidate, arm: Arm) -> str:
    """Who comes before whom in an arm."""
    anchors = candidate.anchors
    if isinstance(anchors, Choice):
        return _finding(candidate, anchors, arm)
    if isinstance(anchors, Unended):
        goes_on = anchors.choice.found if arm is Arm.FLIP else anchors.choice.instead
        return f"{_finding(candidate, anchors.choice, arm)}, while process {goes_on} goes on"
    if isinstance(anchors, Between):
        return _coming(candidate, anchors.came(arm))
    if isinstance(anchors, Ring):
        return _meeting(candidate, meet=arm is anchors.meet)
    told: dict[type, Callable[[Candidate, Arm], str]] = {
        Interrupted: _interrupting,
        Alone: _alone,
    }
    return told.get(type(anchors), _first)(candidate, arm)


def _first(candidate: Candidate, arm: Arm) -> str:
    first, second = (side(operation) for operation in candidate.sides[:2])
    one, other = (second, first) if arm is Arm.FLIP else (first, second)
    return f"the {one} comes before the {other}"


def _finding(candidate: Candidate, choice: Choice, arm: Arm) -> str:
    child = choice.instead if arm is Arm.FLIP else choice.found
    waits = [op for op in candidate.finding.operations if op.op.startswith("wait")]
    return f"the {side(waits[0])} finds process {child} first"


def _interrupting(candidate: Candidate, arm: Arm) -> str:
    wait, sent, wake = map(side, candidate.finding.operations)
    if arm is Arm.CONTROL:
        return f"the signal of the {sent} interrupts the {wait}"
    return f"the {wake} ends the {wait} before the signal of the {sent} comes"


def _alone(candidate: Candidate, arm: Arm) -> str:
    poll, other = sorted(candidate.finding.operations, key=lambda each: each.op not in POLLS)
    if arm is Arm.FLIP:
        return f"the {side(poll)} finds what the {side(other)} made ready, and that alone"
    return f"the {side(poll)} finds something else ready, before the {side(other)}"


def _meeting(candidate: Candidate, *, meet: bool) -> str:
    takers = " and ".join(map(side, candidate.finding.operations[::2]))
    if meet:
        return f"the {takers} come before either goes on"
    return f"one of the {takers} comes when the other has given its locks back"


def _coming(candidate: Candidate, came: Came) -> str:
    check, change, use = map(side, candidate.finding.operations)
    if came is Came.BETWEEN:
        return f"the {change} comes between the {check} and the {use}"
    if came is Came.AFTER:
        return f"the {change} comes after the {use}"
    return f"the {change} comes before the {check}"


def _orders(candidate: Candidate) -> Orders:
    other, recorded = (f"When {_order(candidate, arm)}" for arm in (Arm.FLIP, Arm.CONTROL))
    if isinstance(candidate.anchors, Between | Interrupted | Alone | Ring):
        return Orders(other, recorded, "otherwise")
    return Orders(other, recorded)


def _output(outcome: Outcome) -> str:
    """The last lines that it writes, of whoever."""
    output = {**outcome.output, **outcome.shown}
    streams = sorted(name for name in output if name.startswith("standard "))
    lines = [line for name in streams for line in _lines(name, output[name])]
    return "\n".join(lines[-_LINES:])


# ---- what differs


def differences(trial: Trial) -> Iterator[str]:
    """What the other order leaves that the recorded one does not, in sentences."""
    flip, control = trial.flip.output, trial.control.output
    names = sorted(
        (name for name in {*flip, *control} if flip.get(name) != control.get(name)),
        key=lambda name: (name.startswith("file "), name),
    )
    for name in names[:_SHOWN]:
        yield _difference(name, control.get(name), flip.get(name))
    if len(names) > _SHOWN:
        yield f"{len(names) - _SHOWN} more files or outputs differ."


def _difference(name: str, recorded: str | None, other: str | None) -> str:
    lines = [_lines(name, value) for value in (recorded, other)]
    if all(len(text) > 1 for text in lines):
        return _by_lines(name, lines[0], lines[1])
    before, after = _ends(name, recorded), _ends(name, other)
    return f"In the recorded order {before}; in the other order {after}."


def _by_lines(name: str, recorded: list[str], other: list[str]) -> str:
    """As a diff: the lines that only one of them has."""
    if recorded != other and sorted(recorded) == sorted(other):
        return f"In the other order {name} has the same lines in another order."
    changes = [line for line in difflib.ndiff(recorded, other) if line[0] in "+-"]
    only = {
        sign: [_brief(repr(line[2:])) for line in changes if line.startswith(sign)]
        for sign in ("-", "+")
    }
    if not any(only.values()):
        return f"In the other order {name} has other permissions."
    if sorted(only["-"]) == sorted(only["+"]):
        return f"In the other order {name} has its lines in another order."
    words = [
        f"{verb} {_named(only[sign])}"
        for sign, verb in (("-", "lacks"), ("+", "has besides"))
        if only[sign]
    ]
    return f"In the other order {name} {' and '.join(words)}."


def _brief(text: str) -> str:
    """What a sentence can hold of it: a line of an archive or a picture has no end."""
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}... ({len(text):,} characters)"


def _named(lines: list[str]) -> str:
    more = f" and {len(lines) - _SHOWN} more lines" if len(lines) > _SHOWN else ""
    return ", ".join(lines[:_SHOWN]) + more


def _lines(name: str, value: str | None) -> list[str]:
    if value is None:
        return []
    return text_of(value if name.startswith("file ") else f"- {value}").splitlines()


def _ends(name: str, value: str | None) -> str:
    if value is None:
        return f"{name} is not there"
    text = value.partition(" ")[2] if name.startswith("file ") else value
    return f"{name} is {_brief(text)}" if text.startswith(("'", '"')) else f"{name} is another"
