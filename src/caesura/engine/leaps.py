"""durability='exit': finished steps are held back and written as one entry.

Promises: what a leap stands for reads, when it is folded again, as the state that the run had; it
is written before anything that must not be lost (answers, pauses, effects) and at the end.
Used by `engine.ledger` only; begun by the facade's calls.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from caesura.core.control import START
from caesura.core.events import Done, Event, Leapt, Stepped
from caesura.core.history import Fold
from caesura.core.view import ThreadView


class Leap:
    """Steps of one run that were made and not written."""

    def __init__(self, run: int, untracked: frozenset[str], *, begins_anew: bool) -> None:
        self.run, self._untracked = run, untracked
        self._is_alone = begins_anew  # what the call has written so far is not to be shown
        self._began: tuple[int, int, int | None] | None = None  # the time, the step, its parent
        self._steps = 0
        self._changed: dict[str, None] = {}
        self._last: Stepped | None = None
        self._ran: list[str] = []
        self._done: list[Done] = []  # of the step at hand

    @property
    def held(self) -> bool:
        return bool(self._steps or self._done)

    def takes(self, event: Event) -> bool:
        """Whether this event can wait."""
        return type(event) is Done or (type(event) is Stepped and event.run == self.run)

    def fold(self, fold: Fold, event: Any, prepared: dict[str, Any] | None) -> None:
        """Let the view go on without a record."""
        run = fold.view.runs[self.run]
        if self._began is None:
            self._began = fold.view.at, run.step, run.parent_step
        fold.prepared = prepared
        if type(event) is Done:
            fold.apply(fold.view.at, (event,))
            self._done.append(event)
            return
        self._ran = [task.node for task in run.tasks if task.node != START]
        before = run.values
        fold.apply(fold.view.at, (event,))
        after = fold.view.runs[self.run].values
        for key, value in after.items():
            if key not in before or before[key] is not value:
                self._changed[key] = None
        self._steps += 1
        self._last, self._done = event, []

    def events(self, view: ThreadView, now: int | None) -> Sequence[Event]:
        """What stands for all that was held back; from here on it counts as written.

        `now` is the time at which their record begins, or None if one has begun already. The view
        is left as whoever reads these events will have it.
        """
        began_at, step, parent = self._began or (view.at, -1, None)
        at = began_at if now is None else max(now, view.at)
        events: list[Event] = []
        if self._last is not None:
            run = view.runs[self.run]
            run.made_at, run.parent_step = at, parent if self._is_alone else step
            changed = {k: run.values[k] for k in self._changed if k not in self._untracked}
            events.append(
                Leapt(
                    self.run,
                    self._steps,
                    changed,
                    self._last.next,
                    self._ran,
                    alone=self._is_alone,
                    joins=self._last.joins,
                    deferred=self._last.deferred,
                )
            )
            self._is_alone = True
        events += self._done
        self._steps, self._changed, self._last, self._done = 0, {}, None, []
        self._began, view.at = None, at + len(events)
        return events
