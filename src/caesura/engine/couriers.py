"""Bring the appends of one log to its store, one at a time.

Promises: what is handed in while an append is on its way goes out together when that has landed,
also when nobody waits for it any more; whoever waits is told, whatever happens. An append that
loses against what commutes with it is put behind that and sent again. The first error of the store
is kept: nothing is sent after it, and everybody who comes later gets it.
Does not promise: to know what is written; that is the desk's part. Called by `engine.ledger`.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from caesura.engine.mailbox import mailbox_of
from caesura.engine.pool import POOL
from caesura.errors import StaleHead
from caesura.ports import Append, Store

if TYPE_CHECKING:
    import asyncio

MOST_BEHIND = 2000  # events that may wait for a written-behind append before the run waits


class Wish(NamedTuple):
    """How the next append is to be: on the disk when it has landed, giving the lease back."""

    durable: bool
    release: bool = False

    def and_also(self, other: Wish | None) -> Wish:
        if other is None:
            return self
        return Wish(self.durable or other.durable, self.release or other.release)


class Desk(Protocol):
    """Who writes the appends. All of it is called under the lock, except `put_behind`."""

    @property
    def waiting(self) -> int:
        """How much is staged and on no append."""
        ...

    def draw_up(self, wish: Wish) -> Append | None:
        """The next append, if there is anything to write."""
        ...

    def put_behind(self, append: Append) -> Append:
        """The same append, following what others have written meanwhile."""
        ...

    def has_landed(self, append: Append) -> None: ...


class Courier:
    def __init__(self, store: Store, desk: Desk, lock: threading.Lock) -> None:
        self._store, self._desk, self._lock = store, desk, lock
        self._is_at_once = store.instant
        self.broken: BaseException | None = None
        self.is_under_way = False
        self._landed = threading.Condition(lock)
        self._relaxed = self._synced = 0  # appends that the system may still keep from the disk
        self._wish: Wish | None = None  # what is to go out when the append on its way has landed
        self._syncing: asyncio.Future[None] | None = None
        self._waiting: list[asyncio.Future[None]] = []
        self._waiting_next: list[asyncio.Future[None]] = []

    @property
    def is_behind(self) -> bool:
        """Whether something that was sent could still be lost with the machine."""
        return self.is_under_way or self._synced < self._relaxed

    def note(self, append: Append) -> None:
        """An append has landed; a durable one takes all before it along to the disk."""
        if append.durable:
            self._synced = self._relaxed
        elif append.count:
            self._relaxed += 1

    def check(self) -> None:
        if self.broken is not None:
            raise self.broken

    def break_off(self, error: BaseException) -> None:
        """Send nothing any more."""
        with self._lock:
            if self.broken is None:
                self.broken = error

    # ------------------------------------------------------------------- by a thread that waits
    def carry(self, wish: Wish) -> None:
        """Write what is staged; return when it is there."""
        append: Append | None = None
        while True:
            try:
                with self._lock:
                    while self.is_under_way:
                        self._landed.wait()
                    if self.broken is not None:
                        raise self.broken
                    append = self._desk.draw_up(wish)
                    if append is None:
                        break
                    self.is_under_way = True
                    if self._is_at_once and self._drop(append):
                        append = None
                        if not self._desk.waiting:
                            break
                        continue
                self._over(self._bring(append))
            except BaseException as error:
                # A thread that is being stopped may leave an append behind of which nobody knows.
                if append is not None or not isinstance(error, Exception):
                    self._over_with(error)
                raise
            append = None
            if not self._desk.waiting:
                break
        if wish.durable:
            self.sync()

    def _drop(self, append: Append) -> bool:
        """For a store that needs no waiting: the lock is kept, and nobody has come meanwhile.

        False when others have written to the log, and the append is to be put behind that.
        """
        try:
            self._store.append(append)
        except StaleHead:
            return False
        self._desk.has_landed(append)
        self.note(append)
        self.is_under_way = False
        return True

    def _bring(self, append: Append) -> Append:
        while True:
            try:
                self._store.append(append)
                return append
            except StaleHead:
                append = self._desk.put_behind(append)

    def sync(self) -> None:
        """Whatever was sent is on the disk after this."""
        mark = self._relaxed
        if self._synced < mark:
            self._store.sync()
            self._synced = max(mark, self._synced)

    # ----------------------------------------------------------------------------- on the loop
    async def carry_on_loop(self, wish: Wish) -> None:
        """The same without blocking the loop. It is on its way before this first waits."""
        import asyncio

        landed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        append: Append | None = None
        with self._lock:
            self.check()
            if not self.is_under_way:
                append = self._desk.draw_up(wish)
                self.is_under_way = append is not None
                if append is not None and self._desk.waiting:
                    self._wish = wish.and_also(self._wish)
                    self._waiting_next.append(landed)
                elif append is not None:
                    self._waiting.append(landed)
                else:
                    landed.set_result(None)
            elif self._desk.waiting or wish.release:
                self._wish = wish.and_also(self._wish)
                self._waiting_next.append(landed)
            else:
                self._waiting.append(landed)
        if append is not None:
            self._hand_in(append)
        await landed
        self.check()
        if wish.durable:
            await self._sync_on_loop()

    async def _sync_on_loop(self) -> None:
        """All who wait at once share one, and go on in the order in which they came."""
        import asyncio

        from caesura.engine.performer import in_thread

        mark, loop = self._relaxed, asyncio.get_running_loop()
        while self._synced < mark:
            syncing = self._syncing
            if syncing is None or syncing.done() or syncing.get_loop() is not loop:
                syncing = self._syncing = in_thread(self.sync)
            await asyncio.shield(syncing)

    def send(self) -> bool:
        """Send what is staged on its way and do not wait; False when too much waits already."""
        with self._lock:
            self.check()
            if self.is_under_way:
                if self._desk.waiting > MOST_BEHIND:
                    return False
                self._wish = Wish(durable=False).and_also(self._wish)
                return True
            append = self._desk.draw_up(Wish(durable=False))
            self.is_under_way = append is not None
        if append is not None:
            self._hand_in(append)
        return True

    def _hand_in(self, append: Append) -> None:
        try:
            self._store.append_soon(append, append, self)
        except BaseException as error:
            self._over_with(error)
            raise

    def landed(self, outcomes: Sequence[tuple[Any, int | BaseException]]) -> None:
        """The store's writer thread tells what became of an append (`ports.AppendSink`)."""
        for append, outcome in outcomes:
            if isinstance(outcome, StaleHead):
                POOL.submit(lambda append=append: self._redo(append))  # type: ignore[misc]
            elif isinstance(outcome, BaseException):
                self._over_with(outcome)
            else:
                self._over(append)

    def _redo(self, append: Append) -> None:
        try:
            append = self._bring(self._desk.put_behind(append))
        except BaseException as error:  # noqa: BLE001 - whoever waits for it gets it
            self._over_with(error)
        else:
            self._over(append)

    # --------------------------------------------------------------------------- when it landed
    def _over(self, append: Append) -> None:
        following: Append | None = None
        trouble: BaseException | None = None
        with self._lock:
            self._desk.has_landed(append)
            self.note(append)
            told, self._waiting = self._waiting, []
            self.is_under_way = False
            wish, self._wish = self._wish, None
            if wish is not None and self.broken is None:
                try:
                    following = self._desk.draw_up(wish)
                except Exception as error:  # noqa: BLE001 - whoever waits for it gets it
                    trouble = error
                self.is_under_way = following is not None
                if following is not None and self._desk.waiting:
                    self._wish = wish
                else:
                    self._waiting, self._waiting_next = self._waiting_next, []
            if following is None:
                told += self._waiting + self._waiting_next
                self._waiting, self._waiting_next = [], []
            self._landed.notify_all()
        if trouble is not None:
            self.break_off(trouble)
        _tell(told)
        if following is not None:
            try:
                self._hand_in(following)
            except BaseException:  # noqa: BLE001 - it is kept, and whoever waits for it gets it
                return

    def _over_with(self, error: BaseException) -> None:
        with self._lock:
            if self.broken is None:
                self.broken = error
            self.is_under_way, self._wish = False, None
            told = self._waiting + self._waiting_next
            self._waiting, self._waiting_next = [], []
            self._landed.notify_all()
        _tell(told)


def _tell(waiting: Sequence[asyncio.Future[None]]) -> None:
    for future in waiting:
        loop = future.get_loop()
        if not loop.is_closed():
            mailbox_of(loop).post(loop, partial(_resolve, future))


def _resolve(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
