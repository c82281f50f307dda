"""`once` as a call, as a decorator, sync, async and in a thread."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from caesura import RetryPolicy, interrupt, once
from caesura.errors import AuthoringError, OutsideANode


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


# --------------------------------------------------------------- a decorator, or an effect outside
def test_a_function_without_parameters_is_decorated_in_a_class_body(app):
    class Desk:
        @once
        def greet():
            return "hello"

    def meet(state):
        return {"notes": [Desk.greet()]}

    assert app.run(app.chain(meet), {})["notes"] == ["hello"]


def test_a_module_that_a_node_imports_decorates_functions(app):
    source = "from caesura import once\n@once\ndef greet():\n    return 'hello'\n"

    def meet(state):
        module = {}
        exec(source, module)
        return {"notes": [type(module["greet"]).__name__, module["greet"]()]}

    assert app.run(app.chain(meet), {})["notes"] == ["function", "hello"]


def test_a_function_without_parameters_on_a_thread_without_the_context_is_refused(app):
    charged = []

    def pay():
        charged.append(5)

    def buy(state):
        with ThreadPoolExecutor() as pool:
            pool.submit(lambda: once(pay)).result()

    with pytest.raises(OutsideANode, match=r"(?s)pay.*copy_context.*@once\(\)"):
        app.run(app.chain(buy), {})
    assert charged == []


def test_a_function_without_parameters_on_a_loop_without_a_node_is_refused():
    async def pay():
        return "paid"

    async def program():
        return await once(pay)

    with pytest.raises(OutsideANode, match=r"pay was not performed"):
        asyncio.run(program())


def test_on_a_loop_a_decorator_says_that_it_is_one():
    def pay():
        return "paid"

    async def program():
        return once()(pay)

    assert asyncio.run(program()).__name__ == "pay"


# ------------------------------------------------------- a sync function that gives an awaitable
def test_what_a_function_gives_to_wait_for_is_the_effect(app, till):
    async def buy(state):
        receipt = await once(lambda: till.charge_slowly(5), key="pay")
        return {"notes": [receipt, interrupt("happy?")]}

    graph = app.chain(buy)
    app.run(graph, {})
    result = app.answer(graph, "yes")

    assert result["notes"] == ["receipt 1", "yes"]
    assert till.charged == [5]


def test_what_a_function_gives_to_wait_for_is_tried_again_by_the_policy(app, till):
    tries = []
    policy = RetryPolicy(
        max_attempts=3, initial_interval=0.001, jitter=False, retry_on=ConnectionError
    )

    async def charge():
        tries.append(1)
        if len(tries) < 3:
            raise ConnectionError("the line went dead")
        return await till.charge_slowly(5)

    async def buy(state):
        return {"notes": [await once(lambda: charge(), key="pay", retry_policy=policy)]}

    assert app.run(app.chain(buy), {})["notes"] == ["receipt 1"]
    assert len(tries) == 3


def test_a_failure_of_what_a_function_gives_to_wait_for_is_recorded(app):
    tries = []

    async def charge():
        tries.append(1)
        raise ValueError("declined")

    async def buy(state):
        try:
            await once(lambda: charge(), key="pay")
        except ValueError as declined:
            return {"notes": [str(declined), interrupt("what now?")]}

    graph = app.chain(buy)
    app.run(graph, {})

    assert app.answer(graph, "cash")["notes"] == ["declined", "cash"]
    assert len(tries) == 1


def test_something_to_wait_for_in_a_sync_node_is_refused_before_it_happens(app, till):
    def buy(state):
        once(lambda: till.charge_slowly(5), key="pay")

    graph = app.chain(buy)
    with pytest.raises(AuthoringError, match="await once"):
        app.run(graph, {})
    with pytest.raises(AuthoringError, match="await once"):
        app.go_on(graph)
    assert till.charged == []


# --------------------------------------------------------------------- questions inside of effects
def test_a_question_inside_an_effect_is_refused_with_the_remedy(app):
    def pay():
        return interrupt("sure?")

    def buy(state):
        return {"notes": [once(pay)]}

    graph = app.chain(buy)
    with pytest.raises(AuthoringError, match=r"inside once\(.*pay\).*hand the answer in"):
        app.run(graph, {})
    assert app.open_questions(graph) == []


def test_a_question_inside_an_async_effect_is_refused(app):
    async def pay():
        return interrupt("sure?")

    async def buy(state):
        return {"notes": [await once(pay)]}

    with pytest.raises(AuthoringError, match="hand the answer in"):
        app.run(app.chain(buy), {})


def test_an_effect_that_asks_is_not_tried_again_and_fails_its_node_whoever_eats_it(app, till):
    policy = RetryPolicy(max_attempts=3, initial_interval=0.001, retry_on=Exception)

    def pay():
        till.charge(5)
        return interrupt("sure?")

    def buy(state):
        try:
            once(pay, retry_policy=policy)
        except Exception:
            return {"notes": ["made up"]}

    with pytest.raises(AuthoringError, match="hand the answer in"):
        app.run(app.chain(buy), {})
    assert till.charged == [5]


def test_a_question_of_a_graph_that_an_effect_calls_on_the_same_thread_is_refused(app):
    def ask(state):
        return {"notes": [interrupt("sure?")]}

    child = app.chain(ask, checkpointer=None)

    def buy(state):
        return {"notes": once(lambda: child.invoke({})["notes"], key="child")}

    with pytest.raises(AuthoringError, match="hand the answer in"):
        app.run(app.chain(buy), {})


def test_an_effect_may_start_another_thread_that_asks(app):
    def ask(state):
        return {"notes": [interrupt("sure?")]}

    other = app.chain(ask, name="other")

    def buy(state):
        asked = once(lambda: other.invoke({}, thread="other").interrupts[0].value, key="start")
        return {"notes": [asked]}

    assert app.run(app.chain(buy), {})["notes"] == ["sure?"]


def test_once_the_question_is_outside_of_it_the_effect_is_performed_on_the_same_thread(app, till):
    asks_inside = [True]

    def pay():
        return till.charge(interrupt("how much?") if asks_inside[0] else 5)

    def buy(state):
        return {"notes": [once(pay)]}

    graph = app.chain(buy)
    with pytest.raises(AuthoringError, match="hand the answer in"):
        app.run(graph, {})
    asks_inside[0] = False

    assert app.go_on(graph)["notes"] == ["receipt 1"]
