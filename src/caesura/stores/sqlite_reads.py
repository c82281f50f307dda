"""The questions that are asked of a SQLite file.

Promises: each function reads one connection and changes nothing. `load` and `read` look several
times; the caller opens a transaction around them, so that they see one moment.
Called by `sqlite`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

from caesura.ports import (
    Lease,
    Loaded,
    QuestionRow,
    QuestionStatus,
    Record,
    RunRow,
    Snapshot,
    StoredQuestion,
    StoredThread,
    ThreadRow,
    ThreadStatus,
)
from caesura.stores.admission import MOST_EVENTS, decoded_columns

SEQ = MOST_EVENTS  # the part of an id that counts within a thread

_LAST = "select id from events where id between ? and ? order by id desc limit 1"
_LAST_OF_ROW = (
    "(select id from events where id between t.no << 32 and t.no << 32 | 4294967295 "
    "order by id desc limit 1)"
)
_QUESTION = "q.id, q.status, q.asked_at, q.due, q.body, q.columns"


def load(connection: sqlite3.Connection, thread: str) -> Loaded | None:
    found = connection.execute(
        "select no, owner, epoch, until, graph, status, updated_at, due from threads "
        "where thread = ?",
        (thread,),
    ).fetchone()
    if found is None:
        return None
    base, end = found[0] << 32, found[0] << 32 | SEQ
    snapshot = _snapshot(connection, base, end, SEQ)
    after = base if snapshot is None else base + snapshot.seq
    records = connection.execute(
        "select id, body from events where id > ? and id <= ? and body is not null order by id",
        (after, end),
    ).fetchall()
    last = records[-1] if records else connection.execute(_LAST, (base, end)).fetchone()
    return Loaded(
        head=0 if last is None else last[0] & SEQ,
        lease=Lease(*found[1:4]),
        row=ThreadRow(*found[4:]),
        snapshot=snapshot,
        records=[Record(place & SEQ, body) for place, body in records],
    )


def read(
    connection: sqlite3.Connection, thread: str, after: int, upto: int | None
) -> Sequence[Record]:
    number = _number(connection, thread)
    if number is None or (upto is not None and upto <= after):
        return []
    base, end = number << 32, number << 32 | SEQ
    if upto is not None:
        # The record that holds `upto` is the first to end there or later.
        (end,) = connection.execute(
            "select coalesce("
            "(select id from events where id >= ? and id <= ? order by id limit 1), ?)",
            (base + upto, end, end),
        ).fetchone()
    records = connection.execute(
        "select id, body from events where id > ? and id <= ? and body is not null order by id",
        (base + after, end),
    )
    return [Record(place & SEQ, body) for place, body in records]


def snapshot_before(connection: sqlite3.Connection, thread: str, step: int) -> Snapshot | None:
    number = _number(connection, thread)
    if number is None:
        return None
    return _snapshot(connection, number << 32, number << 32 | SEQ, step)


def head(connection: sqlite3.Connection, thread: str) -> int:
    found = connection.execute(
        f"select {_LAST_OF_ROW} from threads t where thread = ?",  # noqa: S608 - our own words
        (thread,),
    ).fetchone()
    return 0 if found is None or found[0] is None else found[0] & SEQ


def question(connection: sqlite3.Connection, question_id: str) -> StoredQuestion | None:
    found = connection.execute(
        f"select t.thread, {_QUESTION} from interrupts q join threads t using (no) "  # noqa: S608
        "where q.id = ?",
        (question_id,),
    ).fetchone()
    return None if found is None else _stored_question(found)


def questions(
    connection: sqlite3.Connection,
    thread: str | None,
    status: QuestionStatus | None,
    due_before: int | None,
    after: tuple[int, str] | None,
    limit: int,
) -> Sequence[StoredQuestion]:
    wanted = {
        "t.thread = ?": (thread,) if thread is not None else (),
        "q.status = ?": (status,) if status is not None else (),
        "q.due <= ?": (due_before,) if due_before is not None else (),
        "(q.asked_at, q.id) > (?, ?)": after or (),
    }
    where, values = _where(wanted)
    found = connection.execute(
        f"select t.thread, {_QUESTION} from interrupts q join threads t using (no) "  # noqa: S608
        f"{where} order by q.asked_at, q.id limit ?",
        (*values, limit),
    )
    return [_stored_question(row) for row in found]


def threads(
    connection: sqlite3.Connection,
    status: ThreadStatus | None,
    graph: str | None,
    after: str | None,
    limit: int,
) -> Sequence[StoredThread]:
    wanted = {
        "t.status = ?": (status,) if status is not None else (),
        "t.graph = ?": (graph,) if graph is not None else (),
        "t.thread > ?": (after,) if after is not None else (),
    }
    where, values = _where(wanted)
    found = connection.execute(
        f"select t.thread, t.graph, t.status, t.updated_at, t.due, {_LAST_OF_ROW} "  # noqa: S608
        f"from threads t {where} order by t.thread limit ?",
        (*values, limit),
    )
    return [StoredThread(row[0], ThreadRow(*row[1:5]), (row[5] or 0) & SEQ) for row in found]


def runs(connection: sqlite3.Connection, thread: str) -> Sequence[RunRow]:
    found = connection.execute(
        "select r.step, r.place, r.node, r.started_at, r.ended_at, r.outcome "
        "from runs r join threads t using (no) where t.thread = ? order by r.step, r.place",
        (thread,),
    )
    return [RunRow(*row) for row in found]


def next_due(connection: sqlite3.Connection) -> int | None:
    found = connection.execute(
        "select due from interrupts where status = 'open' and due is not null order by due limit 1"
    ).fetchone()
    return None if found is None else found[0]


def _number(connection: sqlite3.Connection, thread: str) -> int | None:
    found = connection.execute("select no from threads where thread = ?", (thread,)).fetchone()
    return None if found is None else found[0]


def _snapshot(connection: sqlite3.Connection, base: int, end: int, step: int) -> Snapshot | None:
    found = connection.execute(
        "select id, step, body from snapshots where id between ? and ? and step <= ? "
        "order by id desc limit 1",
        (base, end, step),
    ).fetchone()
    return None if found is None else Snapshot(found[0] & SEQ, found[1], found[2])


def _stored_question(row: Sequence[Any]) -> StoredQuestion:
    thread, id_, status, asked_at, due, body, columns = row
    return StoredQuestion(
        thread, QuestionRow(id_, status, asked_at, due, body, decoded_columns(columns))
    )


def _where(wanted: dict[str, tuple[Any, ...]]) -> tuple[str, list[Any]]:
    """The conditions that have values, and these in order."""
    conditions = [condition for condition, values in wanted.items() if values]
    given = [value for values in wanted.values() for value in values]
    return ("where " + " and ".join(conditions) if conditions else ""), given
