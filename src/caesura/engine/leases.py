"""Take a thread's lease, keep it while the run lasts, and tell a busy thread from an orphaned one.

Promises: a lease whose holder is known to have ended is taken over at once; one whose holder lives,
or may live elsewhere, is left alone until it lapses. While a run lasts on a store that other
processes share, its lease is renewed in the background.
Called by `engine.calls`.
"""

from __future__ import annotations

import logging
import os
import threading
from typing import TYPE_CHECKING

from caesura.engine import running
from caesura.errors import ThreadBusy
from caesura.ports import Lease, LeaseHeld, Store, Take

if TYPE_CHECKING:
    from caesura.engine.ledger import Ledger

_log = logging.getLogger("caesura")

TTL_S = 30.0
BEAT_S = 10.0
FOREVER_US = 1 << 60  # of a store that no other process can reach: only its own runs hold leases


def wish_for(store: Store, thread: str, owner: str, lease: Lease | None) -> Take:
    """How the lease can be taken; `ThreadBusy` when somebody lives who holds it."""
    ttl_us = int(TTL_S * 1e6) if store.shared else FOREVER_US
    holder = lease.owner if lease is not None else None
    if holder is None:
        return Take(owner, ttl_us)
    lives = is_alive(store, holder)
    if lives:
        raise ThreadBusy(thread, holder)
    return Take(owner, ttl_us, evict=holder if lives is False else None)


def is_alive(store: Store, owner: str) -> bool | None:
    """Whether the run behind an owner's name is at work; None when it cannot be known from here."""
    identity = owner.partition("/")[0]
    if identity == store.host.identity():
        return running.is_at_work(owner)
    return store.host.is_alive(identity)


def busy(thread: str, held: LeaseHeld) -> ThreadBusy:
    return ThreadBusy(thread, held.lease.owner or "somebody")


class Heart:
    """One background thread that renews the leases of all runs of this process."""

    def __init__(self) -> None:
        self._ledgers: dict[int, Ledger] = {}
        self._news = threading.Condition()
        self._thread: threading.Thread | None = None

    def beat_for(self, ledger: Ledger) -> None:
        with self._news:
            self._ledgers[id(ledger)] = ledger
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._beat, name="caesura-heart", daemon=True
                )
                self._thread.start()

    def stop_for(self, ledger: Ledger) -> None:
        with self._news:
            self._ledgers.pop(id(ledger), None)

    def _beat(self) -> None:
        while True:
            with self._news:
                self._news.wait(BEAT_S)
                ledgers = list(self._ledgers.values())
                if not ledgers:
                    self._thread = None
                    return
            for ledger in ledgers:
                self._renew(ledger)

    @staticmethod
    def _renew(ledger: Ledger) -> None:
        epoch = ledger.epoch
        if epoch is None:
            return
        try:
            ledger.keep_lease(epoch)
        except Exception:  # noqa: BLE001 - the run itself will meet the same trouble and report it
            _log.warning("thread %r: its lease could not be renewed", ledger.thread, exc_info=True)


HEART = Heart()


def _in_a_forked_child() -> None:
    HEART.__init__()  # type: ignore[misc]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_a_forked_child)
