"""What is written to a SQLite file, statement by statement.

Promises: an append that only adds a record is one statement and one commit; everything else is
checked before its first write. A batch is one transaction, in which one refused append leaves the
others alone.
Does not lock: it is called by whoever has the turn (`turns`). Called by `sqlite`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from caesura.errors import StaleHead, StoreTrouble
from caesura.ports import Append, Clock, Lease, QuestionRow, RunRow, ThreadRow
from caesura.stores.admission import asked_elsewhere, encoded_columns
from caesura.stores.leases import check_epoch, lease_after
from caesura.stores.sqlite_file import SqliteFile, is_busy
from caesura.stores.sqlite_reads import SEQ
from caesura.stores.turns import Pending

_NUMBERS_KEPT = 100_000

# The head is compared with the last record's id, not with its predecessor's being there: an append
# of several events leaves a gap in the ids, into which a stale one would fit.
_LAST = "(select id from events where id <= ? order by id desc limit 1)"
_ADD_UNDER_LEASE = (
    "insert into events (id, body) select ?, ? where "
    "(select epoch from threads where no = ? and owner is not null) = ? "
    f"and {_LAST} = ?"
)
_ADD = f"insert into events (id, body) select ?, ? where {_LAST} = ?"
_FIND = (
    "select no, owner, epoch, until, graph, status, updated_at, due, "
    "(select id from events where id between no << 32 and no << 32 | 4294967295 "
    "order by id desc limit 1) from threads where thread = ?"
)
_BEGIN_THREAD = (
    "insert into threads (owner, epoch, until, graph, status, updated_at, due, thread) "
    "values (?, ?, ?, ?, ?, ?, ?, ?)"
)
_CHANGE_THREAD = (
    "update threads set owner = ?, epoch = ?, until = ?, graph = ?, status = ?, updated_at = ?, "
    "due = ? where no = ?"
)
_KEEP_QUESTION = (
    "insert into interrupts (id, no, status, asked_at, due, columns, body) "
    "values (?, ?, ?, ?, ?, ?, ?) on conflict (id) do update set status = excluded.status, "
    "asked_at = excluded.asked_at, due = excluded.due, columns = excluded.columns, "
    "body = excluded.body where no = excluded.no"
)
_KEEP_RUN = (
    "insert or replace into runs (no, step, place, node, started_at, ended_at, outcome) "
    "values (?, ?, ?, ?, ?, ?, ?)"
)


class Job(NamedTuple):
    """Something else that is done within a transaction of the writer."""

    act: Callable[[sqlite3.Cursor], Any]
    durable: bool = True


Work = Append | Job


class SqliteWriter:
    """The connections that write: one that waits for the disk, one that does not."""

    def __init__(
        self, file: SqliteFile, connection: sqlite3.Connection, clock: Clock, *, relaxed: bool
    ) -> None:
        self._file, self._clock = file, clock
        self._durable = connection.cursor()
        self._quick = self._durable if not relaxed else None
        self._numbers: dict[str, int] = {}  # threads whose `no` is known
        self.has_unflushed = False

    # ------------------------------------------------------------------------- one append, quickly
    def commit_one(self, append: Append) -> int:
        number = self._numbers.get(append.thread)
        if number is not None and _is_plain(append):
            cursor = self._durable if append.durable else self._quick or self._connect_quick()
            if self._file.patiently(lambda: self._add(cursor, number, append)):
                self.has_unflushed = cursor is not self._durable
                if append.epoch is not None:
                    return append.epoch
        pending: Pending[Work] = Pending(append)
        self.commit([pending])
        return pending.outcome()
