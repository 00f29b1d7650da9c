# SPDX-License-Identifier: Apache-2.0
"""One continuation of a race in its arms, and what that says of the pair.

`flip` and `control` leave the recorded run at the same step and differ in the order of the two
alone; `prefix` follows it up to behind the second. So a difference is the pair's doing only when
one order shows it and the other does not; what the recorded one does wherever the run is left is
not the pair's.

Of three, one of which comes between two that belong together in one of those arms, `serial` is the
other order in which it does not, where there is one: what comes of that too does not come of what
comes between, nor does what goes wrong only where nothing does.
"""

from dataclasses import dataclass

from eitherway.judge.why import Why
from eitherway.model.outcome import Ending, Forced, Outcome
from eitherway.model.words import Arm, Class

Way = tuple[Ending, int, tuple[str, ...], tuple[str, ...]]
_LONG = 10_000_000  # steps: about a second


@dataclass(frozen=True, slots=True)
class Trial:
    """What the arms did with one continuation."""

    continuation: int
    flip: Outcome
    control: Outcome
    prefix: Outcome | None = None  # not needed while the other two do the same
    serial: Outcome | None = None  # nor this
    between: Arm | None = None  # of three: where one comes between
    refuted: bool = False  # what one order does here, the other does in another continuation

    @property
    def flipped(self) -> bool:
        """Whether the other order happened."""
        return self.flip.forced is Forced.AS_ASKED

    @property
    def differs(self) -> bool:
        """Whether `flip` did something else than `control`; delayed output alone is no such thing.

        Where the order could not be had, only how the runs ended is compared.
        """
        if self._has_no_other:
            return False
        return not _ends_alike(self.flip, self.control) or (
            self.flipped and not _writes_alike(self.flip, self.control)
        )

    @property
    def new_lines(self) -> bool:
        """Whether one order says on standard error what no other arm says.

        What the other order says must be in neither arm of the recorded one.
        """
        heard = {*self.control.said, *(self.prefix.said if self.prefix else ())}
        in_other = self.flipped and self.prefix is not None and not heard >= set(self.flip.said)
        return in_other or not set(self.flip.said) >= set(self.control.said)

    @property
    def was_stopped(self) -> bool:
        """Whether a branch did not come to its end, or took long to wait in vain."""
        in_vain = self.flip.forced is Forced.WAITS and self.flip.steps > _LONG
        return in_vain or Ending.BUDGET in (self.flip.ending, self.control.ending)

    @property
    def fails_alike(self) -> bool:
        """Whether something else goes wrong in both: then nothing can be seen of the pair."""
        return self.flip.breaks and not self.differs

    @property
    def says_nothing(self) -> bool:
        """Whether the pair is not the reason that nothing can be seen: both orders are alike."""
        lost = self.flip.ending is Ending.BEYOND or self.flip.forced is Forced.UNKNOWN
        alike = _ends_alike(self.flip, self.control) and self.flip.forced is self.control.forced
        return self.fails_alike or (lost and alike)

    @property
    def klass(self) -> Class:
        """What this one alone says."""
        if self.doubt:
            return Class.INCONCLUSIVE
        if self.is_of_two or self.refuted:
            return Class.K_WITNESS_HARMLESS
        if not self._has_no_other and not _ends_alike(self.flip, self.control):
            return Class.SPEC_VIOLATED
        if not self.flipped:
            return Class.SINGLE_ORDERING
        if self.new_lines:
            return Class.SPEC_VIOLATED
        return Class.OUTPUT_DIFFERS if self.differs else Class.K_WITNESS_HARMLESS

    @property
    def is_of_two(self) -> bool:
        """Of three: whether it is not that one comes between the others which does harm."""
        if self.between is None or not self.differs:
            return False
        between, apart = self.flip, self.control
        if self.between is Arm.CONTROL:
            between, apart = apart, between
        if self.serial is None or self.serial.forced is not Forced.AS_ASKED:
            return not _is_worse(between, apart)
        alike = _ends_alike(between, self.serial) and _writes_alike(between, self.serial)
        return alike or _is_worse(apart, between)

    @property
    def worse(self) -> Arm:
        """The order that goes wrong, or does something else than was recorded."""
        wrong = self.control.fails and not self.flip.fails
        return Arm.CONTROL if wrong else Arm.FLIP

    def with_both(self, arm: Arm) -> Arm:
        """The arm that shows the order of this one with both accesses, where the end came first."""
        is_short = arm is Arm.CONTROL and self.control.forced is Forced.CUT_SHORT
        return Arm.PREFIX if is_short and self._fails_as_recorded else arm

    def is_done_by(self, other: Outcome) -> bool:
        """Whether a run in the other order than the worse one does the same as that."""
        shown, better = self.flip, self.control
        if self.worse is Arm.CONTROL:
            shown, better = better, shown
        if self.klass is Class.OUTPUT_DIFFERS:
            return _ends_alike(other, shown) and _writes_alike(other, shown)
        new = set(shown.said) - set(better.said)
        return _ends_alike(other, shown) and new <= set(other.said)

    @property
    def doubt(self) -> Why | None:
        """Why it says nothing; None when it does."""
        for outcome in (self.flip, self.control, self.prefix):
            if outcome and (why := _SAYS_NOTHING.get(outcome.ending)):
                return why
            if outcome and (why := _NOT_FORCED.get(outcome.forced)):
                return why
        if self._is_refused:
            return Why.REFUSED
        if self._is_cut_short:
            return Why.CUT_SHORT
        if self.differs:
            return None if self._is_of_the_pair() else Why.OTHERWISE
        return Why.ALIKE if self.fails_alike else self._unseen

    @property
    def _unseen(self) -> Why | None:
        """Orders that seem to do the same may not: nobody knows what both of them leave there."""
        return Why.UNSEEN if self.flipped and self.flip.unseen and self.control.unseen else None

    @property
    def _is_refused(self) -> bool:
        """Whether the sandbox may be why the orders do the same, or why they do not."""
        refused = (self.flip.refused, self.control.refused)
        return any(refused) and not (all(refused) and self.differs)

    @property
    def _has_no_other(self) -> bool:
        """Whether neither order came, and nothing goes wrong while the first is held before it.

        Where it is held behind it, the second does not come there either: what goes wrong then is
        the doing of something else.
        """
        tried = self.flip.forced in (Forced.BLOCKED, Forced.ENDED, Forced.WAITS)
        return tried and not self.flip.fails and self.control.forced is not Forced.AS_ASKED

    @property
    def _is_cut_short(self) -> bool:
        """Whether the program ended too early to tell; not where it fails as one thread is slow."""
        if self.flip.forced is Forced.CUT_SHORT:
            return not (self.flip.fails and self.control.forced is Forced.AS_ASKED)
        if self.control.forced is not Forced.CUT_SHORT or self._has_no_other:
            return False
        return not self._fails_as_recorded

    @property
    def _fails_as_recorded(self) -> bool:
        """Whether the recorded order, in which both come, fails like `control`, and the other not.

        Then it fails for the first access: whether the second comes before the end is no matter.
        """
        if self.prefix is None or self.prefix.forced is not Forced.AS_ASKED or not self.flipped:
            return False
        return not self.flip.fails and self.control.fails and _ends_alike(self.control, self.prefix)

    def _is_of_the_pair(self) -> bool:
        """Whether the recorded order does not do the same, wherever the run is left."""
        if self.prefix is None:
            return False
        if _ends_alike(self.flip, self.control):
            return self.new_lines or _writes_alike(self.control, self.prefix)
        return not (self.flip.fails and _ends_alike(self.flip, self.prefix))


