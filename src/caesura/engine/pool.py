"""Threads of our own for work that blocks, so that the user's default pool stays the user's.

Promises: a submitted job starts at once, on an idle thread or on a new one; idle threads end by
themselves; a forked process starts with an empty pool. Does not promise: a bound. Whoever submits
bounds what it submits.
Called by `engine.performer`.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable

Job = Callable[[], None]

IDLE_S = 5.0


class _Hand:
    """Where a thread is given its next job."""

    __slots__ = ("job", "ready")

    def __init__(self, job: Job) -> None:
        self.ready = threading.Semaphore(0)
        self.job = job

    def take(self) -> Job:
        """The job that was handed over. It is let go: what it holds must not wait here."""
        job = self.job
        del self.job
        return job


class Pool:
    """Start jobs on threads. Jobs must not raise."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Start with no threads, as in a forked process."""
        self._idle: deque[_Hand] = deque()
        self._lock = threading.Lock()

    def submit(self, job: Job) -> None:
        with self._lock:
            idle = self._idle.pop() if self._idle else None
        if idle is None:
            me = _Hand(job)
            threading.Thread(target=self._work, args=(me,), name="caesura", daemon=True).start()
        else:
            idle.job = job
            idle.ready.release()

    def _work(self, me: _Hand) -> None:
        while True:
            me.take()()
            with self._lock:
                self._idle.append(me)
            if not me.ready.acquire(timeout=IDLE_S):
                with self._lock:
                    if me in self._idle:
                        self._idle.remove(me)
                        return
                me.ready.acquire()  # a job was handed over in this very moment


POOL = Pool()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=POOL.forget)
