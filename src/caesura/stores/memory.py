"""Logs in memory, for tests, for trying things out and for threads that may end with the process.

Promises: behaves as every other store does: it keeps encoded records, compares heads and epochs,
and hands out copies. `append_soon` completes at once, so its sink is told before it returns.
A child of a fork goes on with a copy of its own, in which nothing runs.
Does not promise: to outlive the process, or to be shared with another one.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import Any, Self

from caesura.errors import StaleHead
from caesura.ports import (
    Append,
    AppendSink,
    Clock,
    Host,
    Ids,
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
from caesura.stores.admission import (
    DEFAULT_MAX_BYTES,
    admit,
    asked_elsewhere,
    is_plain,
    unprunable,
)
from caesura.stores.leases import check_epoch, lease_after
from caesura.stores.lifetime import REST_WITHIN_S, Lifetime
from caesura.stores.memory_log import KeptQuestion, MemoryLog
from caesura.system import SystemClock, SystemHost, SystemIds


class MemoryStore:
    """Threads that live as long as this object."""

    shared = False
    instant = True

    def __init__(
        self,
        *,
        max_bytes: int = DEFAULT_MAX_BYTES,
        clock: Clock | None = None,
        ids: Ids | None = None,
        host: Host | None = None,
    ) -> None:
        self.clock: Clock = clock or SystemClock()
        self.ids: Ids = ids or SystemIds()
        self.host: Host = host or SystemHost()
        self.max_bytes = max_bytes
        self._lifetime = Lifetime("This MemoryStore", self, survives_forks=True)
        self._lock = threading.Lock()
        self._logs: dict[str, MemoryLog] = {}
        self._asked_on: dict[str, str] = {}  # question id -> thread
        self._epochs_of_the_deleted = 0

    # ------------------------------------------------------------------------------------ writing
    def append(self, append: Append) -> int:
        if self._lifetime.refusal is not None:
            raise self._lifetime.refusal()
        if not is_plain(append) or len(append.body) > self.max_bytes:
            return self._append_with_columns(append)
        after, epoch = append.after, append.epoch
        with self._lock:
            log = self._logs.get(append.thread) or self._unborn()
            lease = log.lease
            if epoch != lease.epoch or lease.owner is None:
                check_epoch(append, lease)
            if log.head != after:
                raise StaleHead(append.thread, expected=after, head=log.head)
            log.records.append((after + append.count, append.body))
            return lease.epoch

    def append_soon(self, append: Append, tag: Any, sink: AppendSink) -> None:
        self._check()
        outcome: int | Exception
        try:
            outcome = self.append(append)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is the sink's
            outcome = error
        sink.landed(((tag, outcome),))

    def sync(self) -> None:
        self._check()

    def renew(self, thread: str, epoch: int, ttl_us: int) -> bool:
        self._check()
        with self._lock:
            log = self._logs.get(thread)
            if log is None or log.lease.owner is None or log.lease.epoch != epoch:
                return False
            log.lease = log.lease._replace(until=self.clock.now() + ttl_us)
            return True

    def delete_thread(self, thread: str) -> bool:
        self._check()
        with self._lock:
            log = self._logs.pop(thread, None)
            if log is None:
                return False
            # A thread made anew under this name goes on counting, so that whoever still holds the
            # deleted one is refused.
            self._epochs_of_the_deleted = max(self._epochs_of_the_deleted, log.lease.epoch)
            for question_id in log.questions:
                del self._asked_on[question_id]
            return True

    def prune(self, thread: str, *, upto: int) -> None:
        self._check()
        with self._lock:
            log = self._logs.get(thread)
            if log is not None and not log.prune(upto):
                raise unprunable(thread, upto)

    def replace_rows(
        self,
        thread: str,
        *,
        expected_head: int,
        row: ThreadRow,
        questions: Sequence[QuestionRow],
        runs: Sequence[RunRow],
    ) -> None:
        self._check()
        kept = [KeptQuestion.of(question) for question in questions]
        with self._lock:
            log = self._logs.get(thread) or self._unborn()
            if thread not in self._logs or log.head != expected_head:
                raise StaleHead(thread, expected=expected_head, head=log.head)
            self._refuse_questions_of_others(thread, kept)
            for question_id in log.questions:
                del self._asked_on[question_id]
            log.row, log.questions, log.runs = row, {}, {}
            self._keep(thread, log, kept, runs)

    def close(self) -> None:
        if self._lifetime.end():
            self._logs.clear()
            self._asked_on.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def before_fork(self) -> None:
        """The child's copy is a whole one only when nobody is in the middle of a change."""
        self._is_held = self._lock.acquire(timeout=REST_WITHIN_S)

    def after_fork(self, *, in_child: bool) -> None:
        if in_child:
            for log in self._logs.values():  # who runs these threads runs them in the parent
                log.lease = Lease(None, log.lease.epoch, 0)
            self._lock = threading.Lock()
        elif self._is_held:
            self._lock.release()

    # ------------------------------------------------------------------------------------ reading
    def load(self, thread: str) -> Loaded | None:
        self._check()
        with self._lock:
            log = self._logs.get(thread)
            return None if log is None else log.loaded()

    def read(self, thread: str, after: int = 0, upto: int | None = None) -> Sequence[Record]:
        self._check()
        with self._lock:
            log = self._logs.get(thread)
            return [] if log is None else log.between(after, log.head if upto is None else upto)

    def snapshot_before(self, thread: str, *, step: int) -> Snapshot | None:
        self._check()
        with self._lock:
            log = self._logs.get(thread)
            return None if log is None else log.snapshot_before(step)

    def head(self, thread: str) -> int:
        self._check()
        with self._lock:
            log = self._logs.get(thread)
            return 0 if log is None else log.head

    def question(self, question_id: str) -> StoredQuestion | None:
        self._check()
        with self._lock:
            thread = self._asked_on.get(question_id)
            if thread is None:
                return None
            return StoredQuestion(thread, self._logs[thread].questions[question_id].shown())

    def questions(
        self,
        *,
        thread: str | None = None,
        status: QuestionStatus | None = None,
        due_before: int | None = None,
        after: tuple[int, str] | None = None,
        limit: int = 100,
    ) -> Sequence[StoredQuestion]:
        self._check()
        with self._lock:
            found = [
                (question.row.asked_at, question.row.id, name, question)
                for name in (self._logs if thread is None else self._logs.keys() & {thread})
                for question in self._logs[name].questions.values()
                if question.is_wanted(status, due_before, after)
            ]
        found.sort(key=itemgetter(0, 1))
        return [StoredQuestion(name, question.shown()) for _, _, name, question in found[:limit]]

    def threads(
        self,
        *,
        status: ThreadStatus | None = None,
        graph: str | None = None,
        after: str | None = None,
        limit: int = 100,
    ) -> Sequence[StoredThread]:
        self._check()
        with self._lock:
            found = [
                StoredThread(name, log.row, log.head)
                for name, log in self._logs.items()
                if (status is None or log.row.status == status)
                and (graph is None or log.row.graph == graph)
                and (after is None or name > after)
            ]
        return sorted(found, key=itemgetter(0))[:limit]

    def runs(self, thread: str) -> Sequence[RunRow]:
        self._check()
        with self._lock:
            log = self._logs.get(thread)
            return [] if log is None else [log.runs[place] for place in sorted(log.runs)]

    def next_due(self) -> int | None:
        self._check()
        with self._lock:
            return min((due for log in self._logs.values() for due in log.dues()), default=None)

    # ------------------------------------------------------------------------------------- inside
    def _check(self) -> None:
        if self._lifetime.refusal is not None:
            raise self._lifetime.refusal()

    def _append_with_columns(self, append: Append) -> int:
        """All that can be refused is refused before the first change."""
        admit(append, self.max_bytes)
        kept = [KeptQuestion.of(question) for question in append.questions]
        with self._lock:
            log = self._logs.get(append.thread) or self._unborn()
            check_epoch(append, log.lease)
            lease = lease_after(append.lease, log.lease, self.clock.now())
            if log.head != append.after:
                raise StaleHead(append.thread, expected=append.after, head=log.head)
            self._refuse_questions_of_others(append.thread, kept)
            if append.is_a_write:
                self._logs[append.thread] = log
            log.lease = lease
            log.take(append)
            self._keep(append.thread, log, kept, append.runs)
            return lease.epoch

    def _unborn(self) -> MemoryLog:
        """What a thread is before anything was written on it."""
        return MemoryLog(ThreadRow("", "running", self.clock.now()), self._epochs_of_the_deleted)

    def _refuse_questions_of_others(self, thread: str, questions: Iterable[KeptQuestion]) -> None:
        for question in questions:
            owner = self._asked_on.get(question.row.id, thread)
            if owner != thread:
                raise asked_elsewhere(question.row.id, owner)

    def _keep(
        self, thread: str, log: MemoryLog, asked: Iterable[KeptQuestion], ended: Iterable[RunRow]
    ) -> None:
        for question in asked:
            log.questions[question.row.id] = question
            self._asked_on[question.row.id] = thread
        for run in ended:
            log.runs[run.step, run.index] = run
