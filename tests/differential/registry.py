"""The list of all cases: a case is a function of `api` whose name says what it shows.

Promises: names are unique and cases come in the order in which they were written.
Called by the modules in `corpus` (to register) and by the tests (to read).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

Style = Literal["sync", "async"]


@dataclass(frozen=True)
class Case:
    """One script. `styles` narrows it to the sync or the async API where the other makes no sense."""

    name: str
    script: Callable[[Any], None]
    styles: tuple[Style, ...]


CASES: dict[str, Case] = {}


def case(script: Callable[[Any], None]) -> Callable[[Any], None]:
    """Register a script that runs through the sync and through the async API."""
    return _register(script, ("sync", "async"))


def sync_case(script: Callable[[Any], None]) -> Callable[[Any], None]:
    """Register a script whose graph only makes sense in a sync call."""
    return _register(script, ("sync",))


def async_case(script: Callable[[Any], None]) -> Callable[[Any], None]:
    """Register a script whose graph has async nodes."""
    return _register(script, ("async",))


def _register(script: Callable[[Any], None], styles: tuple[Style, ...]) -> Callable[[Any], None]:
    name = script.__name__
    if name in CASES:
        raise ValueError(f"There are two cases named {name!r}. Rename one of them.")
    CASES[name] = Case(name, script, styles)
    return script
