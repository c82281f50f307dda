"""Jobs that run side by side: on threads for the sync API, as tasks of the loop for the async one.

Promises: outcomes come in batches as they end, whatever order that is; no more than the limit run
at once; a job's error is its outcome.
Called by `engine.performer`; consumed by `engine.loop`.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Coroutine, Sequence
from contextvars import copy_context
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from caesura.engine.pool import POOL
from caesura.engine.shielding import cancellations, settled

if TYPE_CHECKING:
    import asyncio

AsyncJob = Callable[[], Coroutine[Any, Any, Any]]

MOST_THREADS = 64


class Outcome(NamedTuple):
    """How one job ended."""

    index: int  # type: ignore[assignment]  # nobody looks for a value in an outcome
    value: Any
    error: BaseException | None


class Crowd(Protocol):
    """What the loop sees of its running jobs."""

    async def some(self) -> list[Outcome]:
        """Wait until more have ended or `wake` was called; return those that have."""
        ...

    def wake(self) -> None: ...

    async def leave(self) -> None:
        """Begin nothing more, and wait for what runs: nobody is left at work behind the call."""
        ...


class ThreadCrowd:
    """Jobs on threads. A thread takes job after job; each thread that gets one starts the next.

    So slow jobs run side by side at once, and a thousand quick ones need few threads.
    """

    def __init__(
        self,
        jobs: Sequence[AsyncJob],
        limit: int | None,
        drive: Callable[[Coroutine[Any, Any, Any]], Any],
    ) -> None:
        self._jobs = deque(enumerate(jobs))
        self._drive = drive
        self._context = copy_context()
        self._free_threads = min(len(jobs), limit or MOST_THREADS)
        self._lock = threading.Lock()
        self._ended: deque[Outcome] = deque()
        self._news = threading.Semaphore(0)
        self._told = False
        self._at_work = 0
        self._start_thread()

    def _start_thread(self) -> None:
        with self._lock:
            if self._free_threads == 0 or not self._jobs:
                return
            self._free_threads -= 1
        context = self._context.copy()
        POOL.submit(lambda: context.run(self._work))

    def _work(self) -> None:
        first = True
        while True:
            with self._lock:
                if not self._jobs:
                    return
                index, job = self._jobs.popleft()
                self._at_work += 1
            if first:
                first = False
                try:
                    self._start_thread()
                except RuntimeError:  # the system gives no more threads: these few do it all
                    pass
            try:
                outcome = Outcome(index, self._drive(job()), None)
            except BaseException as error:  # noqa: BLE001 - whatever a job raises is its outcome
                outcome = Outcome(index, None, error)
            self._ended.append(outcome)
            with self._lock:
                self._at_work -= 1
            self.wake()

    async def leave(self) -> None:
        self._jobs.clear()
        while self._at_work:
            await self.some()

    def wake(self) -> None:
        with self._lock:
            if self._told:
                return
            self._told = True
        self._news.release()

    async def some(self) -> list[Outcome]:
        try:
            self._news.acquire()
        except BaseException:  # such as Ctrl-C: what has not begun does not begin any more
            self._jobs.clear()
            raise
        with self._lock:
            self._told = False
        ended = []
        while self._ended:
            ended.append(self._ended.popleft())
        return ended


class TaskCrowd:
    """Jobs as tasks of the running loop."""

    def __init__(self, jobs: Sequence[AsyncJob], limit: int | None) -> None:
        import asyncio

        self._loop = asyncio.get_running_loop()
        self._cancellations = cancellations()
        self._news = asyncio.Event()
        self._ended: list[Outcome] = []
        self._waiting = deque(enumerate(jobs))
        self._running: set[asyncio.Task[None]] = set()
        for _ in range(min(len(jobs), limit or len(jobs))):
            self._start()

    def _start(self) -> None:
        if self._waiting:
            index, job = self._waiting.popleft()
            task = self._loop.create_task(self._run(index, job))
            self._running.add(task)
            task.add_done_callback(self._running.discard)

    async def _run(self, index: int, job: AsyncJob) -> None:
        try:
            outcome = Outcome(index, await job(), None)
        except BaseException as error:  # noqa: BLE001 - whatever a job raises is its outcome
            outcome = Outcome(index, None, error)
        self._ended.append(outcome)
        self._news.set()
        self._start()

    def wake(self) -> None:
        self._loop.call_soon_threadsafe(self._news.set)

    def _cancel_all(self) -> None:
        self._waiting.clear()
        for task in list(self._running):
            task.cancel()

    async def leave(self) -> None:
        self._waiting.clear()
        if cancellations() > self._cancellations:
            self._cancel_all()
        cancelled = await settled(*self._running, each_time=lambda _: self._cancel_all())
        if cancelled is not None:
            raise cancelled

    async def some(self) -> list[Outcome]:
        try:
            await self._news.wait()
        except BaseException:
            self._cancel_all()
            await settled(*self._running, each_time=lambda _: self._cancel_all())
            raise
        self._news.clear()
        ended, self._ended = self._ended, []
        return ended
