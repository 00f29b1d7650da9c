# SPDX-License-Identifier: Apache-2.0
"""Every program that is measured."""

from collections.abc import Sequence

from benchmarks.subjects.kernels import KERNELS
from benchmarks.subjects.memcached import Memcached
from benchmarks.subjects.pbzip2 import Pbzip2
from benchmarks.subjects.sqlite import Sqlite
from benchmarks.subjects.subject import Subject
from benchmarks.subjects.xz import Xz

from eitherway.errors import UsageError

REAL: tuple[Subject, ...] = (Pbzip2(), Xz(), Memcached(), Sqlite())
ALL: tuple[Subject, ...] = (*REAL, *KERNELS)


def chosen(names: Sequence[str]) -> list[Subject]:
    """Those of these names; without any, all."""
    known = {subject.name: subject for subject in ALL}
    if unknown := [name for name in names if name not in known]:
        raise UsageError(f"there is no program {unknown[0]}; there are {', '.join(known)}")
    return [known[name] for name in names or known]
