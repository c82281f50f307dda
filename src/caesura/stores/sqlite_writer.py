"""The one connection that writes, and its transactions.

Promises: a batch is one transaction, in which one refused append leaves the others alone; an item
is settled only when it is known whether it is in the file. A durable commit waits for the disk, a
relaxed one leaves that to the system; both go through the same connection, so they keep their
order.
Does not lock: it is called by whoever has the turn (`turns`). Called by `sqlite`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

from caesura.errors import StoreTrouble
from caesura.ports import Append, Clock
from caesura.stores.admission import is_plain
from caesura.stores.pending import Pending
from caesura.stores.sqlite_file import SqliteFile
from caesura.stores.sqlite_writes import add_under_lease, touch, write

Synchronous = Literal["full", "normal"]

_NUMBERS_KEPT = 100_000


class Job(NamedTuple):
    """Something else that is done within a transaction of the writer."""

    act: Callable[[sqlite3.Cursor], Any]
    durable: bool = True
    flushes: bool = False  # waits for the disk, whatever the store is set to


Work = Append | Job


class SqliteWriter:
    def __init__(self, file: SqliteFile, clock: Clock, synchronous: Synchronous) -> None:
        self._file, self._clock = file, clock
        self._durably: Synchronous = "normal" if file.is_memory else synchronous
        self._set_to: Synchronous | None = None  # what the connection is set to
        self._cursor: sqlite3.Cursor | None = file.create().cursor()
        self._numbers: dict[str, int] = {}  # threads whose `no` is known; a `no` is never reused
        self._has_unflushed = False

    # ------------------------------------------------------------------------- one append, quickly
    def commit_one(self, append: Append) -> int:
        number = self._numbers.get(append.thread)
        if number is not None and is_plain(append):
            how = self._durably if append.durable else "normal"
            cursor = self._cursor
            if cursor is None or how != self._set_to or cursor.connection.in_transaction:
                cursor = self._prepared(how)
            self._has_unflushed |= how != "full"
            if self._file.patiently(lambda: add_under_lease(cursor, number, append)):
                self._has_unflushed = how != "full"
                assert append.epoch is not None
                return append.epoch
            # Why it may not be is found out, and said, by looking at each thing by itself.
        pending: Pending[Work] = Pending(append)
        self.commit([pending])
        epoch: int = pending.outcome()
        return epoch

    # --------------------------------------------------------------------------------- many at once
    def commit(self, batch: Sequence[Pending[Work]]) -> None:
        waiting = list(batch)
        while waiting:
            culprit = self._commit_all(waiting)
            if culprit is None:
                return
            # It failed in the middle of its writes; the others are done again without it.
            waiting.remove(culprit)

    def sync_job(self) -> Job:
        """A durable commit takes all that was committed before with it to the disk."""

        def act(cursor: sqlite3.Cursor) -> None:
            if self._has_unflushed:
                touch(cursor)

        return Job(act, flushes=True)

    def rest(self) -> None:
        """Close the connection until it is needed again; one to memory cannot be had twice."""
        if self._cursor is not None and not self._file.is_memory:
            self._cursor.connection.close()
            self._cursor = self._set_to = None

    def close(self) -> None:
        try:
            if self._has_unflushed and not self._file.is_memory:
                pending: Pending[Work] = Pending(self.sync_job())
                self.commit([pending])
                pending.outcome()
        finally:
            cursor, self._cursor = self._cursor, None
            if cursor is not None:
                cursor.connection.close()

    # ------------------------------------------------------------------------------------- inside
    def _prepared(self, how: Synchronous) -> sqlite3.Cursor:
        if self._cursor is None:
            self._cursor, self._set_to = self._file.connect().cursor(), None
        if self._cursor.connection.in_transaction:  # of a thread that was stopped twice
            self._cursor.connection.rollback()
        if self._set_to != how:
            self._cursor.execute(f"pragma synchronous = {how}")
            self._set_to = how
        return self._cursor

    def _how(self, batch: Sequence[Pending[Work]]) -> Synchronous:
        works = [item.work for item in batch]
        if any(isinstance(work, Job) and work.flushes for work in works):
            return "full"
        return self._durably if any(work.durable for work in works) else "normal"

    def _commit_all(self, batch: Sequence[Pending[Work]]) -> Pending[Work] | None:
        """Settle all of them and return None; or settle one, do nothing, and return that one."""
        how = self._how(batch)
        try:
            cursor = self._prepared(how)
        except (StoreTrouble, sqlite3.Error) as error:
            for item in batch:
                item.settle(self._told(error))
            return None
        self._has_unflushed |= how != "full"
        connection, outcomes = cursor.connection, list[Any]()
        changes_before = connection.total_changes
        try:
            self._file.patiently(lambda: cursor.execute("begin immediate"))
            for item in batch:
                changes = connection.total_changes
                try:
                    outcomes.append(self._perform(cursor, item.work))
                except Exception as error:  # noqa: BLE001 - whatever it is, it is the item's
                    if connection.in_transaction and connection.total_changes == changes:
                        outcomes.append(self._told(error))  # refused before its first write
                        continue
                    item.settle(self._told(error))
                    return item
            cursor.execute("commit")
            self._keep(batch, outcomes)
        except (StoreTrouble, sqlite3.Error) as error:
            for item in batch:
                item.settle(self._told(error))
        except BaseException:
            # This thread is being stopped. Was it before the commit, or after?
            if len(outcomes) == len(batch) and not connection.in_transaction:
                self._keep(batch, outcomes)
            raise
        finally:
            if connection.in_transaction:
                connection.rollback()
            elif connection.total_changes != changes_before and how == "full":
                self._has_unflushed = False
        return None

    def _perform(self, cursor: sqlite3.Cursor, work: Work) -> Any:
        if isinstance(work, Job):
            return work.act(cursor)
        number = self._numbers.get(work.thread)
        if number is not None and is_plain(work) and add_under_lease(cursor, number, work):
            return work.epoch
        return _Written(*write(cursor, work, self._clock))

    def _keep(self, batch: Sequence[Pending[Work]], outcomes: Sequence[Any]) -> None:
        """It is in the file."""
        for item, outcome in zip(batch, outcomes, strict=True):
            if isinstance(outcome, _Written):
                if outcome.number is not None and isinstance(item.work, Append):
                    if len(self._numbers) >= _NUMBERS_KEPT:
                        self._numbers.clear()
                    self._numbers[item.work.thread] = outcome.number
                item.settle(outcome.epoch)
            else:
                item.settle(outcome)

    def _told(self, error: Exception) -> Exception:
        if not isinstance(error, sqlite3.Error):
            return error
        trouble = self._file.trouble(error)
        trouble.__cause__ = error
        return trouble


class _Written(NamedTuple):
    epoch: int
    number: int | None
