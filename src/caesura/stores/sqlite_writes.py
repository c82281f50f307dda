"""What is written to a SQLite file, statement by statement.

Promises: an append that only adds a record is one statement; everything else is checked before its
first write. Each function works within the transaction of its caller.
Called by `sqlite_writer`, and by `sqlite` through it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence

from caesura.errors import StaleHead
from caesura.ports import Append, Clock, Lease, QuestionRow, RunRow, ThreadRow
from caesura.stores.admission import asked_elsewhere, encoded_columns, unprunable
from caesura.stores.leases import check_epoch, lease_after
from caesura.stores.sqlite_reads import SEQ

# The head is compared with the last record's id, not with its predecessor's being there: an append
# of several events leaves a gap in the ids, into which a stale one would fit.
_ADD_UNDER_LEASE = (
    "insert into events (id, body) select ?, ? where "
    "(select epoch from threads where no = ? and owner is not null) = ? and "
    "(select id from events where id <= ? order by id desc limit 1) = ?"
)
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
    "body = excluded.body"
)
_KEEP_RUN = (
    "insert or replace into runs (no, step, place, node, started_at, ended_at, outcome) "
    "values (?, ?, ?, ?, ?, ?, ?)"
)
_OF_THREAD = ("interrupts where no = ?", "runs where no = ?")


# ---------------------------------------------------------------------------------------- appends
def add_under_lease(cursor: sqlite3.Cursor, number: int, append: Append) -> bool:
    """Compare and add in one statement; False when it may not be, for whatever reason."""
    base = number << 32
    after = base + append.after
    cursor.execute(
        _ADD_UNDER_LEASE,
        (after + append.count, append.body, number, append.epoch, base | SEQ, after),
    )
    return cursor.rowcount == 1


def write(cursor: sqlite3.Cursor, append: Append, clock: Clock) -> tuple[int, int | None]:
    """The epoch now in force and the thread's number, if it has one."""
    thread = append.thread
    number, held, row, head = _find(cursor, thread, clock)
    check_epoch(append, held)
    lease = lease_after(append.lease, held, clock.now())
    if head != append.after:
        raise StaleHead(thread, expected=append.after, head=head)
    _refuse_questions_of_others(cursor, number, append.questions)
    if not append.is_a_write:
        return lease.epoch, number
    row = append.row or row
    columns = (*lease, row.graph, row.status, row.updated_at, row.due)
    if number is None:
        cursor.execute(_BEGIN_THREAD, (*columns, thread))
        number = cursor.lastrowid
        assert number is not None
    elif append.row is not None or append.lease is not None:
        cursor.execute(_CHANGE_THREAD, (*columns, number))
    base = number << 32
    if append.count:
        cursor.execute(
            "insert into events (id, body) values (?, ?)", (base + append.head, append.body)
        )
    if (snapshot := append.snapshot) is not None:
        cursor.execute(
            "insert or replace into snapshots (id, step, body) values (?, ?, ?)",
            (base + snapshot.seq, snapshot.step, snapshot.body),
        )
    _keep_rows(cursor, number, append.questions, append.runs)
    return lease.epoch, number


# ---------------------------------------------------------------------------------- all the rest
def renew(cursor: sqlite3.Cursor, thread: str, epoch: int, until: int) -> bool:
    cursor.execute(
        "update threads set until = ? where thread = ? and epoch = ? and owner is not null",
        (until, thread, epoch),
    )
    return cursor.rowcount == 1


def delete_thread(cursor: sqlite3.Cursor, thread: str) -> bool:
    found = cursor.execute("select no, epoch from threads where thread = ?", (thread,)).fetchone()
    if found is None:
        return False
    number, epoch = found
    # A thread made anew under this name goes on counting, so that whoever still holds the deleted
    # one is refused.
    cursor.execute(
        "update counters set value = max(value, ?) where name = 'epochs of the deleted'", (epoch,)
    )
    _forget(cursor, number, *_OF_THREAD)
    for table in ("events", "snapshots"):
        _forget_between(cursor, table, number << 32, number << 32 | SEQ)
    _forget(cursor, number, "threads where no = ?")
    return True


