"""Whose turn it is to write, and how those who wait share one commit.

Promises: one writer at a time; what was queued is committed in the order in which it came; nobody
waits for another thread when nobody else writes. Whoever finds others waiting commits for all of
them at once, then hands the turn to the first who came meanwhile, so that no caller works for the
others for longer than one commit. A thread may be stopped anywhere (Ctrl-C): the turn goes to the
next one, and what it had queued is committed all the same.
Does not promise: to know what is written. `commit` must settle every item that it is given, or
raise only when this thread is being stopped and leave the rest unsettled.
Called by `sqlite`.

How a stopped thread loses nothing: the turn is taken, given up and handed over by single operations
on a dict, which no signal can split, under a token that exists before. What follows from them
(waking, dropping what is done) may be done twice without harm, and is done again by `done`.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from itertools import islice
from queue import SimpleQueue
from typing import Any, Generic, Literal, TypeVar

from caesura.stores.pending import Pending, tell

_AT_ONCE = 1000  # items in one commit
_WRITER = object()  # the token of the thread that writes for those who do not wait

W = TypeVar("W")


class Turns(Generic[W]):
    """One per place that is written to."""

    def __init__(self, commit: Callable[[Sequence[Pending[W]]], None]) -> None:
        self._commit = commit
        self._turn: dict[Literal["of"], object] = {}  # the token of whose turn it is
        self._queue: deque[Pending[W]] = deque()  # only who has the turn takes from it
        self._gate = threading.Lock()  # guards what follows, and who waits
        self._refusal: Callable[[], BaseException] | None = None
        self._threads: dict[Literal["writer"], threading.Thread] = {}
        self._messages: SimpleQueue[Literal["lead", "stop"] | list[Pending[W]]] = SimpleQueue()

    # -------------------------------------------------------------------------- one's own writing
    def start(self, token: object) -> bool:
        """Take the turn if nobody else writes or waits. Whatever happens, `done` follows."""
        return not self._queue and self._turn.setdefault("of", token) is token

    def done(self, token: object, *, again: bool = False) -> None:
        """Give the turn on, if this token has it. Who is stopped in here calls it `again`."""
        if again:
            self._wake_the_next()
        turn, queue = self._turn, self._queue
        while turn.get("of") is token:
            if queue:
                first = queue[0]
                with self._gate:
                    turn["of"] = _WRITER if first.woken is None else first
                self._wake_the_next()
                return
            turn.pop("of", None)
            # Somebody may have come between the look and the giving up.
            if not queue or turn.setdefault("of", token) is not token:
                return

    # ------------------------------------------------------------------------- writing with others
    def wait(self, work: W) -> Any:
        """Have it committed together with whatever else waits; return or raise its outcome."""
        pending = Pending(work, waits=True)
        try:
            self._enqueue(pending)
            if self._comes(pending):
                self._commit_next()
                while not pending.is_settled:
                    self._commit_next()
        finally:
            try:
                self._leave(pending)
            except BaseException:
                self._leave(pending, again=True)
                raise
        return pending.outcome()

    def soon(self, pending: Pending[W]) -> None:
        """Have it committed by the writer thread, which tells its sink."""
        self._enqueue(pending)
        try:
            if "of" not in self._turn:
                self._turn.setdefault("of", _WRITER)
                self._wake_the_next()
        except BaseException:
            self._wake_the_next()
            raise

    def pause(self, within_s: float) -> object | None:
        """Take the turn without writing; whoever got a token gives it to `done`."""
        own: Pending[Any] = Pending(None, waits=True, wants_turn=True)
        with self._gate:
            self._queue.append(own)
        has_come = self._comes(own, within_s)
        with self._gate:
            own.woken, own.is_settled = None, True
            has_come = has_come or self._turn.get("of") is own
        return own if has_come else None

    def close(self, refusal: Callable[[], BaseException]) -> None:
        """Commit what is queued, then give no turn to anybody any more."""
        with self._gate:
            if self._refusal is not None:
                return
            self._refusal = refusal
        self.pause(threading.TIMEOUT_MAX)
        while self._queue:
            self._commit_next()
        thread = self._threads.get("writer")
        if thread is not None:
            self._messages.put("stop")
            if thread is not threading.current_thread():
                thread.join()

    # ------------------------------------------------------------------------------------- inside
    def _enqueue(self, pending: Pending[W]) -> None:
        with self._gate:
            if self._refusal is not None:
                raise self._refusal()
            self._queue.append(pending)

    def _comes(self, own: Pending[Any], within_s: float = -1) -> bool:
        """Whether its turn comes before its work was done by another, or before it is too late."""
        if self._turn.setdefault("of", own) is not own:
            assert own.woken is not None
            own.woken.acquire(timeout=within_s)
        return self._turn.get("of") is own

    def _leave(self, own: Pending[Any], *, again: bool = False) -> None:
        """From now on nobody hands it the turn. If it was stopped, its work stays in the queue."""
        with self._gate:
            own.woken = None
        self.done(own, again=again)

    def _commit_next(self) -> None:
        """Whatever of this is not reached by a stopped thread is done by the next one."""
        batch = []
        for item in list(islice(self._queue, _AT_ONCE)):
            if item.wants_turn and not item.is_settled and item.woken is not None:
                break
            batch.append(item)
        try:
            unsettled = [item for item in batch if not item.is_settled]
            if unsettled:
                self._commit(unsettled)
        finally:
            for_sinks = [item for item in batch if item.is_settled and item.sink is not None]
            if for_sinks:
                self._messages.put(for_sinks)
                self._start_the_writer()
            for item in batch:
                if item.is_settled:
                    item.wake()
            while self._queue and self._queue[0].is_settled:
                self._queue.popleft()

    def _wake_the_next(self) -> None:
        holder = self._turn.get("of")
        if holder is _WRITER:
            self._start_the_writer()
            self._messages.put("lead")
        elif isinstance(holder, Pending):
            holder.wake()

    def _start_the_writer(self) -> None:
        if not self._threads:
            threading.Thread(
                target=self._write_for_sinks, name="caesura-writer", daemon=True
            ).start()

    def _write_for_sinks(self) -> None:
        own = threading.current_thread()
        if self._threads.setdefault("writer", own) is not own:
            return  # two callers had started one
        while (message := self._messages.get()) != "stop":
            if message != "lead":
                tell(message)
            elif self._turn.get("of") is _WRITER:
                try:
                    self._commit_next()
                finally:
                    self.done(_WRITER)
