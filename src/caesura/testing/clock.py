"""Time that moves when told, and identifiers that can be foreseen.

Promises: nothing sleeps. A sleep moves the clock by its length and returns at once, so whatever
waits for a time finds that it has come; the lengths are kept in `slept`.
Does not promise: that sleeps side by side take as long as the longest of them; each one adds up.
"""

from __future__ import annotations

import itertools
import sys
import threading
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

_MICROSECOND = timedelta(microseconds=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_START = datetime(2024, 1, 1, 12, tzinfo=UTC)


class ManualClock:
    """A clock that a test moves. `start` is an aware datetime or microseconds since the epoch."""

    def __init__(self, start: datetime | int = _START) -> None:
        self._now = start if isinstance(start, int) else (start - _EPOCH) // _MICROSECOND
        self._lock = threading.Lock()
        self.slept: list[float] = []

    def now(self) -> int:
        return self._now

    def advance(self, by: float | timedelta) -> int:
        """Let time pass: seconds, or a timedelta. Returns the new now."""
        length = by if isinstance(by, timedelta) else timedelta(seconds=by)
        with self._lock:
            self._now += length // _MICROSECOND
            return self._now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.advance(seconds)

    async def sleep_async(self, seconds: float) -> None:
        self.sleep(seconds)
        # What polls in a loop must leave the other tasks a turn. Without a loop there are none.
        asyncio = sys.modules.get("asyncio")
        if asyncio is not None and asyncio._get_running_loop() is not None:
            await asyncio.sleep(0)


class SequentialIds:
    """Identifiers 1, 2, 3 ... in the usual form, and chances that repeat those given."""

    def __init__(self, *, chances: Sequence[float] = (0.5,)) -> None:
        self._numbers = itertools.count(1)
        self._chances = itertools.cycle(chances)

    def new(self) -> str:
        return f"{next(self._numbers):032x}"

    def chance(self) -> float:
        return next(self._chances)
