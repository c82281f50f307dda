"""What one runner knows of a thread: its log, folded, and what is staged on it.

Promises: events are folded as they are staged, in the order in which they will be written; what
cannot be written is refused before anything changes; a snapshot is taken when the deltas since the
last one weigh as much as the state.
Does not promise: to write anything. That is `engine.ledger`'s part, which this is the base of.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from caesura.core.events import Entered, Event, Recorded, Started
from caesura.core.history import Fold
from caesura.core.journals import find_question
from caesura.core.state import apply_writes, start_values, tracked
from caesura.core.view import ThreadView
from caesura.engine.closings import Closings
from caesura.engine.codec import Codec
from caesura.engine.damage import gap, refuse_damage
from caesura.engine.drafts import OUTLINE, Draft
from caesura.engine.families import Family
from caesura.engine.leaps import Leap
from caesura.engine.projections import ABOUT_QUESTIONS, question_row, questions_in, row_of
from caesura.engine.tallies import Tally
from caesura.errors import RecordTooLarge, UnknownThread, UnserializableValue
from caesura.ports import Clock, Lease, QuestionRow, Record, Snapshot, Store

if TYPE_CHECKING:
    from caesura.core.plan import Plan

SNAPSHOT_FLOOR = 8192  # bytes of deltas below which no snapshot is worth its place

Values = dict[str, Any]


class Folio:
    """A thread's log as it is known here, with what is to come."""

    def __init__(
        self, store: Store | None, codec: Codec, clock: Clock, thread: str, family: Family
    ) -> None:
        self.store, self.codec, self.clock = store, codec, clock
        self.thread, self.family = thread, family
        self._lock = threading.Lock()
        self._is_new = True  # nothing was read or staged yet
        self._reset()

    def _reset(self) -> None:
        self.head = 0
        self.lease: Lease | None = None
        self.leap: Leap | None = None  # durability='exit': steps that are not yet written
        self.follow(Fold(ThreadView(), self.family.spec))
        self._draft = Draft()
        self._closings = Closings()
        self._tally = Tally()
        self._delta_bytes = 0
        self._state_bytes = 0

    def follow(self, fold: Fold) -> None:
        """From here on this is what is known of the thread."""
        self.fold, self.view = fold, fold.view

    @property
    def is_sending(self) -> bool:
        """Whether something that was folded is on its way to the store."""
        return False

    def check(self) -> None:
        """Raise what forbids to stage anything."""

    # --------------------------------------------------------------------------------- reading
    def load(self) -> None:
        """Read the thread as the store has it; forget what was staged and not written."""
        with self._lock:
            if not self._is_new:
                self._reset()
            self._is_new = False
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
                view = self.codec.decode_view(loaded.snapshot.body)
                self.follow(Fold(view, self.family.spec))
            self.head = after
            self._fold_stored([r for r in loaded.records if r.seq > after], loaded.lease)
            self.head = max(self.head, loaded.head)
            for run in self.view.runs.values():
                self.fold.attach(run)  # a snapshot by somebody who did not know its reducers

    def _fold_stored(self, records: Sequence[Record], lease: Lease) -> None:
        has_died = lease.owner is not None
        for record in records:
            at, events = self.codec.decode(record.body)
            if record.seq != self.head + len(events):
                raise gap(self.thread, record.seq)
            try:
                if has_died:
                    self._fold_and_tally(at, events)
                else:
                    self.fold.apply(at, events)
            except LookupError as error:
                refuse_damage(error, self.thread, record.seq)
                raise
            self._delta_bytes += len(record.body)
            self.head = record.seq

    def _fold_and_tally(self, at: int, events: Sequence[Event]) -> None:
        for event in events:
            self._tally.note(self.view, event, at)
            self.fold.apply(at, (event,))
            at = self.view.at

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
        if self.store is None:
            self._fold(events, prepared)
            return
        packed = [self.codec.pack(event) for event in events]
        if self.leap is not None:
            if all(map(self.leap.takes, events)):
                for event in events:
                    self.leap.fold(self.fold, event, prepared)
                return
            self._write_leap()
        size = sum(map(len, packed))
        if size + OUTLINE > self.store.max_bytes:
            raise RecordTooLarge(
                f"What thread {self.thread!r} wants to write", size=size + OUTLINE,
                limit=self.store.max_bytes,
            )  # fmt: skip
        if not self._draft.events:
            self._before_record(events[0])
        at = self.view.at
        for event in events:
            self._tally.note(self.view, event, at)
            at += 1
        self._fold(events, prepared)
        self._draft.add(packed, size)
        self._delta_bytes += size

    def _fold(self, events: Sequence[Event], prepared: Values | None) -> None:
        closing = [e for e in events if type(e) in ABOUT_QUESTIONS]
        for event in closing:
            self._closings.about_to(self.view, event)
        self.fold.prepared = prepared
        self.fold.apply(self.view.at, events)
        if closing and self.store is not None:
            for event in closing:
                for question in questions_in(event):
                    self._note_question(question)

    def _write_leap(self) -> None:
        """What was held back becomes one entry. Called under the lock."""
        if self.leap is None or not self.leap.held:
            return
        begins = not self._draft.events
        events = self.leap.events(self.view, self.clock.now() if begins else None)
        packed = [self.codec.pack(event) for event in events]
        for place, event in enumerate(events):
            self._tally.note(self.view, event, self.view.at - len(events) + place)
        if begins:
            self._draft.at = self.view.at - len(events)
        size = sum(map(len, packed))
        self._draft.add(packed, size)
        self._delta_bytes += size

    def _before_record(self, first: Event) -> None:
        """A record begins: fix its time, and take a snapshot of what came before if one is due."""
        is_due = self._delta_bytes > max(SNAPSHOT_FLOOR, self._state_bytes)
        if is_due and not self.is_sending:
            try:
                body = self.codec.encode_view(self._tracked())
            except (RecordTooLarge, UnserializableValue):
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

    def take_snapshot(self, seq: int, view: ThreadView) -> None:
        """Let the next append bring a snapshot of the thread as of an earlier event."""
        with self._lock:
            self._draft.snapshot = Snapshot(seq, view.steps, self.codec.encode_view(view))

    def _row_now(self, row: QuestionRow) -> QuestionRow:
        asking = find_question(self.view, row.id) or self._closings.find(row.id)
        return row if asking is None else row_of(self.thread, asking, self.codec.encode_value)
