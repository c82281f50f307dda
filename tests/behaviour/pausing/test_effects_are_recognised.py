"""A replayed effect is recognised by its name, its arguments and its use, not by its place."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context

import pytest

from caesura import interrupt, once, task
from caesura.errors import EffectChanged


def test_the_order_of_effects_may_change_between_passes(app, till):
    order = [1, 2, 3]

    def buy(state):
        receipts = {amount: once(till.charge, amount) for amount in order}
        interrupt("happy?")
        return {"notes": [receipts[amount] for amount in (1, 2, 3)]}

    graph = app.chain(buy)
    app.run(graph, {})
    order.reverse()
    result = app.answer(graph, "yes")

    assert result["notes"] == ["receipt 1", "receipt 2", "receipt 3"]
    assert till.charged == [1, 2, 3]


def test_gathered_effects_may_come_in_another_order(app, till):
    order = [1, 2, 3]

    async def buy(state):
        receipts = await asyncio.gather(*(once(till.charge_slowly, n) for n in order))
        interrupt("happy?")
        return {"notes": [f"{n}: {receipt}" for n, receipt in zip(order, receipts, strict=True)]}

    graph = app.chain(buy)
    app.run(graph, {})
    order.reverse()
    result = app.answer(graph, "yes")

    assert sorted(till.charged) == [1, 2, 3]
    assert sorted(result["notes"]) == [
        f"{n}: receipt {till.charged.index(n) + 1}" for n in (1, 2, 3)
    ]


def test_effects_in_a_thread_pool_may_come_in_another_order(app, till):
    order = [1, 2, 3]

    def buy(state):
        with ThreadPoolExecutor() as pool:
            running = [pool.submit(copy_context().run, once, till.charge, n) for n in order]
            receipts = {n: job.result() for n, job in zip(order, running, strict=True)}
        interrupt("happy?")
        return {"notes": [receipts[n] for n in (1, 2, 3)]}

    graph = app.chain(buy)
    app.run(graph, {})
    order.reverse()
    result = app.answer(graph, "yes")

    assert sorted(till.charged) == [1, 2, 3]
    assert result["notes"] == [f"receipt {till.charged.index(n) + 1}" for n in (1, 2, 3)]


def test_a_new_effect_after_the_old_ones_is_performed(app, till):
    def buy(state):
        once(till.charge, 1)
        if interrupt("another?") == "yes":
            once(till.charge, 2)

    graph = app.chain(buy)
    app.run(graph, {})
    app.answer(graph, "yes")

    assert till.charged == [1, 2]


def test_changed_arguments_are_refused_and_both_are_shown(app, till):
    price = [5]

    def buy(state):
        once(till.charge, price[0])
        interrupt("happy?")

    graph = app.chain(buy)
    app.run(graph, {})
    price[0] = 7

    with pytest.raises(EffectChanged, match=r"(?s)charge.*5.*7"):
        app.answer(graph, "yes")


def test_an_effect_with_changed_arguments_is_not_performed(app, till):
    price = [5]

    def buy(state):
        once(till.charge, price[0])
        interrupt("happy?")

    graph = app.chain(buy)
    app.run(graph, {})
    price[0] = 7
    with pytest.raises(EffectChanged):
        app.answer(graph, "yes")

    assert till.charged == [5]


def test_changed_keyword_arguments_are_refused(app, till):
    price = [5]

    def buy(state):
        once(till.charge, amount=price[0])
        interrupt("happy?")

    graph = app.chain(buy)
    app.run(graph, {})
    price[0] = 7

    with pytest.raises(EffectChanged):
        app.answer(graph, "yes")


def test_a_thread_goes_on_when_its_arguments_are_put_right(app, till):
    price = [5]

    def buy(state):
        receipt = once(till.charge, price[0])
        return {"notes": [receipt, interrupt("happy?")]}

    graph = app.chain(buy)
    app.run(graph, {})
    price[0] = 7
    with pytest.raises(EffectChanged):
        app.answer(graph, "yes")
    price[0] = 5
    result = app.go_on(graph)

    assert result["notes"] == ["receipt 1", "yes"]
    assert till.charged == [5]


def test_a_key_stands_in_for_the_arguments(app, till):
    price = [5]

    def buy(state):
        receipt = once(till.charge, price[0], key="order-7")
        interrupt("happy?")
        return {"notes": [receipt]}

    graph = app.chain(buy)
    app.run(graph, {})
    price[0] = 7
    result = app.answer(graph, "yes")

    assert result["notes"] == ["receipt 1"]
    assert till.charged == [5]


def test_effects_with_different_keys_are_different_effects(app, till):
    def buy(state):
        receipts = [once(till.charge, 5, key=key) for key in ("first", "second")]
        interrupt("happy?")
        return {"notes": receipts}

    graph = app.chain(buy)
    app.run(graph, {})
    result = app.answer(graph, "yes")

    assert result["notes"] == ["receipt 1", "receipt 2"]
    assert till.charged == [5, 5]


class Connection:
    """Something that no log can hold."""


class Socket:
    """Something else that no log can hold."""


def test_arguments_that_cannot_be_written_compare_by_type(app):
    sent = []

    def send(connection, text):
        sent.append(text)

    def mail(state):
        once(send, Connection(), "hello")
        interrupt("heard?")

    graph = app.chain(mail)
    app.run(graph, {})
    app.answer(graph, "yes")

    assert sent == ["hello"]


def test_an_argument_of_another_type_is_another_argument(app):
    through = [Connection]

    def send(connection, text):
        pass

    def mail(state):
        once(send, through[0](), "hello")
        interrupt("heard?")

    graph = app.chain(mail)
    app.run(graph, {})
    through[0] = Socket

    with pytest.raises(EffectChanged, match=r"(?s)Connection.*Socket"):
        app.answer(graph, "yes")


def test_effects_of_different_names_do_not_meet(app):
    performed = []

    def charge(amount):
        performed.append(("charge", amount))
        return "charged"

    def refund(amount):
        performed.append(("refund", amount))
        return "refunded"

    swapped = []

    def settle_up(state):
        effects = [refund, charge] if swapped else [charge, refund]
        done = {effect.__name__: once(effect, 5) for effect in effects}
        interrupt("happy?")
        return {"notes": [done["charge"], done["refund"]]}

    graph = app.chain(settle_up)
    app.run(graph, {})
    swapped.append(True)
    result = app.answer(graph, "yes")

    assert result["notes"] == ["charged", "refunded"]
    assert performed == [("charge", 5), ("refund", 5)]


def test_tasks_of_one_step_do_not_share_their_records(app, till):
    def left(state):
        receipt = once(till.charge, 5)
        interrupt("left?")
        return {"notes": [receipt]}

    def right(state):
        receipt = once(till.charge, 5)
        interrupt("right?")
        return {"notes": [receipt]}

    graph = app.side_by_side(left, right)
    waiting = app.run(graph, {})
    result = app.answer(graph, {question.id: "yes" for question in waiting.interrupts})

    assert sorted(result["notes"]) == ["receipt 1", "receipt 2"]
    assert till.charged == [5, 5]


def test_an_awaited_effect_with_changed_arguments_is_refused_and_not_performed(app, till):
    price = [5]

    async def buy(state):
        await once(till.charge_slowly, price[0])
        interrupt("happy?")

    graph = app.chain(buy)
    app.run(graph, {})
    price[0] = 7

    with pytest.raises(EffectChanged, match=r"(?s)charge_slowly.*5.*7"):
        app.answer(graph, "yes")
    assert till.charged == [5]


def test_an_effect_on_a_thread_with_changed_arguments_is_refused_and_not_performed(app, till):
    price = [5]

    async def buy(state):
        await once.thread(till.charge, price[0])
        interrupt("happy?")

    graph = app.chain(buy)
    app.run(graph, {})
    price[0] = 7

    with pytest.raises(EffectChanged, match=r"(?s)charge.*5.*7"):
        app.answer(graph, "yes")
    assert till.charged == [5]


def test_a_task_with_changed_arguments_is_refused_and_not_performed(app, till):
    price, charge = [5], task(till.charge)

    def buy(state):
        charge(price[0]).result()
        interrupt("happy?")

    graph = app.chain(buy)
    app.run(graph, {})
    price[0] = 7

    with pytest.raises(EffectChanged, match=r"(?s)charge.*5.*7"):
        app.answer(graph, "yes")
    assert till.charged == [5]


def test_an_effect_with_changed_arguments_beside_others_is_another_effect(app, till):
    price = [5]

    async def buy(state):
        await asyncio.gather(once(till.charge_slowly, price[0]))
        interrupt("happy?")

    graph = app.chain(buy)
    app.run(graph, {})
    price[0] = 7
    app.answer(graph, "yes")

    assert till.charged == [5, 7]
