"""One thread's records, snapshots and columns, as the memory store keeps them.

Promises: what it hands out is a copy; changing it changes nothing here. Does not lock: the store
does. Called by `memory` only.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import NamedTuple

from caesura.ports import (
    Append,
    Lease,
    Loaded,
    QuestionRow,
    QuestionStatus,
    Record,
    RunRow,
    Snapshot,
    ThreadRow,
)
from caesura.stores.admission import decoded_columns, encoded_columns

_SEQ = itemgetter(0)


class KeptQuestion(NamedTuple):
    """A question without its columns, and these encoded."""

    row: QuestionRow
    columns: bytes

    @classmethod
    def of(cls, row: QuestionRow) -> KeptQuestion:
        return cls(row, encoded_columns(row))

    def shown(self) -> QuestionRow:
        row = self.row
        columns = decoded_columns(self.columns)
        return QuestionRow(row.id, row.status, row.asked_at, row.due, row.body, columns)

    def is_wanted(
        self,
        status: QuestionStatus | None,
        due_before: int | None,
        after: tuple[int, str] | None,
    ) -> bool:
        row = self.row
        return (
            (status is None or row.status == status)
            and (due_before is None or (row.due is not None and row.due <= due_before))
            and (after is None or (row.asked_at, row.id) > after)
        )


class MemoryLog:
    """One thread."""

    __slots__ = (
        "lease",
        "pruned_to",
        "questions",
        "records",
        "row",
        "runs",
        "snapshots",
    )

    def __init__(self, row: ThreadRow, epoch: int) -> None:
        self.lease = Lease(None, epoch, 0)
        self.row = row
        self.records: list[tuple[int, bytes]] = []  # (seq of its last event, body), in order
        self.pruned_to = 0  # seq of the last record that was forgotten
        self.snapshots: list[Snapshot] = []  # by seq
        self.questions: dict[str, KeptQuestion] = {}
        self.runs: dict[tuple[int, int], RunRow] = {}

    @property
    def head(self) -> int:
        """Said by the records, so that one step, which nobody can interrupt, moves both."""
        return self.records[-1][0] if self.records else self.pruned_to

    def take(self, append: Append) -> None:
        """Write its record, row and snapshot."""
        if append.row is not None:
            self.row = append.row
        if append.snapshot is not None:
            seq = append.snapshot.seq
            self.snapshots = [kept for kept in self.snapshots if kept.seq != seq]
            self.snapshots.append(append.snapshot)
            self.snapshots.sort(key=_SEQ)
        if append.count:
            self.records.append((append.head, append.body))

    def prune(self, upto: int) -> bool:
        """False, and nothing is forgotten, when no snapshot stands for it."""
        if not any(snapshot.seq >= upto for snapshot in self.snapshots):
            return False
        start = bisect_right(self.records, upto, key=_SEQ)
        if start:
            self.pruned_to = self.records[start - 1][0]
            self.records = self.records[start:]
        self.snapshots = [snapshot for snapshot in self.snapshots if snapshot.seq >= upto]
        return True

    def loaded(self) -> Loaded:
        snapshot = self.snapshots[-1] if self.snapshots else None
        tail = self.between(0 if snapshot is None else snapshot.seq, self.head)
        return Loaded(self.head, self.lease, self.row, snapshot, tail)

    def between(self, after: int, upto: int) -> Sequence[Record]:
        """Whole records that hold events with `after < seq <= upto`."""
        if upto <= after:
            return []
        start = bisect_right(self.records, after, key=_SEQ)
        end = bisect_left(self.records, upto, key=_SEQ)
        # A record begins where the one before it ends; the one that ends at or after `upto` counts
        # when it begins before.
        begins = self.records[end - 1][0] if end else self.pruned_to
        if begins < upto:
            end += 1
        return [Record(seq, body) for seq, body in self.records[start:end]]

    def snapshot_before(self, step: int) -> Snapshot | None:
        return next((kept for kept in reversed(self.snapshots) if kept.step <= step), None)

    def dues(self) -> Iterator[int]:
        """The deadlines of its open questions."""
        for question in self.questions.values():
            if question.row.status == "open" and question.row.due is not None:
                yield question.row.due
