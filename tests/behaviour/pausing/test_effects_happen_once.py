"""An effect inside `once` happens once, however often its node runs."""

from __future__ import annotations

import asyncio

import pytest

from caesura import END, START, StateGraph, interrupt, once, workflow
from tests.behaviour.both import Story


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
def test_a_loop_with_twenty_questions_performs_twenty_effects(app, till, durability):
    def collect(state):
        return {"notes": [once(till.charge, interrupt(f"price {item}?")) for item in range(20)]}

    graph = app.chain(collect)
    app.run(graph, {}, durability=durability)
    for item in range(20):
        result = app.answer(graph, item * 10, durability=durability)

    assert till.charged == [item * 10 for item in range(20)]
    assert result["notes"] == [f"receipt {n}" for n in range(1, 21)]


def test_twenty_effects_before_twenty_questions_happen_twenty_times(app, till):
    def collect(state):
        for item in range(20):
            once(till.charge, item)
            interrupt(f"next after {item}?")

    graph = app.chain(collect)
    app.run(graph, {})
    for _ in range(20):
        app.answer(graph, "yes")

    assert till.charged == list(range(20))


def test_a_loop_of_supersteps_performs_each_effect_once(app, till):
    def ask(state):
        price = interrupt(f"price {len(state['notes'])}?")
        return {"notes": [once(till.charge, price)]}

    builder = StateGraph(Story).add_node(ask).add_edge(START, "ask")
    builder.add_conditional_edges("ask", lambda state: "ask" if len(state["notes"]) < 5 else END)
    graph = app.compile(builder)
    app.run(graph, {})
    for price in range(5):
        result = app.answer(graph, price)

    assert till.charged == [0, 1, 2, 3, 4]
    assert result.interrupts == ()


def test_a_node_that_runs_again_gets_the_recorded_result(app, till):
    seen = []

    def buy(state):
        seen.append(once(till.charge, 5))
        interrupt("happy?")

    graph = app.chain(buy)
    app.run(graph, {})
    app.answer(graph, "yes")

    assert seen == ["receipt 1", "receipt 1"]


def test_an_effect_is_not_repeated_after_a_restart(app, till):
    def buy(state):
        receipt = once(till.charge, 5)
        return {"notes": [receipt, interrupt("happy?")]}

    app.run(app.chain(buy), {})
    app.restart()
    result = app.answer(app.chain(buy), "yes")

    assert result["notes"] == ["receipt 1", "yes"]
    assert till.charged == [5]


def test_the_same_effect_asked_for_twice_happens_twice(app, till):
    def buy_two(state):
        receipts = [once(till.charge, 5), once(till.charge, 5)]
        interrupt("happy?")
        return {"notes": receipts}

    graph = app.chain(buy_two)
    app.run(graph, {})
    result = app.answer(graph, "yes")

    assert till.charged == [5, 5]
    assert result["notes"] == ["receipt 1", "receipt 2"]


def test_an_effect_that_returns_nothing_is_not_repeated(app):
    performed = []

    def announce(text):
        performed.append(text)

    def tell(state):
        once(announce, "hello")
        interrupt("heard?")

    graph = app.chain(tell)
    app.run(graph, {})
    app.answer(graph, "yes")

    assert performed == ["hello"]


def test_keyword_arguments_reach_the_effect(app):
    def send(to, *, subject):
        return f"{subject} to {to}"

    def mail(state):
        return {"notes": [once(send, "ana", subject="hello")]}

    assert app.run(app.chain(mail), {})["notes"] == ["hello to ana"]


def test_an_effect_in_a_failed_node_is_not_repeated_when_the_node_is_tried_again(app, till):
    broken = [True]

    def buy(state):
        receipt = once(till.charge, 5)
        if broken:
            raise ValueError("the printer is out of paper")
        return {"notes": [receipt]}

    graph = app.chain(buy)
    with pytest.raises(ValueError, match="out of paper"):
        app.run(graph, {})
    broken.clear()
    result = app.go_on(graph)

    assert result["notes"] == ["receipt 1"]
    assert till.charged == [5]


def test_a_new_run_of_the_node_performs_the_effect_again(app, till):
    def buy(state):
        return {"notes": [once(till.charge, 5)]}

    graph = app.chain(buy)
    app.run(graph, {})
    app.run(graph, {})

    assert till.charged == [5, 5]


def test_effects_of_a_plain_function_happen_once(app, till):
    @workflow(checkpointer=app.store, name="purchase")
    def purchase(amount):
        receipt = once(till.charge, amount)
        return [receipt, interrupt("happy?")]

    app.run(purchase, 5)

    assert app.answer(purchase, "yes") == ["receipt 1", "yes"]
    assert till.charged == [5]


def test_effects_of_an_async_plain_function_happen_once(app, till):
    @workflow(checkpointer=app.store, name="purchase")
    async def purchase(amount):
        receipt = await once(till.charge_slowly, amount)
        return [receipt, interrupt("happy?")]

    app.run(purchase, 5)

    assert app.answer(purchase, "yes") == ["receipt 1", "yes"]
    assert till.charged == [5]


def test_effects_of_an_async_node_happen_once(app, till):
    async def buy(state):
        receipts = await asyncio.gather(*(once(till.charge_slowly, n) for n in range(3)))
        interrupt("happy?")
        return {"notes": list(receipts)}

    graph = app.chain(buy)
    app.run(graph, {})
    result = app.answer(graph, "yes")

    assert till.charged == [0, 1, 2]
    assert result["notes"] == ["receipt 1", "receipt 2", "receipt 3"]
