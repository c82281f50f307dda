"""`once` as a call, as a decorator, sync, async and in a thread."""

from __future__ import annotations

import asyncio
import threading

import pytest

from caesura import RetryPolicy, interrupt, once
from caesura.errors import OutsideANode


def test_a_decorated_function_is_performed_once(app):
    charged = []

    @once
    def charge(amount):
        charged.append(amount)
        return f"charged {amount}"

    def buy(state):
        return {"notes": [charge(5), interrupt("happy?")]}

    graph = app.chain(buy)
    app.run(graph, {})
    result = app.answer(graph, "yes")

    assert result["notes"] == ["charged 5", "yes"]
    assert charged == [5]


def test_a_decorated_async_function_is_performed_once(app):
    charged = []

    @once
    async def charge(amount):
        charged.append(amount)
        return f"charged {amount}"

    async def buy(state):
        return {"notes": [await charge(5), interrupt("happy?")]}

    graph = app.chain(buy)
    app.run(graph, {})
    result = app.answer(graph, "yes")

    assert result["notes"] == ["charged 5", "yes"]
    assert charged == [5]


def test_a_decorator_may_carry_a_retry_policy(app):
    tries = []
    policy = RetryPolicy(
        max_attempts=3, initial_interval=0.001, jitter=False, retry_on=ConnectionError
    )

    @once(retry_policy=policy)
    def charge(amount):
        tries.append(amount)
        if len(tries) < 3:
            raise ConnectionError("the line went dead")
        return "charged"

    def buy(state):
        return {"notes": [charge(5)]}

    assert app.run(app.chain(buy), {})["notes"] == ["charged"]
    assert len(tries) == 3


def test_a_decorated_function_keeps_its_name_and_its_words():
    @once
    def charge(amount):
        """Take the money."""

    assert (charge.__name__, charge.__doc__) == ("charge", "Take the money.")


def test_a_sync_effect_in_an_async_node_gives_its_value(app, till):
    async def buy(state):
        return {"notes": [once(till.charge, 5)]}

    assert app.run(app.chain(buy), {})["notes"] == ["receipt 1"]


def test_an_effect_that_is_asked_to_runs_in_another_thread(app):
    threads = []

    def charge(amount):
        threads.append(threading.current_thread())
        return f"charged {amount}"

    async def buy(state):
        here = threading.current_thread()
        charged = await once.thread(charge, 5)
        return {"notes": [charged, "elsewhere" if threads[0] is not here else "here"]}

    assert app.run(app.chain(buy), {})["notes"] == ["charged 5", "elsewhere"]


def test_an_effect_in_another_thread_is_performed_once(app, till):
    async def buy(state):
        return {"notes": [await once.thread(till.charge, 5), interrupt("happy?")]}

    graph = app.chain(buy)
    app.run(graph, {})
    result = app.answer(graph, "yes")

    assert result["notes"] == ["receipt 1", "yes"]
    assert till.charged == [5]


def test_effects_in_threads_run_side_by_side(app):
    both_are_here = threading.Barrier(2)

    def meet(name):
        both_are_here.wait(timeout=10)
        return name

    async def gather(state):
        return {"notes": await asyncio.gather(once.thread(meet, "a"), once.thread(meet, "b"))}

    assert app.run(app.chain(gather), {})["notes"] == ["a", "b"]


def test_an_effect_outside_of_a_node_is_refused(till):
    with pytest.raises(OutsideANode):
        once(till.charge, 5)
    assert till.charged == []


def test_a_question_outside_of_a_node_is_refused():
    with pytest.raises(OutsideANode):
        interrupt("anybody there?")
