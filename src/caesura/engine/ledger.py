"""One thread's log while it is being run: stage events, commit them, learn what others wrote.

Promises: events are folded as they are staged, in the order in which they are written; a commit
returns when they are on disk (as far as asked); an error of the store is latched, so nothing can
be recorded after it. Only one append of a log is on its way at a time; what is staged meanwhile
shares the next one. Appends that lose against an answer or another commuting event are redone
behind it; against anything else they stop.
Does not promise: what the events mean. Called by `engine.loop`, `engine.scopes` and `engine.calls`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from caesura.core.decide import status_of
from caesura.core.events import (
    COMMUTING,
    Answered,
    Asked,
    Entered,
    Event,
    Expired,
    Started,
    Withdrawn,
)
from caesura.core.history import Fold
from caesura.core.view import ThreadView
from caesura.engine.codec import Codec
from caesura.engine.families import Family
from caesura.engine.leaps import Leap
from caesura.engine.projections import question_row, thread_row
from caesura.errors import LeaseLost, RecordTooLarge, StaleHead, UnknownThread
from caesura.ports import Append, Clock, Lease, QuestionRow, Release, Snapshot, Store, Take

if TYPE_CHECKING:
    import asyncio

    from caesura.core.plan import Plan

SNAPSHOT_FLOOR = 8192  # bytes of deltas below which no snapshot is worth its place
MOST_BEHIND = 2000  # events that may wait for a written-behind append before the run waits

Values = dict[str, Any]


class Ledger:
    """The log of one thread, as one runner sees it. Safe to use from several threads."""

    def __init__(
        self, store: Store | None, codec: Codec, clock: Clock, thread: str, family: Family
    ) -> None:
        self.store, self.codec, self.clock = store, codec, clock
        self.thread, self.family = thread, family
        self.epoch: int | None = None
        self.broken: BaseException | None = None
        self.on_foreign: Callable[[], None] | None = None
        self._lock = threading.Lock()
        self._landed = threading.Condition(self._lock)
        self._waiters: list[asyncio.Future[None]] = []
        self._syncing: asyncio.Future[Any] | None = None
        self._reset()

    def _reset(self) -> None:
        self.head = 0
        self.lease: Lease | None = None
        self.leap: Leap | None = None  # durability='exit': steps that are not yet written
        self.fold = Fold(ThreadView(), self.family.spec)
        self._pending: list[bytes] = []
        self._pending_at = 0
        self._rows: dict[str, QuestionRow] = {}
        self._snapshot: Snapshot | None = None
        self._delta_bytes = 0
        self._state_bytes = 0
        self._in_flight = False
        self._unsynced = False
        self._behind = False  # what is pending goes out by itself when the append on its way lands

    @property
    def view(self) -> ThreadView:
        return self.fold.view

    # -------------------------------------------------------------------------------------- reading
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

    @property
    def exists(self) -> bool:
        return self.head > 0

    def require(self) -> None:
        if not self.exists:
            raise UnknownThread(self.thread)

    # -------------------------------------------------------------------------------------- staging
    def stage(self, *events: Event, prepared: Values | None = None) -> None:
        """Fold events now; write them with the next commit.

        What cannot be written is refused before anything changes. `prepared` are the values that
        the event's writes lead to, where the caller has already worked them out.
        """
        with self._lock:
            self._stage(events, prepared)

    def enter(self, entered: Entered, plan: Plan, started: Started) -> int:
        """Stage that a child graph was entered and started; the number of its run."""
        with self._lock:
            run = started.run = self.view.next_run
            self.family.learn(run, plan)
            self._stage((entered, started), None)
            return run

    def _stage(self, events: Sequence[Event], prepared: Values | None) -> None:
        self.check()
        packed: list[bytes] = []
        if self.store is not None:
            packed = [self._packed(event) for event in events]
            if self.leap is not None and self.leap.takes(events[0]):
                self.leap.fold(self.fold, events[0], prepared)
                return
            self._write_leap()
            if not self._pending:
                self._before_record()
        self.fold.prepared = prepared
        self.fold.apply(self.view.at, events)
        self._pending += packed
        self._delta_bytes += sum(map(len, packed))
        for event in events:
            if type(event) in _ABOUT_QUESTIONS:
                self._note_question(event)

    def _packed(self, event: Event) -> bytes:
        """What cannot be written, or is too large for the store, is refused before it is folded."""
        assert self.store is not None
        body = self.codec.pack(event)
        if len(body) > self.store.max_bytes:
            raise RecordTooLarge(
                f"What thread {self.thread!r} wants to write", size=len(body),
                limit=self.store.max_bytes,
            )
        return body

    def _write_leap(self) -> None:
        """What was held back becomes one entry. Called under the lock."""
        if self.leap is None or not self.leap.held:
            return
        packed = [self.codec.pack(event) for event in self.leap.events(self.view)]
        if not self._pending:
            self.view.at = self._pending_at = max(self.clock.now(), self.view.at)
        self._pending += packed
        self._delta_bytes += sum(map(len, packed))

    def _before_record(self) -> None:
        """A record begins: fix its time, and take a snapshot of what came before if one is due."""
        if self._delta_bytes > max(SNAPSHOT_FLOOR, self._state_bytes) and not self._in_flight:
            body = self.codec.encode_view(self._tracked())
            self._snapshot = Snapshot(self.head, self.view.steps, body)
            self._state_bytes, self._delta_bytes = len(body), 0
        self.view.at = self._pending_at = max(self.clock.now(), self.view.at)

    def _tracked(self) -> ThreadView:
        """The view without the keys that are never written."""
        from msgspec.structs import replace

        view, lighter = self.view, {}
        for run in view.runs.values():
            spec = self.family.spec(view, run)
            if spec is not None and spec.untracked:
                kept = {k: v for k, v in run.values.items() if k not in spec.untracked}
                lighter[run.id] = replace(run, values=kept)
        return replace(view, runs={**view.runs, **lighter}) if lighter else view

    def _note_question(self, event: Any) -> None:
        asked = event.question.id if type(event) is Asked else event.question
        for question in (asked, getattr(event, "replaces", None)):
            if question is not None and self.store is not None:
                row = question_row(self.view, self.thread, question, self.codec.encode_value)
                if row is not None:
                    self._rows[question] = row

    @property
    def is_behind(self) -> bool:
        """Whether something that happened could still be lost with the machine."""
        return bool(
            self._unsynced or self._pending or self._in_flight or (self.leap and self.leap.held)
        )

    def check(self) -> None:
        """Raise the error that ended this ledger, if one did."""
        if self.broken is not None:
            raise self.broken

    # ------------------------------------------------------------------------------------- appending
    def _take_pending(
        self, *, durable: bool, take: Take | None = None, release: bool = False
    ) -> Append | None:
        if self.store is None:
            return None
        self._write_leap()
        if not (self._pending or take or release):
            return None
        row = None
        if take is not None or release:
            row = thread_row(self.view, "running" if take else status_of(self.view))
        body = self.codec.record(self._pending_at, self._pending) if self._pending else b""
        if len(body) > self.store.max_bytes:
            raise RecordTooLarge(
                f"What thread {self.thread!r} wants to write",
                size=len(body),
                limit=self.store.max_bytes,
            )
        append = Append(
            self.thread,
            self.head,
            len(self._pending),
            body,
            epoch=self.epoch,
            lease=take or (Release() if release else None),
            row=row,
            questions=tuple(self._rows.values()),
            snapshot=self._snapshot,
            durable=durable,
        )
        self._pending, self._rows, self._snapshot = [], {}, None
        self._behind = False
        return append

    def begin(self, take: Take, *, durable: bool) -> None:
        """Take the lease with what was staged. Any refusal leaves the ledger to be loaded again."""
        assert self.store is not None
        with self._lock:
            append = self._take_pending(durable=durable, take=take)
        assert append is not None
        self.epoch = self.store.append(append)
        self._landed_well(append)

    def append_beside(self) -> None:
        """Write what was staged without a lease; `StaleHead` when it is to be loaded again."""
        assert self.store is not None
        with self._lock:
            append = self._take_pending(durable=True)
        if append is None:
            return
        if self.lease is None or self.lease.owner is None:
            append = changed(append, row=thread_row(self.view, status_of(self.view)))
        self.store.append(append)
        self._landed_well(append)

    def take_snapshot(self, seq: int, view: ThreadView) -> None:
        """Let the next append bring a snapshot of the thread as of an earlier event."""
        with self._lock:
            self._snapshot = Snapshot(seq, view.steps, self.codec.encode_view(view))

    def commit(self, *, durable: bool = True, release: bool = False) -> None:
        """Write what was staged; return when it is there. For threads that may block."""
        if self.store is None:
            return self.check()
        while True:
            with self._lock:
                while self._in_flight:
                    self._landed.wait()
                self.check()
                append = self._take_pending(durable=durable, release=release)
                if append is None:
                    break
                self._in_flight = True
            try:
                self._append(append)
            except BaseException as error:
                self._landed_badly(error)
                raise
            self._landed_well(append)
            return None
        if durable and self._unsynced:
            self._sync()
        return None

    def _sync(self) -> None:
        """Make what has landed survive the machine."""
        assert self.store is not None
        head = self.head
        self.store.sync()
        with self._lock:
            self._unsynced = self.head != head

    def _append(self, append: Append) -> None:
        """Append, redoing it behind what commutes with it."""
        assert self.store is not None
        while True:
            try:
                self.store.append(append)
                return
            except StaleHead:
                append = self._behind_the_others(append)

    def _behind_the_others(self, append: Append) -> Append:
        """Fold what others wrote meanwhile; the same append, following it."""
        assert self.store is not None
        with self._lock:
            for record in self.store.read(self.thread, self.head):
                if record.seq <= self.head:
                    continue
                at, events = self.codec.decode(record.body)
                if not all(isinstance(e, COMMUTING) for e in events):
                    raise LeaseLost(self.thread, epoch=self.epoch or 0, current=-1)
                staged_at = self.view.at
                self.fold.apply(at, events)
                self.view.at = max(staged_at, self.view.at)
                self.head = record.seq
            row = append.row and thread_row(
                self.view, "running" if isinstance(append.lease, Take) else status_of(self.view)
            )
        if self.on_foreign is not None:
            self.on_foreign()
        return changed(append, after=self.head, row=row, snapshot=None)

    def _landed_well(self, append: Append) -> None:
        with self._lock:
            self.head += append.count
            self._unsynced = not append.durable and (self._unsynced or append.count > 0)
            self._next_may_go()

    def _landed_badly(self, error: BaseException) -> None:
        with self._lock:
            if self.broken is None:
                self.broken = error
            self._next_may_go()

    def _next_may_go(self) -> None:
        """Whoever waits for the append on its way looks again. Called under the lock."""
        self._in_flight = False
        self._landed.notify_all()
        waiters, self._waiters = self._waiters, []
        if self._behind and self.broken is None:
            self._submit(durable=False)
        for future in waiters:
            loop = future.get_loop()
            if not loop.is_closed():
                loop.call_soon_threadsafe(_resolve, future)

    # --------------------------------------------------------------------- through the writer thread
    def commit_behind(self) -> bool:
        """Send what was staged on its way and do not wait. False when too much waits already."""
        if self.store is None:
            return True
        if self.store.instant:
            self.commit(durable=False)
            return True
        with self._lock:
            self.check()
            if self._in_flight and len(self._pending) > MOST_BEHIND:
                return False
            self._behind = True
            self._submit(durable=False)
            return True

    async def commit_on_loop(self, *, durable: bool = True, release: bool = False) -> None:
        """Write what was staged without blocking the event loop."""
        if self.store is None or self.store.instant:
            return self.commit(durable=durable, release=release)
        import asyncio

        loop = asyncio.get_running_loop()
        while True:
            with self._lock:
                self.check()
                if not self._in_flight:
                    if not self._submit(durable=durable, release=release):
                        break
                    wanted = True
                else:
                    wanted = False
                landed: asyncio.Future[None] = loop.create_future()
                self._waiters.append(landed)
            await landed
            if wanted:
                self.check()
                return None
        if durable and self._unsynced:
            await self._sync_on_loop(loop)
        return None

    async def _sync_on_loop(self, loop: asyncio.AbstractEventLoop) -> None:
        """One trip to the disk for all who wait for it at once, who then go on in their order."""
        import asyncio

        from caesura.engine.performer import in_thread

        assert self.store is not None
        while self._unsynced:
            syncing = self._syncing
            if syncing is None or syncing.done() or syncing.get_loop() is not loop:
                syncing = self._syncing = in_thread(self._sync)
            await asyncio.shield(syncing)

    def _submit(self, *, durable: bool, release: bool = False) -> bool:
        """Give the store's writer thread what is pending. Called under the lock."""
        assert self.store is not None
        if self._in_flight:
            return False
        append = self._take_pending(durable=durable, release=release)
        if append is None:
            return False
        self._in_flight = True
        self.store.append_soon(append, append, self)
        return True

    def landed(self, outcomes: Any) -> None:
        """The store's writer thread tells what became of an append (`ports.AppendSink`)."""
        for append, outcome in outcomes:
            if isinstance(outcome, StaleHead):
                from caesura.engine.pool import POOL

                POOL.submit(lambda append=append: self._redo(append))  # type: ignore[misc]
                continue
            if isinstance(outcome, BaseException):
                self._landed_badly(outcome)
            else:
                self._landed_well(append)

    def _redo(self, append: Append) -> None:
        try:
            self._append(self._behind_the_others(append))
        except BaseException as error:
            self._landed_badly(error)
        else:
            self._landed_well(append)


def changed(append: Append, **fields: Any) -> Append:
    """The same append with other fields."""
    return Append(**{name: getattr(append, name) for name in _FIELDS} | fields)


def _resolve(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


_FIELDS = (
    "thread",
    "after",
    "count",
    "body",
    "epoch",
    "lease",
    "row",
    "questions",
    "runs",
    "snapshot",
    "durable",
)
_ABOUT_QUESTIONS: frozenset[type[Event]] = frozenset((Asked, Answered, Withdrawn, Expired))
