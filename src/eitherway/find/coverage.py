# SPDX-License-Identifier: Apache-2.0
"""How many pairs of operations that meet were seen in both orders.

Two operations meet when they are of different threads, on one object, not both loads, and one comes
right after the other: taking a lock, atomic operations, and plain accesses where threads race. They
are known by their places in the code.
"""

from eitherway.model.trace import Table


class Coverage:
    """Of all runs so far."""

    def __init__(self) -> None:
        self._orders: dict[int, int] = {}  # two bits, by a hash of both places

    def add(self, pairs: Table) -> None:
        """As `guide.Shown` has them."""
        for word in pairs.tolist():
            self._orders[word >> 2] = self._orders.get(word >> 2, 0) | word & 3

    @property
    def pairs(self) -> int:
        """That met."""
        return len(self._orders)

    @property
    def both(self) -> int:
        """Of these, seen in both orders."""
        return sum(orders == 3 for orders in self._orders.values())

    def __str__(self) -> str:
        """For people."""
        return f"{self.both:,} of {self.pairs:,} pairs seen in both orders"