def prune(cursor: sqlite3.Cursor, thread: str, upto: int) -> None:
    found = cursor.execute("select no from threads where thread = ?", (thread,)).fetchone()
    if found is None:
        return
    base, upto = found[0] << 32, max(upto, 0)
    stands_for_them = cursor.execute(
        "select 1 from snapshots where id between ? and ? limit 1", (base + upto, base | SEQ)
    ).fetchone()
    if stands_for_them is None:
        raise unprunable(thread, upto)
    last = cursor.execute(
        "select id from events where id between ? and ? order by id desc limit 1",
        (base, base + upto),
    ).fetchone()
    if last is not None:
        _forget_between(cursor, "events", base, last[0] - 1)
        # What is left of it says where the log begins, and where it ends if nothing follows.
        cursor.execute("update events set body = null where id = ?", last)
    _forget_between(cursor, "snapshots", base, base + upto - 1)


def replace_rows(
    cursor: sqlite3.Cursor,
    thread: str,
    *,
    expected_head: int,
    row: ThreadRow,
    questions: Sequence[QuestionRow],
    runs: Sequence[RunRow],
    clock: Clock,
) -> None:
    number, _, _, head = _find(cursor, thread, clock)
    if number is None or head != expected_head:
        raise StaleHead(thread, expected=expected_head, head=head)
    _refuse_questions_of_others(cursor, number, questions)
    cursor.execute(
        "update threads set graph = ?, status = ?, updated_at = ?, due = ? where no = ?",
        (row.graph, row.status, row.updated_at, row.due, number),
    )
    _forget(cursor, number, *_OF_THREAD)
    _keep_rows(cursor, number, questions, runs)


def touch(cursor: sqlite3.Cursor) -> None:
    """Change something that nobody reads, so that committing has something to flush."""
    cursor.execute("update counters set value = value + 1 where name = 'syncs'")


# ------------------------------------------------------------------------------------------ inside
def _find(
    cursor: sqlite3.Cursor, thread: str, clock: Clock
) -> tuple[int | None, Lease, ThreadRow, int]:
    """Its number, lease, row and head; of a thread that is not there: what it would begin with."""
    found = cursor.execute(_FIND, (thread,)).fetchone()
    if found is None:
        (epoch,) = cursor.execute(
            "select value from counters where name = 'epochs of the deleted'"
        ).fetchone()
        return None, Lease(None, epoch, 0), ThreadRow("", "running", clock.now()), 0
    head = 0 if found[8] is None else found[8] & SEQ
    return found[0], Lease(*found[1:4]), ThreadRow(*found[4:8]), head


def _refuse_questions_of_others(
    cursor: sqlite3.Cursor, number: int | None, questions: Iterable[QuestionRow]
) -> None:
    for question in questions:
        other = cursor.execute(
            "select thread from interrupts join threads using (no) where id = ? and no is not ?",
            (question.id, number),
        ).fetchone()
        if other is not None:
            raise asked_elsewhere(question.id, other[0])


def _keep_rows(
    cursor: sqlite3.Cursor, number: int, questions: Iterable[QuestionRow], runs: Iterable[RunRow]
) -> None:
    for row in questions:
        columns = encoded_columns(row).decode()
        values = (row.id, number, row.status, row.asked_at, row.due, columns, row.body)
        cursor.execute(_KEEP_QUESTION, values)
    for run in runs:
        places = (number, run.step, run.index)
        cursor.execute(_KEEP_RUN, (*places, run.node, run.started_at, run.ended_at, run.outcome))


def _forget(cursor: sqlite3.Cursor, number: int, *what: str) -> None:
    for rows in what:
        cursor.execute(f"delete from {rows}", (number,))  # noqa: S608 - our own words


def _forget_between(cursor: sqlite3.Cursor, table: str, first: int, last: int) -> None:
    cursor.execute(f"delete from {table} where id between ? and ?", (first, last))  # noqa: S608
