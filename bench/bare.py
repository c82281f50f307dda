"""What the machine allows: the transactions that nobody can save, with nothing around them.

Promises: SQLite's own cost for one small row per transaction, WAL, synchronous=FULL, on the same
file system as the sides that it stands beside.
Called by the measurements on SQLite as their `bare` side.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

from bench.measure import Figures, stopwatch

ROW_BYTES = 200


@contextmanager
def open_table(directory: Path) -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(directory / "bare.db", isolation_level=None)
    connection.execute("pragma journal_mode = wal")
    connection.execute("pragma synchronous = full")
    connection.execute("create table events (id integer primary key, body blob not null)")
    try:
        yield connection
    finally:
        connection.close()


def transactions(directory: Path, units: int, *, each: int = 1) -> Figures:
    """Per unit of work: `each` transactions of one row of about 200 bytes."""
    body = Random(7).randbytes(ROW_BYTES)
    with open_table(directory) as table, stopwatch() as watch:
        for _ in range(units * each):
            table.execute("begin immediate")
            table.execute("insert into events (body) values (?)", (body,))
            table.execute("commit")
    return watch.per(units)


def grouped_rows(directory: Path, threads: int, *, steps: int) -> Figures:
    """Per row: one transaction for the rows of all threads, once for each step."""
    body = Random(7).randbytes(ROW_BYTES)
    with open_table(directory) as table, stopwatch() as watch:
        for _ in range(steps):
            table.execute("begin immediate")
            for _ in range(threads):
                table.execute("insert into events (body) values (?)", (body,))
            table.execute("commit")
    return watch.per(threads * steps)
