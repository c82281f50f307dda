"""A store under which the process dies at a chosen write.

Promises: the first `n` writes go through; at the next one `Crash` is raised, before it is written
or, with `written=True`, when it is written and its caller does not know yet. From then on every
call raises `Crash`, in every thread, as nothing goes on in a dead process; the sinks of
`append_soon` hear of nothing any more. Nothing that went through is lost.
Does not promise: to undo what the system would not have brought to the disk.
Used by tests; opened anew, the same store under it is what a new process would find.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from typing import Any, Self, TypeVar

from caesura.ports import (
    Append,
    AppendSink,
    Loaded,
    QuestionRow,
    QuestionStatus,
    Record,
    RunRow,
    Snapshot,
    Store,
    StoredQuestion,
    StoredThread,
    ThreadRow,
    ThreadStatus,
)

T = TypeVar("T")


class Crash(BaseException):
    """The process died. Not an `Exception`: nothing that a program catches survives its death."""


class CrashAfter:
    """`n` is how many writes go through; without it none fails, and they are only counted.

    A write is an append, at once or soon, that does more than compare the head; deleting and
    pruning a thread; and replacing its rows. One that the store refuses counts too. Renewing a
    lease does not: it happens by the clock, so counting it would move the crash around.
    """

    def __init__(self, store: Store, n: float = math.inf, *, written: bool = False) -> None:
        self.writes = 0
        self.has_crashed = False
        self._store, self._n, self._written = store, n, written
        self._lock = threading.Lock()
        self._telling = _Telling()
        self.clock, self.ids, self.host = store.clock, store.ids, store.host
        self.shared, self.instant = store.shared, store.instant
        self.max_bytes = store.max_bytes

    # ------------------------------------------------------------------------------------ writing
    def append(self, append: Append) -> int:
        if not append.is_a_write:
            return self._look(lambda: self._store.append(append))
        return self._write(lambda: self._store.append(append))

    def append_soon(self, append: Append, tag: Any, sink: AppendSink) -> None:
        soon = _ToldWhileAlive(self, sink)
        if not append.is_a_write or self._goes_through():
            self._look(lambda: self._store.append_soon(append, tag, soon))
            return
        try:
            # What went through may be on its way still: it lands before the death is seen. Where
            # the writer thread itself is the one that dies, nothing of its own is on its way.
            if self._written:
                self._store.append(append)
            elif not self._telling.is_here:
                self._store.sync()
        finally:
            raise self._crash()

    def sync(self) -> None:
        self._look(self._store.sync)

    def renew(self, thread: str, epoch: int, ttl_us: int) -> bool:
        return self._look(lambda: self._store.renew(thread, epoch, ttl_us))

    def delete_thread(self, thread: str) -> bool:
        return self._write(lambda: self._store.delete_thread(thread))

    def prune(self, thread: str, *, upto: int) -> None:
        self._write(lambda: self._store.prune(thread, upto=upto))

    def replace_rows(
        self,
        thread: str,
        *,
        expected_head: int,
        row: ThreadRow,
        questions: Sequence[QuestionRow],
        runs: Sequence[RunRow],
    ) -> None:
        self._write(
            lambda: self._store.replace_rows(
                thread, expected_head=expected_head, row=row, questions=questions, runs=runs
            )
        )

    # ------------------------------------------------------------------------------------ reading
    def load(self, thread: str) -> Loaded | None:
        return self._look(lambda: self._store.load(thread))

    def read(self, thread: str, after: int = 0, upto: int | None = None) -> Sequence[Record]:
        return self._look(lambda: self._store.read(thread, after, upto))

    def snapshot_before(self, thread: str, *, step: int) -> Snapshot | None:
        return self._look(lambda: self._store.snapshot_before(thread, step=step))

    def head(self, thread: str) -> int:
        return self._look(lambda: self._store.head(thread))

    def question(self, question_id: str) -> StoredQuestion | None:
        return self._look(lambda: self._store.question(question_id))

    def questions(
        self,
        *,
        thread: str | None = None,
        status: QuestionStatus | None = None,
        due_before: int | None = None,
        after: tuple[int, str] | None = None,
        limit: int = 100,
    ) -> Sequence[StoredQuestion]:
        return self._look(
            lambda: self._store.questions(
                thread=thread, status=status, due_before=due_before, after=after, limit=limit
            )
        )

    def threads(
        self,
        *,
        status: ThreadStatus | None = None,
        graph: str | None = None,
        after: str | None = None,
        limit: int = 100,
    ) -> Sequence[StoredThread]:
        return self._look(
            lambda: self._store.threads(status=status, graph=graph, after=after, limit=limit)
        )

    def next_due(self) -> int | None:
        return self._look(self._store.next_due)

    def runs(self, thread: str) -> Sequence[RunRow]:
        return self._look(lambda: self._store.runs(thread))

    def close(self) -> None:
        """Of a dead process nobody closes anything: the store under it stays as it is."""
        if not self.has_crashed:
            self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    # ------------------------------------------------------------------------------------- inside
    def _look(self, act: Callable[[], T]) -> T:
        if self.has_crashed:
            raise self._crash()
        return act()

    def _write(self, act: Callable[[], T]) -> T:
        if self._goes_through():
            return act()
        try:
            if self._written:
                act()
            self._store.sync()
        finally:  # also when it was refused: the process dies before it hears of that
            raise self._crash()

    def _goes_through(self) -> bool:
        """Count it; False for the one at which the process dies."""
        with self._lock:
            if self.has_crashed:
                raise self._crash()
            if self.writes >= self._n:
                self.has_crashed = True
                self.writes += self._written
                return False
            self.writes += 1
            return True

    def _crash(self) -> Crash:
        return Crash(f"the process died at write {self._n + 1:.0f}")


class _ToldWhileAlive:
    """A sink of the process: after its death it hears nothing."""

    def __init__(self, process: CrashAfter, sink: AppendSink) -> None:
        self._process, self._sink = process, sink

    def landed(self, outcomes: Sequence[tuple[Any, int | BaseException]]) -> None:
        if not self._process.has_crashed:
            telling = self._process._telling
            telling.is_here = True
            try:
                self._sink.landed(outcomes)
            finally:
                telling.is_here = False


class _Telling(threading.local):
    """Whether this thread is the one that tells sinks."""

    is_here = False
