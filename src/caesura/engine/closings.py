"""Put what somebody else wrote before what a runner has closed and not yet written.

Promises: a question that was answered in the log before the runner took it back counts as answered,
as it will for everybody who reads the log. Called by `engine.ledger`, under its lock.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from caesura.core.events import COMMUTING, Answered, Asked, Event, Expired, Withdrawn
from caesura.core.journals import find_question
from caesura.core.view import Asking, ThreadView
from caesura.engine.codec import Codec
from caesura.errors import LeaseLost
from caesura.ports import Record


class Closings:
    """Questions that are closed by events which are staged, or on their way."""

    __slots__ = ("_sent", "_staged")

    def __init__(self) -> None:
        # Each with its event, and with how it stood and since when before that.
        self._staged: list[tuple[Event, Asking, str, int]] = []
        self._sent: list[tuple[Event, Asking, str, int]] = []

    def about_to(self, view: ThreadView, event: Any) -> None:
        """This event is going to be folded."""
        if type(event) is Asked:
            question = event.replaces
        elif type(event) in (Withdrawn, Expired):
            question = event.question
        else:
            return
        asking = find_question(view, question) if question is not None else None
        if asking is not None:
            self._staged.append((event, asking, asking.status, asking.at))

    def send(self) -> None:
        """What is staged goes out."""
        if self._staged:
            self._sent += self._staged
            self._staged = []

    def land(self) -> None:
        """What went out is in the log: nobody comes before it any more."""
        if self._sent:
            self._sent = []

    @contextmanager
    def undone(self) -> Iterator[None]:
        """Within it none of them has happened; afterwards they happen again, if they can."""
        closed = self._sent + self._staged
        after = [(asking.status, asking.at) for _, asking, _, _ in closed]
        for _, asking, status, at in reversed(closed):
            asking.status, asking.at = status, at
        yield
        for (event, asking, _, _), (status, at) in zip(closed, after, strict=True):
            takes_answered = type(event) is Asked and asking.question.key is not None
            if asking.status == "open" or takes_answered:
                asking.status, asking.at = status, at

    def find(self, question: str) -> Asking | None:
        """A question that was closed, also when its task is over and it was forgotten."""
        for _, asking, _, _ in self._sent + self._staged:
            if asking.question.id == question:
                return asking
        return None

    def hear(self, view: ThreadView, at: int, events: Sequence[Any]) -> None:
        """What others wrote about questions that the thread has forgotten in the meantime."""
        for event in events:
            status = _CLOSED_BY.get(type(event))
            if status is not None and find_question(view, event.question) is None:
                asking = self.find(event.question)
                if asking is not None and asking.status == "open":
                    asking.status, asking.at = status, at
                    if type(event) is Answered:
                        asking.answer, asking.by = event.value, event.by
            at += 1


_CLOSED_BY: dict[type[Event], str] = {
    Answered: "answered",
    Withdrawn: "withdrawn",
    Expired: "expired",
}


def foreign_events(
    codec: Codec, record: Record, thread: str, epoch: int | None
) -> tuple[int, list[Any]]:
    """When it was written, and what; refused when it does not commute with what a runner writes."""
    at, events = codec.decode(record.body)
    if not all(isinstance(event, COMMUTING) for event in events):
        raise LeaseLost(thread, epoch=epoch or 0, current=None)
    return at, list(events)
