"""One thread's log while it is being run: stage events, commit them, learn what others wrote.

Promises: events are folded as they are staged, in the order in which they are written; a commit
returns when they are on disk (as far as asked); an error of the store is latched, so nothing can
be recorded after it. Appends that lose against an answer or another commuting event are redone
behind it; against anything else they stop.
Does not promise: what the events mean. Called by `engine.loop`, `engine.scopes` and `engine.calls`.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from caesura.core.decide import status_of
from caesura.core.events import Entered, Event, Recorded, Started
from caesura.core.history import Fold, find_question
from caesura.core.state import apply_writes, start_values, tracked
from caesura.core.view import ThreadView
from caesura.engine.closings import Closings, foreign_events
from caesura.engine.codec import Codec
from caesura.engine.couriers import Courier, Wish
from caesura.engine.drafts import OUTLINE, Draft
from caesura.engine.families import Family
from caesura.engine.leaps import Leap
from caesura.engine.projections import (
    ABOUT_QUESTIONS,
    question_row,
    questions_in,
    row_of,
    thread_row,
)
from caesura.errors import LeaseLost, RecordTooLarge, StaleHead, UnknownThread
from caesura.ports import Append, Clock, Lease, QuestionRow, Release, Snapshot, Store, Take

if TYPE_CHECKING:
    from caesura.core.plan import Plan

SNAPSHOT_FLOOR = 8192  # bytes of deltas below which no snapshot is worth its place

Values = dict[str, Any]


class Ledger:
    """The log of one thread, as one runner sees it. Safe to use from several threads."""

    def __init__(
        self, store: Store | None, codec: Codec, clock: Clock, thread: str, family: Family
    ) -> None:
        self.store, self.codec, self.clock = store, codec, clock
        self.thread, self.family = thread, family
        self.epoch: int | None = None  # None: whoever ran here does so no longer
        self._held: int | None = None  # the lease under which appends are written
        self._was_held = False
        self._held_until = self._ttl_us = 0
        self._lock = threading.Lock()
        self._reset()

    def _reset(self) -> None:
        self.head = 0
        self.lease: Lease | None = None
        self.leap: Leap | None = None  # durability='exit': steps that are not yet written
        self.fold = Fold(ThreadView(), self.family.spec)
        self._courier = Courier(self.store, self, self._lock) if self.store is not None else None
        self._draft = Draft()
        self._closings = Closings()
        self._delta_bytes = 0
        self._state_bytes = 0

    @property
    def view(self) -> ThreadView:
        return self.fold.view

    # --------------------------------------------------------------------------------- reading
    def load(self) -> None:
        """Read the thread as the store has it; forget what was staged and not written."""
        with self._lock:
            self._reset()
            if self.store is None:
                return
            loaded = self.store.load(self.thread)
            if loaded is None:
                return
            self.lease = loaded.lease
            after = 0
            if loaded.snapshot is not None:
                after = loaded.snapshot.seq
                self._state_bytes = len(loaded.snapshot.body)
                self.fold = Fold(self.codec.decode_view(loaded.snapshot.body), self.family.spec)
            self.head = after
            for record in loaded.records:
                if record.seq > after:
                    self.fold.apply(*self.codec.decode(record.body))
                    self._delta_bytes += len(record.body)
                    self.head = record.seq
            self.head = max(self.head, loaded.head)
            for run in self.view.runs.values():
                self.fold.attach(run)  # a snapshot by somebody who did not know its reducers

    @property
    def exists(self) -> bool:
        return self.head > 0

    def require(self) -> None:
        if not self.exists:
            raise UnknownThread(self.thread)

    # --------------------------------------------------------------------------------- staging
    def stage(self, *events: Event, prepared: Values | None = None) -> None:
        """Fold events now; write them with the next commit.

        What cannot be written is refused before anything changes. `prepared` are the values that
        the event's writes lead to, where the caller has already worked them out.
        """
        if events:
            with self._lock:
                self._stage(events, prepared)

    def enter(self, entered: Entered, plan: Plan, started: Started) -> int:
        """Stage that a child graph was entered and started; the number of its run."""
        with self._lock:
            run = started.run = self.view.next_run
            prepared: Values | None = None
            if started.next is not None:  # its input may not fit, and then nothing has happened
                kept = self.view.kept.get(entered.space, {}) if entered.keeps else {}
                prepared = {**start_values(plan.state), **kept}
                apply_writes(plan.state, prepared, started.writes)
            started.writes = tracked(plan.state, started.writes)
            self.family.learn(run, plan)
            self._stage((entered, started), prepared)
            return run

    def _stage(self, events: Sequence[Event], prepared: Values | None) -> None:
        self.check()
        packed: list[bytes] = []
        if self.store is not None:
            packed = [self.codec.pack(event) for event in events]
            if self.leap is not None and self.leap.takes(events[0]):
                self.leap.fold(self.fold, events[0], prepared)
                return
            self._refuse_too_large(packed)
            self._write_leap()
            if not self._draft.events:
                self._before_record(events[0])
        closing = [e for e in events if type(e) in ABOUT_QUESTIONS]
        for event in closing:
            self._closings.about_to(self.view, event)
        self.fold.prepared = prepared
        self.fold.apply(self.view.at, events)
        if packed:
            self._delta_bytes += self._draft.add(packed)
            for event in closing:
                for question in questions_in(event):
                    self._note_question(question)

    def _refuse_too_large(self, packed: Sequence[bytes]) -> None:
        assert self.store is not None
        size, limit = sum(map(len, packed)) + OUTLINE, self.store.max_bytes
        if size > limit:
            raise RecordTooLarge(
                f"What thread {self.thread!r} wants to write", size=size, limit=limit
            )

    def _write_leap(self) -> None:
        """What was held back becomes one entry. Called under the lock."""
        if self.leap is None or not self.leap.held:
            return
        begins = not self._draft.events
        events = self.leap.events(self.view, self.clock.now() if begins else None)
        packed = [self.codec.pack(event) for event in events]
        if begins:
            self._draft.at = self.view.at - len(events)
        self._delta_bytes += self._draft.add(packed)

    def _before_record(self, first: Event) -> None:
        """A record begins: fix its time, and take a snapshot of what came before if one is due."""
        is_due = self._delta_bytes > max(SNAPSHOT_FLOOR, self._state_bytes)
        if is_due and self._courier is not None and not self._courier.is_under_way:
            try:
                body = self.codec.encode_view(self._tracked())
            except RecordTooLarge:
                # What was done outside is written down, whatever becomes of the state.
                if type(first) is not Recorded:
                    raise
            else:
                self._draft.snapshot = Snapshot(self.head, self.view.steps, body)
                self._state_bytes, self._delta_bytes = len(body), 0
        self.view.at = self._draft.at = max(self.clock.now(), self.view.at)

    def _tracked(self) -> ThreadView:
        """The view without the keys that are never written."""
        view, lighter = self.view, {}
        for run in view.runs.values():
            spec = self.family.spec(view, run)
            if spec is not None and spec.untracked:
                kept = {k: v for k, v in run.values.items() if k not in spec.untracked}
                lighter[run.id] = replace(run, values=kept)
        return replace(view, runs={**view.runs, **lighter}) if lighter else view

    def _note_question(self, question: str) -> None:
        row = question_row(self.view, self.thread, question, self.codec.encode_value)
        if row is not None:
            self._draft.rows[question] = row

    @property
    def is_behind(self) -> bool:
        """Whether something that happened could still be lost with the machine."""
        return bool(self.waiting or (self._courier is not None and self._courier.is_behind))

    # -------------------------------------------------------------------- the end of all writing
    @property
    def broken(self) -> BaseException | None:
        """The error that ended this ledger, if one did."""
        return self._courier.broken if self._courier is not None else None

    def check(self) -> None:
        """Raise the error that ended this ledger, if one did."""
        if self._courier is not None:
            self._courier.check()
            if self.epoch is None and self._was_held:
                raise LeaseLost(self.thread, epoch=0, current=-1)

    def begins(self, what: str, name: str, shown: str = "") -> None:
        """Something begins that is not in the log; refused once nothing can be written."""
        self.check()
        if self._held is not None and self.clock.now() >= self._held_until:
            self.keep_lease(self._held)
            self.check()

    def keep_lease(self, epoch: int) -> None:
        """Lengthen the lease; once somebody else has it, all that begins is refused."""
        assert self.store is not None
        now = self.clock.now()
        if self.store.renew(self.thread, epoch, self._ttl_us):
            self._held_until = now + self._ttl_us
        elif self._courier is not None and self._held == epoch:
            self._courier.break_off(LeaseLost(self.thread, epoch=epoch, current=-1))

    # ------------------------------------------------------------------------------- committing
    def commit(self, *, durable: bool = True, release: bool = False) -> None:
        """Write what was staged; return when it is there. For threads that may block."""
        if self._courier is not None:
            self._courier.carry(Wish(durable, release))

    async def commit_on_loop(self, *, durable: bool = True, release: bool = False) -> None:
        """Write what was staged without blocking the event loop."""
        if self._courier is None or self.store is None or self.store.instant:
            return self.commit(durable=durable, release=release)
        return await self._courier.carry_on_loop(Wish(durable, release))

    def commit_behind(self) -> bool:
        """Send what was staged on its way and do not wait. False when too much waits already."""
        if self._courier is None or self.store is None:
            return True
        if self.store.instant:
            self.commit(durable=False)
            return True
        return self._courier.send()

    def begin(self, take: Take, *, durable: bool) -> None:
        """Take the lease with what was staged. Any refusal leaves the ledger to be loaded again."""
        assert self.store is not None
        with self._lock:
            append = self._append(durable=durable, take=take)
        self._ttl_us = take.ttl_us
        self._held_until = self.clock.now() + take.ttl_us
        self.epoch = self._held = self.store.append(append)
        self._was_held = True
        self._landed_alone(append)

    def append_beside(self) -> None:
        """Write what was staged without a lease; `StaleHead` when it is to be loaded again."""
        assert self.store is not None
        with self._lock:
            if not self._draft.events:
                return
            append = self._append(durable=True)
        is_run = self.lease is not None and self.lease.owner is not None
        if not is_run:
            append = replace(append, row=thread_row(self.view, status_of(self.view)))
        self.store.append(append)
        self._landed_alone(append)
        if is_run:
            self._mend_row()

    def _mend_row(self) -> None:
        """A runner shows what its thread has come to, unless it had ended before this landed."""
        assert self.store is not None
        fresh = Ledger(self.store, self.codec, self.clock, self.thread, self.family)
        fresh.load()
        if fresh.lease is not None and fresh.lease.owner is None:
            row = thread_row(fresh.view, status_of(fresh.view))
            try:
                self.store.append(Append(self.thread, fresh.head, 0, b"", row=row))
            except StaleHead:
                return  # whoever wrote since has shown it

    def take_snapshot(self, seq: int, view: ThreadView) -> None:
        """Let the next append bring a snapshot of the thread as of an earlier event."""
        with self._lock:
            self._draft.snapshot = Snapshot(seq, view.steps, self.codec.encode_view(view))

    # ---------------------------------------------------------- what the courier asks of its desk
    @property
    def waiting(self) -> int:
        return len(self._draft.events) + bool(self.leap is not None and self.leap.held)

    def draw_up(self, wish: Wish) -> Append | None:
        self._write_leap()
        release = wish.release and self._held is not None
        if not (self._draft.events or release):
            return None
        if self._held is None:
            raise LeaseLost(self.thread, epoch=0, current=-1)
        return self._append(durable=wish.durable, release=release)

    def _append(self, *, durable: bool, take: Take | None = None, release: bool = False) -> Append:
        assert self.store is not None
        portion = self._draft.take(self.store.max_bytes)
        if not self._draft.events:
            self._closings.send()
        release = release and not self._draft.events
        row = None
        if take is not None or release:
            row = thread_row(self.view, "running" if take else status_of(self.view))
        epoch = self._held
        if release:
            self._held = None
        return Append(
            self.thread,
            self.head,
            len(portion.events),
            self.codec.record(portion.at, portion.events) if portion.events else b"",
            epoch=epoch,
            lease=take or (Release() if release else None),
            row=row,
            questions=portion.questions,
            snapshot=portion.snapshot,
            durable=durable,
        )

    def put_behind(self, append: Append) -> Append:
        assert self.store is not None
        records = self.store.read(self.thread, self.head)
        with self._lock:
            for record in records:
                if record.seq <= self.head:
                    continue
                at, events = foreign_events(self.codec, record, self.thread, append.epoch)
                staged_at = self.view.at
                with self._closings.undone():
                    self.fold.apply(at, events)
                    self._closings.hear(self.view, at, events)
                self.view.at = max(staged_at, self.view.at)
                self.head = record.seq
            row = append.row and thread_row(self.view, status_of(self.view))
            questions = [self._row_now(question) for question in append.questions]
            rows = self._draft.rows
            rows.update({name: self._row_now(question) for name, question in rows.items()})
        return replace(append, after=self.head, row=row, questions=questions, snapshot=None)

    def _row_now(self, row: QuestionRow) -> QuestionRow:
        asking = find_question(self.view, row.id) or self._closings.find(row.id)
        return row if asking is None else row_of(self.thread, asking, self.codec.encode_value)

    def has_landed(self, append: Append) -> None:
        self.head += append.count
        self._closings.land()

    def _landed_alone(self, append: Append) -> None:
        assert self._courier is not None
        with self._lock:
            self.has_landed(append)
            self._courier.note(append)
