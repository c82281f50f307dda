"""A store whose records, snapshots and questions are encrypted before another store keeps them.

Promises: what the other store sees of states, answers and questions is AES-256-GCM ciphertext; each
is bound to its thread, its kind and its place, so one that was put in another's place is refused.
Old keys go on reading; everything new is written under the current one.
Does not promise: to hide what lists are searched by. Names of threads, graphs and nodes, statuses,
times, ids and columns of questions, and sizes stay in the clear; nor does it notice that the end of
a log, or a whole thread, was taken away. One key is good for some four thousand million writes.
Called by `engine` through `ports.Store`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

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
from caesura.stores.admission import admit
from caesura.stores.encryption import Keyring


class EncryptedStore:
    """`keys` maps names to 32 bytes each, as `os.urandom(32)` makes them.

    To change the key, add one and make it `current`; keep the old one for as long as anything
    written under it is to be read.
    """

    def __init__(self, store: Store, *, keys: Mapping[str, bytes], current: str) -> None:
        self._keyring = Keyring(keys, current)
        self._store = store
        self.clock, self.ids, self.host = store.clock, store.ids, store.host
        self.shared, self.instant = store.shared, store.instant
        self.max_bytes = store.max_bytes - self._keyring.overhead

    # ------------------------------------------------------------------------------------ writing
    def append(self, append: Append) -> int:
        return self._store.append(self._sealed(append))

    def append_soon(self, append: Append, tag: Any, sink: AppendSink) -> None:
        # One that is too large stays so, and the store under this one tells the sink in its turn.
        self._store.append_soon(self._sealed(append, admitted=False), tag, sink)

    def sync(self) -> None:
        self._store.sync()

    def renew(self, thread: str, epoch: int, ttl_us: int) -> bool:
        return self._store.renew(thread, epoch, ttl_us)

    def delete_thread(self, thread: str) -> bool:
        return self._store.delete_thread(thread)

    def prune(self, thread: str, *, upto: int) -> None:
        self._store.prune(thread, upto=upto)

    def replace_rows(
        self,
        thread: str,
        *,
        expected_head: int,
        row: ThreadRow,
        questions: Sequence[QuestionRow],
        runs: Sequence[RunRow],
    ) -> None:
        self._store.replace_rows(
            thread,
            expected_head=expected_head,
            row=row,
            questions=[self._sealed_question(thread, question) for question in questions],
            runs=runs,
        )

    # ------------------------------------------------------------------------------------ reading
    def load(self, thread: str) -> Loaded | None:
        loaded = self._store.load(thread)
        if loaded is None:
            return None
        return Loaded(
            head=loaded.head,
            lease=loaded.lease,
            row=loaded.row,
            snapshot=self._opened_snapshot(thread, loaded.snapshot),
            records=self._opened_records(thread, loaded.records),
        )

    def read(self, thread: str, after: int = 0, upto: int | None = None) -> Sequence[Record]:
        return self._opened_records(thread, self._store.read(thread, after, upto))

    def snapshot_before(self, thread: str, *, step: int) -> Snapshot | None:
        return self._opened_snapshot(thread, self._store.snapshot_before(thread, step=step))

    def head(self, thread: str) -> int:
        return self._store.head(thread)

    def question(self, question_id: str) -> StoredQuestion | None:
        found = self._store.question(question_id)
        return None if found is None else self._opened_question(found)

    def questions(
        self,
        *,
        thread: str | None = None,
        status: QuestionStatus | None = None,
        due_before: int | None = None,
        after: tuple[int, str] | None = None,
        limit: int = 100,
    ) -> Sequence[StoredQuestion]:
        found = self._store.questions(
            thread=thread, status=status, due_before=due_before, after=after, limit=limit
        )
        return [self._opened_question(question) for question in found]

    def threads(
        self,
        *,
        status: ThreadStatus | None = None,
        graph: str | None = None,
        after: str | None = None,
        limit: int = 100,
    ) -> Sequence[StoredThread]:
        return self._store.threads(status=status, graph=graph, after=after, limit=limit)

    def next_due(self) -> int | None:
        return self._store.next_due()

    def runs(self, thread: str) -> Sequence[RunRow]:
        return self._store.runs(thread)

    def close(self) -> None:
        """Closes the store under it too."""
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    # ------------------------------------------------------------------------------------- inside
    def _sealed(self, append: Append, *, admitted: bool = True) -> Append:
        if admitted:
            admit(append, self.max_bytes)  # with the sizes that the caller knows
        thread, snapshot = append.thread, append.snapshot
        if snapshot is not None:
            place = f"{snapshot.seq}.{snapshot.step}"
            body = self._keyring.seal(snapshot.body, "snapshot", thread, place)
            snapshot = Snapshot(snapshot.seq, snapshot.step, body)
        return Append(
            thread=thread,
            after=append.after,
            count=append.count,
            body=append.body
            and self._keyring.seal(append.body, "record", thread, str(append.head)),
            epoch=append.epoch,
            lease=append.lease,
            row=append.row,
            questions=[self._sealed_question(thread, question) for question in append.questions],
            runs=append.runs,
            snapshot=snapshot,
            durable=append.durable,
        )

    def _sealed_question(self, thread: str, row: QuestionRow) -> QuestionRow:
        body = self._keyring.seal(row.body, "question", thread, row.id)
        return QuestionRow(row.id, row.status, row.asked_at, row.due, body, columns=row.columns)

    def _opened_question(self, found: StoredQuestion) -> StoredQuestion:
        row = found.row
        body = self._keyring.open(row.body, "question", found.thread, row.id)
        opened = QuestionRow(row.id, row.status, row.asked_at, row.due, body, columns=row.columns)
        return StoredQuestion(found.thread, opened)

    def _opened_records(self, thread: str, records: Sequence[Record]) -> Sequence[Record]:
        unseal = self._keyring.open
        return [
            Record(seq, unseal(body, "record", thread, str(seq)) if body else body)
            for seq, body in records
        ]

    def _opened_snapshot(self, thread: str, snapshot: Snapshot | None) -> Snapshot | None:
        if snapshot is None:
            return None
        place = f"{snapshot.seq}.{snapshot.step}"
        body = self._keyring.open(snapshot.body, "snapshot", thread, place)
        return Snapshot(snapshot.seq, snapshot.step, body)
