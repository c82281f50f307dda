"""Something that waits to be written, and who hears what became of it.

Called by `turns`, and by the writer that settles it.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any, Generic, TypeVar

from caesura.ports import AppendSink

W = TypeVar("W")


class Pending(Generic[W]):
    """One thing to be written. Either a thread waits for it, or a sink is told, or neither."""

    __slots__ = (
        "error",
        "is_settled",
        "is_told",
        "sink",
        "tag",
        "value",
        "wants_turn",
        "woken",
        "work",
    )

    def __init__(
        self,
        work: W,
        *,
        tag: Any = None,
        sink: AppendSink | None = None,
        waits: bool = False,
        wants_turn: bool = False,
    ) -> None:
        self.work = work
        self.tag, self.sink = tag, sink
        self.value: Any = None
        self.error: BaseException | None = None
        self.is_settled = False
        self.is_told = False  # its sink
        self.wants_turn = wants_turn  # there is no work: its thread wants to do something itself
        self.woken: threading.Lock | None = None  # None: nobody waits for this
        if waits:
            self.woken = threading.Lock()
            self.woken.acquire()

    def settle(self, outcome: Any) -> None:
        if isinstance(outcome, BaseException):
            self.error = outcome
        else:
            self.value = outcome
        self.is_settled = True

    def outcome(self) -> Any:
        if self.error is not None:
            raise self.error
        return self.value

    def wake(self) -> None:
        """Let its thread go on; again is not more."""
        woken = self.woken
        if woken is not None:
            try:
                woken.release()
            except RuntimeError:
                pass  # somebody else was as fast


def tell(settled: Sequence[Pending[Any]]) -> None:
    """Each sink gets its outcomes in one call, and each outcome once."""
    by_sink: dict[int, tuple[AppendSink, list[tuple[Any, Any]]]] = {}
    for item in settled:
        assert item.sink is not None
        if not item.is_told:
            item.is_told = True
            outcome = item.value if item.error is None else item.error
            by_sink.setdefault(id(item.sink), (item.sink, []))[1].append((item.tag, outcome))
    for sink, outcomes in by_sink.values():
        try:
            sink.landed(outcomes)
        except Exception:
            # One run's mistake must not stop the others' writes. Imported here because it is slow
            # to load, and hardly ever needed.
            import logging

            log = logging.getLogger("caesura")
            log.exception("a sink failed to take the outcomes of its appends")
