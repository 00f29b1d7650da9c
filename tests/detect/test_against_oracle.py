# SPDX-License-Identifier: Apache-2.0
"""Every detector finds exactly what its definition says, on thousands of random traces."""

from hypothesis import given, settings
from tests.detect import agreement
from tests.detect.programs import (
    ACCESSES,
    CONDITIONS,
    LOCKED,
    LOCKS,
    PROCESSES,
    TWO_ACTORS,
    TWO_LOCKS,
    WAKES,
    traces,
)

from eitherway.model.trace import Trace


@settings(max_examples=1200)
@given(traces(ACCESSES, 120))
def test_load_store_with_locks(trace: Trace) -> None:
    agreement.check_load_store(trace)


@settings(max_examples=800)
@given(traces(TWO_ACTORS, 120))
def test_load_store_of_two_actors(trace: Trace) -> None:
    agreement.check_load_store(trace)


@settings(max_examples=800)
@given(traces(PROCESSES, 120))
def test_load_store_between_processes(trace: Trace) -> None:
    agreement.check_load_store(trace)


@settings(max_examples=400)
@given(traces(ACCESSES, 120))
def test_load_store_per_object(trace: Trace) -> None:
    agreement.check_load_store_per_object(trace)


@settings(max_examples=1500)
@given(traces(LOCKED, 160))
def test_atomicity(trace: Trace) -> None:
    agreement.check_atomicity(trace)


@settings(max_examples=1500)
@given(traces(LOCKS, 140))
def test_deadlock(trace: Trace) -> None:
    agreement.check_deadlock(trace)


@settings(max_examples=2000)
@given(traces(WAKES, 120))
def test_wait_wakeups(trace: Trace) -> None:
    agreement.check_wait_wakeups(trace)


@settings(max_examples=2000)
@given(traces(WAKES, 120))
def test_wakeup_waits(trace: Trace) -> None:
    agreement.check_wakeup_waits(trace)


@settings(max_examples=1000)
@given(traces(WAKES, 160))
def test_lost_wakeup_among_any_wakes(trace: Trace) -> None:
    agreement.check_lost_wakeup(trace)


@settings(max_examples=1500)
@given(traces(CONDITIONS, 160))
def test_lost_wakeup_with_conditions(trace: Trace) -> None:
    agreement.check_lost_wakeup(trace)


@settings(max_examples=500)
@given(traces(TWO_LOCKS, 160))
def test_lost_wakeup_with_one_lock_handed_on_to_another(trace: Trace) -> None:
    agreement.check_lost_wakeup(trace)