_SAYS_NOTHING = {Ending.BUDGET: Why.STOPPED, Ending.BEYOND: Why.BEYOND}
_NOT_FORCED = {Forced.NOT_REACHED: Why.NOT_REACHED, Forced.UNKNOWN: Why.UNKNOWN}


def _ends_alike(one: Outcome, other: Outcome) -> bool:
    """Two runs that end in different ways cannot both be meant."""
    return way(one)[:3] == way(other)[:3]


def way(outcome: Outcome) -> Way:
    """How it ended, and the errors that it told."""
    return outcome.ending, outcome.code, outcome.complaints, outcome.errors


def _is_worse(one: Outcome, other: Outcome) -> bool:
    """It goes wrong where the other does not, or says on standard error what the other does not."""
    if one.fails != other.fails:
        return one.fails
    return set(one.said) > set(other.said) or (one.fails and way(one) != way(other))


# What begins a digest that stands for an output whose order is open: of it, only that counts.
BY_WRITER, BY_LINE = "of each writer: ", "of all lines: "


def same_output(one: Outcome, other: Outcome) -> bool:
    """As far as it counts, when in one of them the order of some of it does not."""
    names = one.output.keys()
    return names == other.output.keys() and all(
        _counting(one, other, name) == _counting(other, one, name) for name in names
    )


def _counting(outcome: Outcome, other: Outcome, name: str) -> str:
    digest, like = outcome.output[name], other.output[name]
    if like.startswith(BY_LINE) and name in outcome.lines:
        return BY_LINE + outcome.lines[name]
    if like.startswith(BY_WRITER) and not digest.startswith((BY_WRITER, BY_LINE)):
        return BY_WRITER + outcome.writers.get(name, digest)
    return digest


def _writes_alike(one: Outcome, other: Outcome) -> bool:
    return same_output(one, other) and set(one.said) == set(other.said)
