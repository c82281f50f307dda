"""What was staged on a log and is not on its way to the store yet.

Promises: what was staged together is written together; what is too much for one record is written
as several. Called by `engine.ledger`, under its lock.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

from caesura.ports import QuestionRow, Snapshot

OUTLINE = 32  # bytes of a record that are not events, at most


class Portion(NamedTuple):
    """What goes into one record."""

    at: int
    events: Sequence[bytes]
    questions: tuple[QuestionRow, ...]
    snapshot: Snapshot | None


class Draft:
    """Packed events, and the rows and the snapshot that go with them."""

    __slots__ = ("_ends", "_size", "at", "events", "rows", "snapshot")

    def __init__(self) -> None:
        self.at = 0  # when the first of the events happened
        self.events: list[bytes] = []
        self.rows: dict[str, QuestionRow] = {}
        self.snapshot: Snapshot | None = None
        self._ends: list[int] = []  # where what was staged together ends
        self._size = 0

    def add(self, packed: Sequence[bytes], size: int) -> None:
        """Take up what was staged together."""
        self.events += packed
        self._ends.append(len(self.events))
        self._size += size

    def take(self, limit: int) -> Portion:
        """As much as fits into one record, or all that there is."""
        if self._size + OUTLINE <= limit or len(self._ends) < 2:
            portion = Portion(self.at, self.events, tuple(self.rows.values()), self.snapshot)
            self.__init__()  # type: ignore[misc]
            return portion
        sizes = list(accumulate(map(len, self.events), initial=0))
        fitting = [end for end in self._ends if sizes[end] + OUTLINE <= limit]
        end = fitting[-1] if fitting else self._ends[0]
        portion = Portion(self.at, self.events[:end], (), self.snapshot)
        self.at, self.snapshot = self.at + end, None
        self.events, self._size = self.events[end:], self._size - sizes[end]
        self._ends = [place - end for place in self._ends if place > end]
        return portion
