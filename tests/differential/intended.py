"""Where Caesura means to differ from LangGraph, and why.

Promises: every difference that the tests accept stands here with its reason; whatever is not listed
must be equal. Does not promise: that LangGraph is wrong; only that we decided otherwise.
Called by `test_differential`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from .driver import Record

Change = Callable[[Any], Any]


@dataclass(frozen=True)
class Intended:
    """Which observations of a case are ours instead of theirs.

    A change is a function of LangGraph's observation; a plain value replaces it. `extra` are
    observations that only we make, in the order in which they come at the end.
    """

    why: str
    changes: Mapping[str, Any]
    extra: tuple[tuple[str, Any], ...] = ()

    def ours(self, what: str, seen: Any) -> Any:
        change = self.changes[what]
        return change(seen) if callable(change) else change

    def apply(self, record: Record) -> Record:
        missing = set(self.changes) - {what for what, _ in record}
        if missing:
            raise AssertionError(f"No observation is called {sorted(missing)}; correct intended.py.")
        changed = [
            (what, self.ours(what, seen) if what in self.changes else seen) for what, seen in record
        ]
        return [*changed, *self.extra]


INTENDED: dict[str, Intended] = {}
