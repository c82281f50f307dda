"""One thread's log while it is being run: stage events, commit them, learn what others wrote.

Promises: events are folded as they are staged, in the order in which they are written; a commit
returns when they are on disk (as far as asked); an error of the store is latched, so nothing can
be recorded after it. Appends that lose against an answer or another commuting event are redone
behind it; against anything else they stop.
Does not promise: what the events mean. Called by `engine.loop`, `engine.scopes` and `engine.calls`.
"""

from __future__ import annotations

from msgspec.structs import replace

from caesura.core.decide import status_of
from caesura.engine.closings import foreign_events
from caesura.engine.codec import Codec
from caesura.engine.couriers import Courier, Wish
from caesura.engine.families import Family
from caesura.engine.folios import Folio
from caesura.engine.projections import thread_row
from caesura.errors import LeaseLost, StaleHead
from caesura.ports import Append, Clock, Release, Store, Take

_DURABLE = Wish(durable=True)


class Ledger(Folio):
    """The log of one thread, as one runner writes it. Safe to use from several threads."""

    def __init__(
        self, store: Store | None, codec: Codec, clock: Clock, thread: str, family: Family
    ) -> None:
        self.epoch: int | None = None  # None: whoever ran here does so no longer
        self._held: int | None = None  # the lease under which appends are written
        self._was_held = False
        self._held_until = self._ttl_us = 0
        super().__init__(store, codec, clock, thread, family)

    def _reset(self) -> None:
        super()._reset()
        self._courier = Courier(self.store, self, self._lock) if self.store is not None else None

    @property
    def is_sending(self) -> bool:
        return self._courier is not None and self._courier.is_under_way

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
                raise LeaseLost(self.thread, epoch=None, current=None)

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
            self._courier.break_off(LeaseLost(self.thread, epoch=epoch, current=None))

    # ------------------------------------------------------------------------------- committing
    def commit(self, *, durable: bool = True, release: bool = False) -> None:
        """Write what was staged; return when it is there. For threads that may block."""
        if self._courier is not None:
            wish = _DURABLE if durable and not release else Wish(durable, release)
            self._courier.carry(wish)

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

    # ---------------------------------------------------------- what the courier asks of its desk
    @property
    def waiting(self) -> int:
        return len(self._draft.events) + bool(self.leap is not None and self.leap.held)

    def draw_up(self, wish: Wish) -> Append | None:
        if self.leap is not None:
            self._write_leap()
        release = wish.release and self._held is not None
        if not (self._draft.events or release):
            return None
        if self._held is None:
            raise LeaseLost(self.thread, epoch=None, current=None)
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
            # Whoever goes on after this run counts again what came after its last snapshot.
            runs=self._tally.take(all_of_them=release or portion.snapshot is not None),
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

    def has_landed(self, append: Append) -> None:
        self.head += append.count
        self._closings.land()

    def _landed_alone(self, append: Append) -> None:
        assert self._courier is not None
        with self._lock:
            self.has_landed(append)
            self._courier.note(append)
