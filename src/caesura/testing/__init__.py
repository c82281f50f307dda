"""What programs built on this library are tested with, and what it is tested with itself.

Promises: time moves when told, identifiers are predictable, crashes happen where they are asked
for; each fake behaves as the thing it stands for. Importing this package alone loads none of it.
Used by tests; nothing in the library imports it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from caesura.testing.clock import ManualClock as ManualClock, SequentialIds as SequentialIds
    from caesura.testing.contract import StoreContract as StoreContract
    from caesura.testing.crash import Crash as Crash, CrashAfter as CrashAfter
    from caesura.testing.people import (
        ScriptedHuman as ScriptedHuman,
        SeenQuestion as SeenQuestion,
        UnexpectedQuestion as UnexpectedQuestion,
    )
    from caesura.testing.replays import (
        aassert_replays as aassert_replays,
        assert_replays as assert_replays,
    )

# One line a name: where it lives.
_HOMES = {
    "Crash": "caesura.testing.crash",
    "CrashAfter": "caesura.testing.crash",
    "ManualClock": "caesura.testing.clock",
    "ScriptedHuman": "caesura.testing.people",
    "SeenQuestion": "caesura.testing.people",
    "SequentialIds": "caesura.testing.clock",
    "StoreContract": "caesura.testing.contract",
    "UnexpectedQuestion": "caesura.testing.people",
    "aassert_replays": "caesura.testing.replays",
    "assert_replays": "caesura.testing.replays",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'caesura.testing' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
