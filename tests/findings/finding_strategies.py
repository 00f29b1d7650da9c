# SPDX-License-Identifier: Apache-2.0
"""Findings as Hypothesis makes them: every field in all its bounds."""

from hypothesis import strategies as st

from eitherway.model.finding import (
    MOST,
    Confidence,
    Document,
    Excerpt,
    Finding,
    FoundOperation,
    Frame,
    HeldLock,
    Ordered,
    Seen,
    Source,
    Summary,
)
from eitherway.model.history import Edge, History, Moment
from eitherway.model.place import Place
from eitherway.model.words import Arm, Class, Kind, OpKind, World

texts = st.text(max_size=12)
some_texts = st.text(min_size=1, max_size=12)
counts = st.integers(0, MOST)
numbers = st.integers(0, 2**32 - 1)
ids = st.from_regex(r"EW-[0-9a-f]{16}", fullmatch=True)
few_ids = st.sampled_from(["EW-" + 16 * digit for digit in "0123"])
times = st.just("") | st.from_regex(
    r"20[0-9]{2}-0[1-9]-1[0-9]T1[0-9]:00:00(\.[05]{1,2})?Z", fullmatch=True
)

frames = st.builds(
    Frame,
    function=texts,
    file=texts,
    line=numbers,
    column=numbers,
    module=texts,
    offset=st.integers(0, 2**64 - 1),
    inlined=st.booleans(),
)
stacks = st.lists(frames, max_size=3).map(tuple)
operations = st.builds(
    FoundOperation,
    actor=some_texts,
    op=some_texts,
    object=texts,
    variable=texts,
    stack=stacks,
    locks=st.lists(some_texts, max_size=2).map(tuple),
    created=stacks,
    allocated=stacks,
    value=texts,
    part=texts,
    created_by=texts,
    allocated_by=texts,
)
sources = st.builds(Source, tool=some_texts, file=texts)

moments = st.builds(
    Moment,
    actor=st.integers(0, 1),
    step=counts,
    kind=st.sampled_from(OpKind),
    op=some_texts,
    touched=texts,
    value=texts,
    place=st.builds(Place, function=texts, file=texts, line=numbers),
    side=numbers,
)
histories = st.just(History()) | st.builds(
    History,
    actors=st.tuples(some_texts, some_texts),
    moments=st.lists(moments, min_size=3, max_size=4).map(tuple),
    edges=st.lists(
        st.builds(Edge, before=st.just(0), after=st.integers(1, 2), chance=st.booleans()),
        max_size=2,
    ).map(tuple),
)
excerpts = st.builds(
    Excerpt,
    file=some_texts,
    first=st.integers(1, 2**32 - 1),
    lines=st.lists(texts, max_size=3).map(tuple),
)


def findings(
    id_strategy: st.SearchStrategy[str] = ids, *, one_kind: bool = False
) -> st.SearchStrategy[Finding]:
    """Of every world and kind, or all of the same: findings of one id have one of each."""
    return st.builds(
        Finding,
        world=st.just(World.THREADS) if one_kind else st.sampled_from(World),
        kind=st.just(Kind.DATA_RACE) if one_kind else st.sampled_from(Kind),
        operations=st.lists(operations, max_size=3).map(tuple),
        id=id_strategy,
        klass=st.sampled_from(Class),
        reason=texts,
        consequence=texts,
        confidence=st.builds(
            Confidence,
            paths=counts,
            schedules=counts,
            arms=st.lists(st.sampled_from(Arm), unique=True).map(tuple),
            isolation=texts,
            matching=texts,
        ),
        explanation=st.lists(some_texts, max_size=3).map(tuple),
        replay=texts,
        evidence=texts,
        sources=st.lists(sources, max_size=2, unique=True).map(tuple),
        seen=st.builds(Seen, first=times, last=times, count=st.integers(1, MOST)),
        locks=st.lists(st.builds(HeldLock, name=some_texts, made=stacks), max_size=2).map(tuple),
        orders=st.lists(
            st.builds(Ordered, order=some_texts, does=some_texts, output=texts, replay=texts),
            max_size=2,
        ).map(tuple),
        history=histories,
        code=st.lists(excerpts, max_size=2).map(tuple),
    )


summaries = st.builds(
    Summary,
    findings=counts,
    new=st.lists(ids, max_size=2, unique=True).map(tuple),
    gone=st.lists(ids, max_size=2, unique=True).map(tuple),
    suppressed=counts,
    unused_suppressions=st.lists(some_texts, max_size=2).map(tuple),
    classes=st.fixed_dictionaries(dict.fromkeys(Class, counts)),
    notes=st.lists(some_texts, max_size=2).map(tuple),
    failing=st.lists(ids, max_size=2, unique=True).map(tuple),
)
documents = st.builds(
    Document,
    findings=st.lists(findings(), max_size=3).map(tuple),
    summary=summaries,
    tool=some_texts,
    version=texts,
)
