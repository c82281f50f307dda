"""The connections that read one SQLite file: as many as there are threads that read at once.

Promises: a reader never waits for a writer, nor a writer for a reader; what is read sees one moment
of the file. Called by `sqlite`.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from typing import TypeVar

from caesura.stores.sqlite_file import SqliteFile

_IDLE_KEPT = 8

T = TypeVar("T")


class SqliteReaders:
    def __init__(self, file: SqliteFile) -> None:
        self._file = file
        self._idle: list[sqlite3.Connection] = []
        self._busy = 0
        self._rests = False
        self._is_closed = False
        self._change = threading.Condition()

    def ask(self, question: Callable[[sqlite3.Connection], T]) -> T:
        connection = self._take()
        try:
            return self._file.patiently(lambda: _at_one_moment(connection, question))
        finally:
            self._give_back(connection)

    def rest(self, within_s: float) -> bool:
        """Close all connections, and open none until `go_on`; False when one stays in use."""
        with self._change:
            self._rests = True
            is_at_rest = self._change.wait_for(lambda: not self._busy, within_s)
            self._close_idle()
            return is_at_rest

    def go_on(self) -> None:
        with self._change:
            self._rests = False
            self._change.notify_all()

    def close(self) -> None:
        with self._change:
            self._is_closed = True
            self._close_idle()

    def _take(self) -> sqlite3.Connection:
        with self._change:
            while self._rests:
                self._change.wait()
            self._busy += 1
            if self._idle:
                return self._idle.pop()
        try:
            return self._file.connect()
        except BaseException:
            self._give_back(None)
            raise

    def _give_back(self, connection: sqlite3.Connection | None) -> None:
        with self._change:
            self._busy -= 1
            if connection is not None:
                if self._is_closed or self._rests or len(self._idle) >= _IDLE_KEPT:
                    connection.close()
                else:
                    self._idle.append(connection)
            if self._rests:
                self._change.notify_all()

    def _close_idle(self) -> None:
        while self._idle:
            self._idle.pop().close()


def _at_one_moment(
    connection: sqlite3.Connection, question: Callable[[sqlite3.Connection], T]
) -> T:
    connection.execute("begin")
    try:
        return question(connection)
    finally:
        connection.rollback()
