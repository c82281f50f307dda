"""Whether a store may still be used: not after `close`, and mostly not in a child of a fork.

Promises: `refusal` is None as long as the store may be used, and the error to raise afterwards. A
store is asked to come to rest before its process forks, so that a child never finds it in the
middle of something; afterwards the parent goes on as if nothing had been.
Used by every store of this package.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable
from typing import Protocol

from caesura.errors import StoreClosed

# A program may fork in a signal handler, in the middle of a write of the very same thread. It must
# not wait for itself for ever.
REST_WITHIN_S = 5.0


class Forking(Protocol):
    """A store that has something to bring to rest."""

    def before_fork(self) -> None: ...
    def after_fork(self, *, in_child: bool) -> None: ...


class Lifetime:
    """One store's, from opening to closing. `survives_forks`: a child may use its copy."""

    def __init__(self, name: str, store: Forking, *, survives_forks: bool = False) -> None:
        self.name = name
        self.refusal: Callable[[], StoreClosed] | None = None
        self._survives_forks = survives_forks
        self._store = weakref.ref(store)
        _alive.add(self)

    def end(self) -> bool:
        """True for the first to say so."""
        if self.refusal is not None:
            return False
        self.refusal = self._closed
        _alive.discard(self)
        return True

    def before_fork(self) -> None:
        store = self._store()
        if store is not None:
            store.before_fork()

    def after_fork(self, *, in_child: bool) -> None:
        if in_child and not self._survives_forks:
            self.refusal = self._from_before_a_fork
            _alive.discard(self)
        store = self._store()
        if store is not None:
            store.after_fork(in_child=in_child)

    def _closed(self) -> StoreClosed:
        return StoreClosed(
            f"{self.name} is closed. Open a new store, and keep it open for as long as graphs use "
            f"it: with SqliteStore(path) as store: ..."
        )

    def _from_before_a_fork(self) -> StoreClosed:
        return StoreClosed(
            f"{self.name} was opened before a fork of the process and belongs to the parent. Open "
            f"a store of its own in each child, after the fork."
        )


_alive: weakref.WeakSet[Lifetime] = weakref.WeakSet()
_resting: list[Lifetime] = []
_one_fork_at_a_time = threading.Lock()


def _before_fork() -> None:
    _one_fork_at_a_time.acquire()
    _resting[:] = _alive
    for lifetime in _resting:
        lifetime.before_fork()


def _after_fork(*, in_child: bool) -> None:
    try:
        for lifetime in _resting:
            lifetime.after_fork(in_child=in_child)
    finally:
        _resting.clear()
        _one_fork_at_a_time.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork,
        after_in_parent=lambda: _after_fork(in_child=False),
        after_in_child=lambda: _after_fork(in_child=True),
    )
