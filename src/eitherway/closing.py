# SPDX-License-Identifier: Apache-2.0
"""Things that are closed at the end of a `with` block."""

from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self


class Closing(ABC):
    """Has `close`; a `with` block calls it at its end, however that comes."""

    @abstractmethod
    def close(self) -> None:
        """Give back what is held; a second time does nothing."""

    def __enter__(self) -> Self:
        """Closed at the end of the block."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Closes it."""
        self.close()
