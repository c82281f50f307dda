"""Jobs run side by side up to a limit, and each one's end is told, however it ended."""

from __future__ import annotations

import asyncio
import signal
import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest

from caesura.engine import crowds, pool
from caesura.engine.crowds import Outcome, TaskCrowd, ThreadCrowd
from caesura.engine.performer import drive
from caesura.engine.pool import Pool
from caesura.errors import Suspended

PATIENCE_S = 10.0


def on_threads(jobs: Any, limit: int | None = None) -> list[Outcome]:
    crowd, outcomes = ThreadCrowd(jobs, limit, drive), []
    while len(outcomes) < len(jobs):
        outcomes += drive(crowd.some())
    return sorted(outcomes)


def on_a_loop(jobs: Any, limit: int | None = None) -> list[Outcome]:
    async def all_of_them() -> list[Outcome]:
        crowd, outcomes = TaskCrowd(jobs, limit), []
        while len(outcomes) < len(jobs):
            outcomes += await crowd.some()
        return outcomes

    return sorted(asyncio.run(asyncio.wait_for(all_of_them(), PATIENCE_S)))


@pytest.fixture(params=[on_threads, on_a_loop])
def outcomes_of(request: pytest.FixtureRequest) -> Callable[..., list[Outcome]]:
    return request.param


def giving(value: Any) -> Callable[..., Any]:
    async def job() -> Any:
        return value

    return job


def raising(error: BaseException) -> Callable[..., Any]:
    async def job() -> Any:
        raise error

    return job


def test_each_job_s_outcome_has_its_place_and_value(outcomes_of):
    assert outcomes_of([giving(n * n) for n in range(100)]) == [
        Outcome(n, n * n, None) for n in range(100)
    ]


@pytest.mark.parametrize("error", [ValueError("x"), Suspended(), SystemExit(1), GeneratorExit()])
def test_what_a_job_raises_is_its_outcome_and_stops_nobody(outcomes_of, error):
    outcomes = outcomes_of([raising(error), giving("fine")], 1)
    assert outcomes == [Outcome(0, None, error), Outcome(1, "fine", None)]


class Doorkeeper:
    """Counts who is inside, and lets nobody out before so many have come in."""

    def __init__(self, on_loop: bool, together: int) -> None:
        self.inside = self.most = 0
        self._lock = threading.Lock()
        self._on_loop, self._together, self._barrier = on_loop, together, None
        if not on_loop:
            self._barrier = threading.Barrier(together)

    async def visit(self) -> None:
        with self._lock:
            self.inside += 1
            self.most = max(self.most, self.inside)
        if self._on_loop:
            self._barrier = self._barrier or asyncio.Barrier(self._together)
            await self._barrier.wait()
        else:
            self._barrier.wait(PATIENCE_S)
        with self._lock:
            self.inside -= 1


@pytest.mark.parametrize("limit", [1, 2, 5])
def test_no_more_than_the_limit_run_at_once(outcomes_of, limit):
    door = Doorkeeper(outcomes_of is on_a_loop, together=limit)
    outcomes = outcomes_of([door.visit] * (limit * 4), limit)
    assert [outcome.error for outcome in outcomes] == [None] * (limit * 4)
    assert door.most == limit


def test_without_a_limit_they_all_run_side_by_side(outcomes_of):
    door = Doorkeeper(outcomes_of is on_a_loop, together=30)
    outcomes = outcomes_of([door.visit] * 30)
    assert [outcome.error for outcome in outcomes] == [None] * 30
    assert door.most == 30


# --------------------------------------------------------------------------------------- waking
def test_a_thread_that_waits_for_outcomes_can_be_woken():
    hold = threading.Event()

    async def job() -> None:
        hold.wait(PATIENCE_S)

    crowd = ThreadCrowd([job], None, drive)
    crowd.wake()
    assert drive(crowd.some()) == []
    hold.set()
    assert drive(crowd.some()) == [Outcome(0, None, None)]


def test_a_task_that_waits_for_outcomes_can_be_woken_from_another_thread():
    async def woken() -> tuple[Any, Any]:
        hold = asyncio.Event()
        crowd = TaskCrowd([hold.wait], None)
        threading.Thread(target=crowd.wake).start()
        first = await crowd.some()
        hold.set()
        return first, await crowd.some()

    assert asyncio.run(asyncio.wait_for(woken(), PATIENCE_S)) == ([], [Outcome(0, True, None)])


# ---------------------------------------------------------------------------------- interruptions
def test_a_cancelled_call_ends_what_runs_and_begins_nothing_more():
    begun, cleaned_up = [], []

    def job(number: int, together: asyncio.Barrier) -> Any:
        async def wait() -> None:
            begun.append(number)
            await together.wait()
            try:
                await asyncio.Event().wait()
            finally:
                await asyncio.sleep(0)
                cleaned_up.append(number)

        return wait

    async def cancel_it() -> None:
        together = asyncio.Barrier(3)

        async def call() -> None:
            await TaskCrowd([job(n, together) for n in range(4)], 2).some()

        calling = asyncio.create_task(call())
        await together.wait()
        calling.cancel()
        with pytest.raises(asyncio.CancelledError):
            await calling
        assert (begun, sorted(cleaned_up)) == ([0, 1], [0, 1])

    asyncio.run(asyncio.wait_for(cancel_it(), PATIENCE_S))
    assert begun == [0, 1]


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="signals cannot be sent here")
@pytest.mark.skipif(
    threading.current_thread() is not threading.main_thread(), reason="Ctrl-C goes elsewhere"
)
def test_after_ctrl_c_no_further_job_begins(monkeypatch):
    monkeypatch.setattr(pool, "IDLE_S", 0.01)
    ready, pressed, go_on = threading.Event(), threading.Event(), threading.Event()
    begun, threads = [], []
    main = threading.get_ident()

    def press(number: int, frame: Any) -> None:
        if not pressed.is_set():
            pressed.set()
            raise KeyboardInterrupt

    async def first() -> None:
        threads.append(threading.current_thread())
        ready.wait(PATIENCE_S)
        while not pressed.is_set():
            if sys._current_frames()[main].f_code.co_name == "wait":  # for an outcome
                signal.pthread_kill(main, signal.SIGUSR1)
        go_on.wait(PATIENCE_S)

    async def second() -> None:
        begun.append("second")

    before = signal.signal(signal.SIGUSR1, press)
    try:
        crowd = ThreadCrowd([first, second], 1, drive)

        def wait_for_outcomes() -> None:
            ready.set()
            drive(crowd.some())

        with pytest.raises(KeyboardInterrupt):
            wait_for_outcomes()
        go_on.set()
        threads[0].join(PATIENCE_S)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert begun == []


def test_when_the_system_gives_no_more_threads_the_first_does_it_all(monkeypatch):
    started, start = [], threading.Thread.start

    def start_one(thread: threading.Thread) -> None:
        if started:
            raise RuntimeError("can't start new thread")
        started.append(thread)
        start(thread)

    monkeypatch.setattr(crowds, "POOL", Pool())
    monkeypatch.setattr(threading.Thread, "start", start_one)
    outcomes = on_threads([giving(n) for n in range(5)])
    assert [outcome.value for outcome in outcomes] == list(range(5))
