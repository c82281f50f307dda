"""Async functions of the user's run on a loop that is always there, whatever they do to it."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from typing import Any

import pytest

from caesura.engine.private_loop import private_loop, run_there
from caesura.errors import Suspended

PATIENCE_S = 10.0
WHO: contextvars.ContextVar[str] = contextvars.ContextVar("WHO", default="nobody")


def result_of(make: Any, started: Any = lambda task: None) -> Any:
    return run_there(make, contextvars.copy_context(), started).result(PATIENCE_S)


async def thread_and_loop() -> tuple[threading.Thread, asyncio.AbstractEventLoop]:
    return threading.current_thread(), asyncio.get_running_loop()


def test_a_coroutine_runs_on_a_thread_of_its_own_and_gives_its_result():
    thread, loop = result_of(thread_and_loop)
    assert thread is not threading.current_thread()
    assert thread.daemon
    assert loop is private_loop()


def test_it_is_the_same_loop_each_time():
    assert result_of(thread_and_loop) == result_of(thread_and_loop)


def test_it_works_where_another_loop_is_running():
    async def in_a_notebook() -> Any:
        return result_of(thread_and_loop)[1] is not asyncio.get_running_loop()

    assert asyncio.run(in_a_notebook())


def test_the_coroutine_sees_the_context_of_its_caller():
    async def who() -> str:
        return WHO.get()

    context = contextvars.copy_context()
    context.run(WHO.set, "ana")
    assert run_there(who, context, lambda task: None).result(PATIENCE_S) == "ana"


@pytest.mark.parametrize(
    "error", [ValueError("x"), Suspended(), SystemExit(3), KeyboardInterrupt()]
)
def test_what_it_raises_is_raised_to_its_caller_and_the_next_one_runs(error):
    async def fail() -> None:
        raise error

    with pytest.raises(type(error)):
        result_of(fail)
    assert result_of(thread_and_loop)[1] is private_loop()


@pytest.mark.parametrize("how", ["exits", "stops the loop"])
def test_a_task_that_is_nobody_s_cannot_end_the_loop(how):
    async def leave() -> None:
        if how == "exits":
            raise SystemExit(3)
        asyncio.get_running_loop().stop()

    async def start_and_forget() -> None:
        asyncio.get_running_loop().create_task(leave()).add_done_callback(
            lambda task: task.cancelled() or task.exception()
        )

    result_of(start_and_forget)
    assert result_of(thread_and_loop)[1] is private_loop()


def test_a_coroutine_that_is_cancelled_says_so():
    async def wait_for_ever() -> None:
        await asyncio.Event().wait()

    with pytest.raises(asyncio.CancelledError):
        result_of(wait_for_ever, started=lambda task: task.cancel())


def test_a_function_that_cannot_even_make_its_coroutine_says_why():
    def make() -> Any:
        raise TypeError("it takes an argument")

    with pytest.raises(TypeError, match="it takes an argument"):
        result_of(make)


def test_its_task_is_shown_to_the_caller_before_it_runs():
    seen: list[Any] = []

    async def names_itself() -> bool:
        return asyncio.current_task() is seen[0]

    assert result_of(names_itself, started=seen.append)
