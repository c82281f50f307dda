"""Which tasks ended, when and how: the rows of the `runs` projection, for analytics.

Promises: a row is a function of the log alone. Rows are written when a run gives its thread back,
or when many have come together, so that a step stays one statement; what a run that died has not
written is written by the run that goes on after it. Steps that were held back (durability='exit')
are one entry in the log and have no rows.
Used by `engine.folios` and by `engine.projections` when rows are rebuilt.
"""

from __future__ import annotations

from typing import Any

from caesura.core.control import START
from caesura.core.events import Done, Event, Failed, Stepped
from caesura.core.view import RunView, ThreadView
from caesura.ports import RunRow

MANY = 500
_ENDINGS = frozenset((Done, Failed))


class Tally:
    """The rows that are yet to be written."""

    __slots__ = ("_rows",)

    def __init__(self) -> None:
        self._rows: dict[tuple[int, int], RunRow] = {}

    def note(self, view: ThreadView, event: Event, at: int) -> None:
        """Called before the event is folded, with the time at which it happens."""
        kind = type(event)
        if kind is Stepped:
            if event.writes is not None:  # type: ignore[attr-defined]
                self._add(view.runs[event.run], 0, at, "done")  # type: ignore[attr-defined]
        elif kind in _ENDINGS:
            self._note_ending(view, event, at)

    def _note_ending(self, view: ThreadView, event: Event, at: int) -> None:
        match event:
            case Done() if event.goto is not None:
                outcome = "failed" if event.handled else "done"
                self._add(_run_of(view, event.step), event.index, at, outcome)
            case Failed() if event.index >= 0:
                self._add(_run_of(view, event.step), event.index, at, "failed")

    def _add(self, run: RunView | None, index: int, at: int, outcome: Any) -> None:
        if run is None:
            return
        node = run.tasks[index].node
        if node != START:
            row = RunRow(run.step, index, node, run.made_at, at, outcome)
            self._rows[run.step, index] = row

    def take(self, *, all_of_them: bool) -> tuple[RunRow, ...]:
        if not self._rows or not (all_of_them or len(self._rows) >= MANY):
            return ()
        rows, self._rows = self._rows, {}
        return tuple(rows.values())


def _run_of(view: ThreadView, step: int) -> RunView | None:
    return next((run for run in view.runs.values() if run.step == step), None)
