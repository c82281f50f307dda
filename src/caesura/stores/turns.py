"""Whose turn it is to write, and how those who wait share one commit.

Promises: one writer at a time; what was queued is committed in the order in which it came; nobody
waits for another thread when nobody else writes. Whoever finds others waiting commits for all of
them at once, then hands the turn to the first who came meanwhile, so that no caller works for the
others for longer than one commit.
Does not promise: to know what is written. `commit` must settle every item that it is given, or
raise only when this thread is being stopped and leave the rest unsettled.
Called by `sqlite`.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from queue import SimpleQueue
from typing import Any, Generic, Literal, TypeVar

from caesura.ports import AppendSink

_AT_ONCE = 1000  # items in one commit

W = TypeVar("W")


class Pending(Generic[W]):
    """One thing to be written, and what became of it."""

    __slots__ = ("error", "is_settled", "leads", "sink", "tag", "value", "woken", "work")

    def __init__(self, work: W, *, tag: Any = None, sink: AppendSink | None = None) -> None:
        self.work = work
        self.tag, self.sink = tag, sink
        self.value: Any = None
        self.error: BaseException | None = None
        self.is_settled = False
        self.leads = False  # the turn was handed to the one who waits for this
        self.woken: threading.Lock | None = None  # None: nobody waits for this

    def settle(self, outcome: Any) -> None:
        if isinstance(outcome, BaseException):
            self.error = outcome
        else:
            self.value = outcome
        self.is_settled = True

    def outcome(self) -> Any:
        if self.error is not None:
            raise self.error
        return self.value


class Turns(Generic[W]):
    """One per place that is written to."""

    def __init__(self, commit: Callable[[Sequence[Pending[W]]], None]) -> None:
        self._commit = commit
        self._turn = threading.Lock()
        self._queue: deque[Pending[W]] = deque()  # only who has the turn takes from it
        self._gate = threading.Lock()  # guards what follows, and who is woken
        self._refusal: Callable[[], BaseException] | None = None
        self._thread: threading.Thread | None = None
        self._messages: SimpleQueue[Literal["lead", "stop"] | list[Pending[W]]] = SimpleQueue()

    # -------------------------------------------------------------------------- one's own writing
    def start(self) -> bool:
        """Take the turn if nobody else writes or waits; whoever got it calls `done`."""
        return not self._queue and self._turn.acquire(blocking=False)

    def done(self) -> None:
        self._turn.release()
        if self._queue and self._turn.acquire(blocking=False):
            self._hand_on()

    # ------------------------------------------------------------------------- writing with others
    def wait(self, work: W) -> Any:
        """Have it committed together with whatever else waits; return or raise its outcome."""
        pending = Pending(work)
        pending.woken = threading.Lock()
        pending.woken.acquire()
        self._enqueue(pending)
        if self._turn.acquire(blocking=False):
            self._lead(pending)
        else:
            self._wait_for(pending)
        return pending.outcome()

    def soon(self, pending: Pending[W]) -> None:
        """Have it committed by the writer thread, which tells its sink."""
        self._enqueue(pending)
        if self._turn.acquire(blocking=False):
            self._hand_on()

    def pause(self, within_s: float) -> bool:
        """Take the turn without writing; whoever got it calls `done`."""
        return self._turn.acquire(timeout=within_s)

    def close(self, refusal: Callable[[], BaseException]) -> None:
        """Commit what is queued, then give no turn to anybody any more."""
        with self._gate:
            if self._refusal is not None:
                return
            self._refusal = refusal
        self._turn.acquire()
        while self._queue:
            self._commit_next()
        if self._thread is not None:
            self._messages.put("stop")
            if self._thread is not threading.current_thread():
                self._thread.join()

    # ------------------------------------------------------------------------------------- inside
    def _enqueue(self, pending: Pending[W]) -> None:
        with self._gate:
            if self._refusal is not None:
                raise self._refusal()
            self._queue.append(pending)

    def _wait_for(self, pending: Pending[W]) -> None:
        assert pending.woken is not None
        try:
            pending.woken.acquire()
        except BaseException:
            # Stopped while waiting. Its work stays in the queue; nobody hands it the turn any more.
            with self._gate:
                pending.woken, has_the_turn = None, pending.leads
            if has_the_turn:
                self._hand_on()
            raise
        if pending.leads:
            self._lead(pending)

    def _lead(self, own: Pending[W]) -> None:
        """Commit for all until one's own work is done. Has the turn, and hands it on."""
        try:
            while not own.is_settled:
                self._commit_next(own)
        finally:
            self._hand_on()

    def _commit_next(self, own: Pending[W] | None = None) -> None:
        batch = [self._queue.popleft() for _ in range(min(len(self._queue), _AT_ONCE))]
        try:
            self._commit(batch)
        finally:
            # When this thread is being stopped, the others' work is not: it goes back to the queue.
            left = [item for item in batch if not item.is_settled and item is not own]
            self._queue.extendleft(reversed(left))
            self._announce(batch, own)

    def _announce(self, batch: Sequence[Pending[W]], own: Pending[W] | None) -> None:
        for_sinks = []
        for item in batch:
            if not item.is_settled or item is own:
                continue
            if item.sink is not None:
                for_sinks.append(item)
            elif (woken := item.woken) is not None:
                woken.release()
        if for_sinks:
            self._messages.put(for_sinks)

    def _hand_on(self) -> None:
        """Give the turn to whoever waits longest, or back."""
        while True:
            if self._queue:
                first = self._queue[0]
                with self._gate:
                    if first.woken is not None:
                        first.leads = True
                        first.woken.release()
                        return
                    if self._thread is None:
                        self._thread = threading.Thread(
                            target=self._write_for_sinks, name="caesura-writer", daemon=True
                        )
                        self._thread.start()
                self._messages.put("lead")
                return
            self._turn.release()
            # Somebody may have come between the look and the release.
            if not self._queue or not self._turn.acquire(blocking=False):
                return

    def _write_for_sinks(self) -> None:
        while (message := self._messages.get()) != "stop":
            if message == "lead":
                try:
                    self._commit_next()
                finally:
                    self._hand_on()
            else:
                tell(message)


def tell(settled: Sequence[Pending[Any]]) -> None:
    """Each sink gets its outcomes in one call."""
    by_sink: dict[int, tuple[AppendSink, list[tuple[Any, Any]]]] = {}
    for item in settled:
        assert item.sink is not None
        outcome = item.value if item.error is None else item.error
        by_sink.setdefault(id(item.sink), (item.sink, []))[1].append((item.tag, outcome))
    for sink, outcomes in by_sink.values():
        try:
            sink.landed(outcomes)
        except Exception:  # noqa: BLE001 - whatever a sink raises
            # One run's mistake must not stop the others' writes. Imported here because it is slow
            # to load, and hardly ever needed.
            import logging

            log = logging.getLogger("caesura")
            log.exception("a sink failed to take the outcomes of its appends")
