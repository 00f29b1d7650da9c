# SPDX-License-Identifier: Apache-2.0
"""A list of races that also says where the search for them was cut short."""

from collections.abc import Iterable

from eitherway.model.race import Race


class Found(list[Race]):
    """Races, and `limits`: a sentence for each part of the search that was not finished."""

    def __init__(self, races: Iterable[Race] = (), limits: Iterable[str] = ()) -> None:
        """All there are, unless limits are given."""
        super().__init__(races)
        self.limits = tuple(limits)
