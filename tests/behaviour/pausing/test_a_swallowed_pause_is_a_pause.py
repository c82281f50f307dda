"""No way of catching exceptions around `interrupt` can lose the pause or let code act on it."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack, suppress

import pytest

from caesura import interrupt, once, workflow


def except_exception(ask):
    try:
        return ask()
    except Exception:
        return "made up"


def except_base_exception(ask):
    try:
        return ask()
    except BaseException:
        return "made up"


def bare_except(ask):
    try:
        return ask()
    except:  # noqa: E722
        return "made up"


def finally_return(ask):
    answer = "made up"
    try:
        answer = ask()
    finally:
        return answer  # noqa: B012


def suppressed(ask):
    with suppress(BaseException):
        return ask()
    return "made up"


def exit_stack(ask):
    with ExitStack() as stack:
        stack.push(lambda *_: True)
        return ask()
    return "made up"


def turned_into_an_error(ask):
    try:
        return ask()
    except BaseException as paused:
        raise ValueError("nobody answered") from paused


def retried(ask):
    for _ in range(3):
        with suppress(BaseException):
            return ask()
    return "made up"


WAYS = [
    except_exception,
    except_base_exception,
    bare_except,
    finally_return,
    suppressed,
    exit_stack,
    turned_into_an_error,
]


@pytest.fixture(params=WAYS, ids=lambda way: way.__name__)
def swallow(request):
    return request.param


@pytest.fixture(params=["a sync node", "an async node"])
def graph(request, app, till, swallow):
    """A node that asks, eats the pause, and would then charge what it made up."""

    def buy(state):
        price = swallow(lambda: interrupt("price?"))
        return {"notes": [once(till.charge, price)]}

    async def buy_on_a_loop(state):
        price = swallow(lambda: interrupt("price?"))
        return {"notes": [await once(till.charge_slowly, price)]}

    return app.chain(buy if request.param == "a sync node" else buy_on_a_loop)


def test_the_question_is_asked(app, graph):
    assert [question.value for question in app.run(graph, {}).interrupts] == ["price?"]


def test_nothing_is_charged_with_a_made_up_answer(app, graph, till):
    app.run(graph, {})
    assert till.charged == []


def test_what_the_node_went_on_to_return_is_not_taken(app, graph):
    assert app.run(graph, {}).get("notes", []) == []


def test_the_answer_arrives_and_is_charged(app, graph, till):
    app.run(graph, {})
    result = app.answer(graph, 5)

    assert till.charged == [5]
    assert result["notes"] == ["receipt 1"]


def test_a_node_that_returns_at_once_after_eating_the_pause_still_waits(app, swallow):
    def confirm(state):
        return {"notes": [swallow(lambda: interrupt("sure?"))]}

    graph = app.chain(confirm)
    waiting = app.run(graph, {})

    assert [question.value for question in waiting.interrupts] == ["sure?"]
    assert app.answer(graph, "yes")["notes"] == ["yes"]


def test_nothing_that_follows_the_node_runs(app, till, swallow):
    def confirm(state):
        return {"notes": [swallow(lambda: interrupt("sure?"))]}

    def pay(state):
        till.charge(5)

    app.run(app.chain(confirm, pay), {})

    assert till.charged == []


def test_a_question_that_is_put_again_in_the_same_pass_is_not_lost(app):
    def confirm(state):
        return {"notes": [retried(lambda: interrupt("sure?", key="sure"))]}

    graph = app.chain(confirm)
    app.run(graph, {})
    result = app.answer(graph, {question.id: "yes" for question in app.state(graph).interrupts})

    assert result["notes"] == ["yes"]


def test_a_second_question_after_an_eaten_pause_is_asked_too(app):
    def confirm(state):
        first = except_base_exception(lambda: interrupt("first?"))
        second = except_base_exception(lambda: interrupt("second?"))
        return {"notes": [first, second]}

    graph = app.chain(confirm)
    waiting = app.run(graph, {})
    result = app.answer(graph, {question.id: question.value for question in waiting.interrupts})

    assert [question.value for question in waiting.interrupts] == ["first?", "second?"]
    assert result["notes"] == ["first?", "second?"]


def test_a_workflow_that_eats_the_pause_waits(app, till, swallow):
    @workflow(checkpointer=app.store, name="purchase")
    def purchase(item):
        return once(till.charge, swallow(lambda: interrupt(f"price of {item}?")))

    waiting = app.run(purchase, "tea")

    assert [question.value for question in waiting.interrupts] == ["price of tea?"]
    assert till.charged == []
    assert app.answer(purchase, 5) == "receipt 1"


# ------------------------------------------------------------------------ the ways of async code
async def gathered(ask):
    (answer,) = await asyncio.gather(ask(), return_exceptions=True)
    return answer


async def in_a_task_group(ask):
    answers = []

    async def put_it():
        answers.append(await ask())

    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(put_it())
    except* BaseException:
        answers.append("made up")
    return answers[0]


async def waited_for(ask):
    done, _ = await asyncio.wait([asyncio.ensure_future(ask())])
    task = done.pop()
    return "made up" if task.exception() else task.result()


async def forgotten(ask):
    asked = asyncio.Event()
    answers = []

    async def put_it():
        try:
            answers.append(await ask())
        finally:
            asked.set()

    task = asyncio.create_task(put_it())
    await asked.wait()
    del task
    return answers[0] if answers else "made up"


async def under_a_timeout(ask):
    try:
        async with asyncio.timeout(60):
            return await ask()
    except BaseException:
        return "made up"


ASYNC_WAYS = [gathered, in_a_task_group, waited_for, forgotten, under_a_timeout]


@pytest.fixture(params=ASYNC_WAYS, ids=lambda way: way.__name__)
def async_graph(request, app, till):
    async def buy(state):
        async def ask():
            return interrupt("price?")

        price = await request.param(ask)
        return {"notes": [await once(till.charge_slowly, price)]}

    return app.chain(buy)


def test_an_async_way_of_eating_it_does_not_lose_the_question(app, async_graph):
    assert [question.value for question in app.run(async_graph, {}).interrupts] == ["price?"]


def test_an_async_way_of_eating_it_charges_nothing(app, async_graph, till):
    app.run(async_graph, {})
    assert till.charged == []


def test_after_an_async_way_of_eating_it_the_answer_is_charged(app, async_graph, till):
    app.run(async_graph, {})
    app.answer(async_graph, 5)
    assert till.charged == [5]
