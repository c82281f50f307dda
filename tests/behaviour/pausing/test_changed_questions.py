"""A question that changed is asked again; no answer to what nobody saw is ever applied."""

from __future__ import annotations

import itertools

import pytest

from caesura import interrupt, once
from caesura.errors import QuestionClosed, UnstableQuestion


@pytest.fixture
def price():
    """What the world says now, out of the graph's hands."""
    return [5]


@pytest.fixture(params=[None, "price"], ids=["without a key", "with a key"])
def graph(request, app, till, price):
    """A node that asks whether to pay what the world says now, and pays that."""

    def pay(state):
        amount = price[0]
        verdict = interrupt({"pay": amount}, key=request.param)
        return {"notes": [f"{verdict}: {once(till.charge, amount)}"]}

    return app.chain(pay)


def test_a_question_whose_payload_changed_is_asked_again(app, graph, price):
    app.run(graph, {})
    price[0] = 7
    waiting = app.answer(graph, "yes")

    assert [question.value for question in waiting.interrupts] == [{"pay": 7}]


def test_the_answer_to_the_old_question_is_not_applied(app, graph, price, till):
    app.run(graph, {})
    price[0] = 7
    waiting = app.answer(graph, "yes")

    assert till.charged == []
    assert waiting.get("notes", []) == []


def test_the_question_asked_again_is_another_question(app, graph, price):
    (old,) = app.run(graph, {}).interrupts
    price[0] = 7
    (new,) = app.answer(graph, "yes").interrupts

    assert new.id != old.id


def test_the_answer_to_the_new_question_is_applied(app, graph, price, till):
    app.run(graph, {})
    price[0] = 7
    app.answer(graph, "yes")
    result = app.answer(graph, "still yes")

    assert result["notes"] == ["still yes: receipt 1"]
    assert till.charged == [7]


def test_the_old_question_takes_no_answer_any_more(app, graph, price):
    (old,) = app.run(graph, {}).interrupts
    price[0] = 7
    app.answer(graph, "yes")

    with pytest.raises(QuestionClosed):
        app.record_answer(graph, old.id, "no")


def test_a_keyed_answer_that_was_used_is_asked_for_again_when_its_question_changed(app, price):
    def pay(state):
        verdict = interrupt({"pay": price[0]}, key="price")
        return {"notes": [f"{verdict} {price[0]}", interrupt("really?")]}

    graph = app.chain(pay)
    app.run(graph, {})
    app.answer(graph, "yes")
    price[0] = 7
    waiting = app.answer(graph, "really")

    assert [question.value for question in waiting.interrupts] == [{"pay": 7}]
    assert app.answer(graph, "yes to")["notes"] == ["yes to 7", "really"]


def test_a_keyed_question_that_changed_is_superseded(app, price):
    def pay(state):
        interrupt({"pay": price[0]}, key="price")

    graph = app.chain(pay)
    (old,) = app.run(graph, {}).interrupts
    price[0] = 7
    app.answer(graph, "yes")

    assert app.status_of(old.id) == "superseded"


def test_a_volatile_question_may_show_something_else_each_time(app):
    now = itertools.count()
    heard = []

    def confirm(state):
        heard.append(interrupt({"asked at": next(now)}, key="verdict", volatile=True))

    graph = app.chain(confirm)
    app.run(graph, {})
    app.answer(graph, "yes")

    assert heard == ["yes"]


def test_a_volatile_question_keeps_its_answer_on_later_passes(app):
    now = itertools.count()

    def confirm(state):
        verdict = interrupt({"asked at": next(now)}, key="verdict", volatile=True)
        return {"notes": [verdict, interrupt("really?")]}

    graph = app.chain(confirm)
    app.run(graph, {})
    app.answer(graph, "yes")
    result = app.answer(graph, "really")

    assert result["notes"] == ["yes", "really"]


# --------------------------------------------------------------------------- changing every time
@pytest.fixture(params=[None, "verdict"], ids=["without a key", "with a key"])
def unstable(request, app):
    """A question whose payload is another one on every pass."""
    number = itertools.count(100)

    def confirm(state):
        interrupt({"ticket": next(number)}, key=request.param)

    return app.chain(confirm)


def test_a_question_that_changes_on_every_pass_ends_in_an_error(app, unstable):
    app.run(unstable, {})
    app.answer(unstable, "yes")

    with pytest.raises(UnstableQuestion):
        app.answer(unstable, "yes")


def test_the_error_shows_what_differs(app, unstable):
    app.run(unstable, {})
    app.answer(unstable, "yes")

    with pytest.raises(UnstableQuestion, match=r"(?s)'ticket': 101.*'ticket': 102"):
        app.answer(unstable, "yes")


def test_the_error_says_the_remedies(app, unstable):
    app.run(unstable, {})
    app.answer(unstable, "yes")

    with pytest.raises(UnstableQuestion, match=r"(?s)once.*key.*volatile=True"):
        app.answer(unstable, "yes")


def test_a_payload_computed_once_is_stable(app):
    number = itertools.count(100)

    def new_ticket():
        return next(number)

    def confirm(state):
        return {"notes": [interrupt({"ticket": once(new_ticket)})]}

    graph = app.chain(confirm)
    waiting = app.run(graph, {})

    assert [question.value for question in waiting.interrupts] == [{"ticket": 100}]
    assert app.answer(graph, "yes")["notes"] == ["yes"]


def test_a_thread_goes_on_when_the_unstable_question_was_mended(app):
    number = itertools.count(100)
    mended = []

    def confirm(state):
        payload = "sure?" if mended else {"ticket": next(number)}
        return {"notes": [interrupt(payload)]}

    graph = app.chain(confirm)
    app.run(graph, {})
    app.answer(graph, "yes")
    with pytest.raises(UnstableQuestion):
        app.answer(graph, "yes")
    mended.append(True)
    waiting = app.go_on(graph)

    assert [question.value for question in waiting.interrupts] == ["sure?"]
    assert app.answer(graph, "yes")["notes"] == ["yes"]


def test_the_order_of_a_payload_s_fields_does_not_make_it_another_question(app):
    turned = []

    def confirm(state):
        fields = [("pay", 5), ("to", "ana")]
        return {"notes": [interrupt(dict(reversed(fields) if turned else fields))]}

    graph = app.chain(confirm)
    app.run(graph, {})
    turned.append(True)

    assert app.answer(graph, "yes")["notes"] == ["yes"]
