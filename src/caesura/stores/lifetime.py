"""Whether a store may still be used: not after `close`, and not in a child of a fork.

Promises: `refusal` is None as long as the store may be used, and the error to raise afterwards; a
forked child finds it set before any of its code runs. What was open at the fork is left alone in
the child: it belongs to the parent.
Used by every store of this package.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable

from caesura.errors import StoreClosed


class Lifetime:
    """One store's, from opening to closing."""

    def __init__(self, name: str, *, abandon: Callable[[], None] | None = None) -> None:
        self.name = name
        self.refusal: Callable[[], StoreClosed] | None = None
        self._abandon = abandon
        _alive.add(self)

    @property
    def is_over(self) -> bool:
        return self.refusal is not None

    def end(self) -> bool:
        """True for the first to say so."""
        if self.refusal is not None:
            return False
        self.refusal = self._closed
        _alive.discard(self)
        return True

    def forked(self) -> None:
        self.refusal = self._from_before_a_fork
        if self._abandon is not None:
            self._abandon()

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


def _in_a_forked_child() -> None:
    for lifetime in list(_alive):
        lifetime.forked()
    _alive.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_a_forked_child)
