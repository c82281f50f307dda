"""Where logs are kept: in memory, in one SQLite file, and encrypted over either.

Promises: every store here implements `ports.Store` and passes `caesura.testing.StoreContract`;
importing this package loads none of them. A store keeps encoded records and never looks inside.
Called by `engine` through `ports.Store` only.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from caesura.stores.encrypted import EncryptedStore as EncryptedStore
    from caesura.stores.memory import MemoryStore as MemoryStore
    from caesura.stores.sqlite import SqliteStore as SqliteStore

_HOMES = {
    "EncryptedStore": "caesura.stores.encrypted",
    "MemoryStore": "caesura.stores.memory",
    "SqliteStore": "caesura.stores.sqlite",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'caesura.stores' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
