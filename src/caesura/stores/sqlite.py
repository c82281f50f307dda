"""Logs in one SQLite file, for one machine: several threads and processes may use it at once.

Promises: what `append` returned from is on the disk (`synchronous="full"`), also when the power
goes; threads that append at once share one transaction. Closed, everything is in the one file.
Does not promise: to work over a network file system. With `synchronous="normal"` the last moments
before a power cut may be lost; a killed process loses nothing either way. `":memory:"` is a SQLite
database that no other process sees and that ends with the store.
Called by `engine` through `ports.Store`.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Sequence
from typing import Any, Self, TypeVar

from caesura.errors import StoreMisconfigured
from caesura.ports import (
    Append,
    AppendSink,
    Clock,
    Host,
    Ids,
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
from caesura.stores import sqlite_reads as reads, sqlite_writes as writes
from caesura.stores.admission import DEFAULT_MAX_BYTES, admit
from caesura.stores.lifetime import REST_WITHIN_S, Lifetime
from caesura.stores.pending import Pending
from caesura.stores.sqlite_file import SqliteFile
from caesura.stores.sqlite_readers import SqliteReaders
from caesura.stores.sqlite_writer import Job, SqliteWriter, Synchronous, Work
from caesura.stores.turns import Turns
from caesura.system import SystemClock, SystemHost, SystemIds

T = TypeVar("T")


class SqliteStore:
    """Threads in the file at `path`, which is made when it is missing."""

    instant = False

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        max_bytes: int = DEFAULT_MAX_BYTES,
        clock: Clock | None = None,
        ids: Ids | None = None,
        host: Host | None = None,
        synchronous: Synchronous = "full",
    ) -> None:
        if synchronous not in ("full", "normal"):
            raise StoreMisconfigured(
                f"SqliteStore(synchronous={synchronous!r}): it is 'full' (wait for the disk at "
                f"each commit) or 'normal' (a power cut may take the last moments)."
            )
        self.clock: Clock = clock or SystemClock()
        self.ids: Ids = ids or SystemIds()
        self.host: Host = host or SystemHost()
        self.max_bytes = max_bytes
        self._file = SqliteFile(path)
        self.shared = not self._file.is_memory
        self._writer = SqliteWriter(self._file, self.clock, synchronous)
        self._turns: Turns[Work] = Turns(self._writer.commit)
        self._readers = SqliteReaders(self._file)
        self._paused: object | None = None
        self._lifetime = Lifetime(f"SqliteStore({self._file.path!r})", self)

    # ------------------------------------------------------------------------------------ writing
    def append(self, append: Append) -> int:
        self._check()
        admit(append, self.max_bytes)
        turns, token = self._turns, object()
        try:
            if turns.start(token):
                return self._writer.commit_one(append)
        finally:
            try:
                turns.done(token)
            except BaseException:  # stopped (Ctrl-C) while handing the turn on
                turns.done(token, again=True)
                raise
        epoch: int = turns.wait(append)
        return epoch

    def append_soon(self, append: Append, tag: Any, sink: AppendSink) -> None:
        self._check()
        pending: Pending[Work] = Pending(append, tag=tag, sink=sink)
        try:
            admit(append, self.max_bytes)
        except ValueError as error:
            # It is the sink's, in its turn: the writer meets it instead of the append.
            pending.work = Job(_raiser(error), durable=False)
        self._turns.soon(pending)

    def sync(self) -> None:
        self._do(self._writer.sync_job())

    def renew(self, thread: str, epoch: int, ttl_us: int) -> bool:
        until = self.clock.now() + ttl_us
        job = Job(lambda cursor: writes.renew(cursor, thread, epoch, until), durable=False)
        return bool(self._do(job))

    def delete_thread(self, thread: str) -> bool:
        return bool(self._do(Job(lambda cursor: writes.delete_thread(cursor, thread))))

    def prune(self, thread: str, *, upto: int) -> None:
        self._do(Job(lambda cursor: writes.prune(cursor, thread, upto)))

    def replace_rows(
        self,
        thread: str,
        *,
        expected_head: int,
        row: ThreadRow,
        questions: Sequence[QuestionRow],
        runs: Sequence[RunRow],
    ) -> None:
        def act(cursor: sqlite3.Cursor) -> None:
            writes.replace_rows(
                cursor,
                thread,
                expected_head=expected_head,
                row=row,
                questions=questions,
                runs=runs,
                clock=self.clock,
            )

        self._do(Job(act))

    # ------------------------------------------------------------------------------------ reading
    def load(self, thread: str) -> Loaded | None:
        return self._ask(lambda connection: reads.load(connection, thread))

    def read(self, thread: str, after: int = 0, upto: int | None = None) -> Sequence[Record]:
        return self._ask(lambda connection: reads.read(connection, thread, max(after, 0), upto))

    def snapshot_before(self, thread: str, *, step: int) -> Snapshot | None:
        return self._ask(lambda connection: reads.snapshot_before(connection, thread, step))

    def head(self, thread: str) -> int:
        return self._ask(lambda connection: reads.head(connection, thread))

    def question(self, question_id: str) -> StoredQuestion | None:
        return self._ask(lambda connection: reads.question(connection, question_id))

    def questions(
        self,
        *,
        thread: str | None = None,
        status: QuestionStatus | None = None,
        due_before: int | None = None,
        after: tuple[int, str] | None = None,
        limit: int = 100,
    ) -> Sequence[StoredQuestion]:
        return self._ask(
            lambda connection: reads.questions(connection, thread, status, due_before, after, limit)
        )

    def threads(
        self,
        *,
        status: ThreadStatus | None = None,
        graph: str | None = None,
        after: str | None = None,
        limit: int = 100,
    ) -> Sequence[StoredThread]:
        return self._ask(lambda connection: reads.threads(connection, status, graph, after, limit))

    def next_due(self) -> int | None:
        return self._ask(reads.next_due)

    def runs(self, thread: str) -> Sequence[RunRow]:
        return self._ask(lambda connection: reads.runs(connection, thread))

    # ------------------------------------------------------------------------------------ its life
    def close(self) -> None:
        """Write what is queued, then fold SQLite's own log into the file."""
        if not self._lifetime.end():
            return
        assert self._lifetime.refusal is not None
        self._turns.close(self._lifetime.refusal)
        self._readers.close()
        self._writer.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def before_fork(self) -> None:
        """SQLite must not be carried over a fork: its locks belong to the process that took them.

        So its connections are closed, and opened again when the next one is needed.
        """
        self._paused = self._turns.pause(REST_WITHIN_S)
        if self._paused is not None and self._readers.rest(REST_WITHIN_S):
            self._writer.rest()

    def after_fork(self, *, in_child: bool) -> None:
        if in_child:
            # What could not be closed in time is never closed here: that would drop the locks.
            _left_alone.append((self._writer, self._readers))
            return
        self._readers.go_on()
        if self._paused is not None:
            self._turns.done(self._paused)

    # ------------------------------------------------------------------------------------- inside
    def _check(self) -> None:
        if self._lifetime.refusal is not None:
            raise self._lifetime.refusal()

    def _do(self, job: Job) -> Any:
        self._check()
        return self._turns.wait(job)

    def _ask(self, question: Callable[[sqlite3.Connection], T]) -> T:
        self._check()
        if self._file.is_memory:  # another connection would see another memory
            return self._do(Job(lambda cursor: question(cursor.connection)))  # type: ignore[no-any-return]
        return self._readers.ask(question)


def _raiser(error: Exception) -> Callable[[sqlite3.Cursor], Any]:
    def act(cursor: sqlite3.Cursor) -> Any:
        raise error

    return act


_left_alone: list[Any] = []
