"""Questions in parallel branches: nobody's pause reruns, hides or blocks another branch's work."""

from __future__ import annotations

import operator
from typing import Annotated, Any, TypedDict

import pytest

from caesura import END, START, Send, StateGraph, interrupt
from tests.behaviour.both import Story


@pytest.fixture
def ran():
    return []


def asking(what, ran):
    """A node that asks for something."""

    def node(state):
        ran.append(what)
        return {"notes": [f"{what} {interrupt(f'{what}?')}"]}

    node.__name__ = what
    return node


def finishing(what, ran):
    """A node that just finishes."""

    def node(state):
        ran.append(what)
        return {"notes": [what]}

    node.__name__ = what
    return node


def ids_of(result):
    return {question.value: question.id for question in result.interrupts}


def test_all_branches_ask_at_once(app, ran):
    graph = app.side_by_side(asking("age", ran), asking("name", ran))
    assert set(ids_of(app.run(graph, {}))) == {"age?", "name?"}


def test_a_finished_sibling_is_not_run_again(app, ran):
    graph = app.side_by_side(asking("age", ran), finishing("name", ran))
    app.run(graph, {})
    app.answer(graph, "7")
    assert ran.count("name") == 1


def test_the_waiting_result_shows_the_finished_sibling(app, ran):
    graph = app.side_by_side(asking("age", ran), finishing("name", ran))
    assert app.run(graph, {})["notes"] == ["name"]


def test_only_the_waiting_branch_is_next(app, ran):
    graph = app.side_by_side(asking("age", ran), finishing("name", ran))
    app.run(graph, {})
    assert app.state(graph).next == ("age",)


def test_what_follows_both_branches_waits_for_the_slower_one(app, ran):
    builder = StateGraph(Story)
    for node in (asking("age", ran), finishing("name", ran), finishing("ship", ran)):
        builder.add_node(node)
    builder.add_edge(START, "age").add_edge(START, "name")
    builder.add_edge(["age", "name"], "ship").add_edge("ship", END)
    graph = app.compile(builder)
    app.run(graph, {})
    before = ran.count("ship")
    app.answer(graph, "7")

    assert (before, ran.count("ship")) == (0, 1)


def test_an_answered_branch_is_not_run_again_with_the_last_one(app, ran):
    graph = app.side_by_side(asking("age", ran), asking("name", ran))
    ids = ids_of(app.run(graph, {}))
    app.answer(graph, {ids["age?"]: "7"})
    ran.clear()
    app.answer(graph, {ids["name?"]: "Ana"})
    assert ran == ["name"]


def test_the_order_of_answers_does_not_change_the_state(app, ran):
    graph = app.side_by_side(asking("age", ran), asking("name", ran))
    ids = ids_of(app.run(graph, {}))
    app.answer(graph, {ids["name?"]: "Ana"})
    result = app.answer(graph, {ids["age?"]: "7"})
    assert result["notes"] == ["age 7", "name Ana"]


# ----------------------------------------------------------------------------------------- sends
class Batch(TypedDict, total=False):
    items: list[int]
    notes: Annotated[list[Any], operator.add]


def a_question_for_each_item(app):
    def check(item):
        return {"notes": [f"{item}: {interrupt(f'item {item}?')}"]}

    builder = StateGraph(Batch).add_node(check)
    builder.add_conditional_edges(
        START, lambda state: [Send("check", item) for item in state["items"]]
    )
    return app.compile(builder)


def test_every_sent_task_asks(app):
    waiting = app.run(a_question_for_each_item(app), {"items": [1, 2, 3]})
    assert [question.value for question in waiting.interrupts] == ["item 1?", "item 2?", "item 3?"]


def test_sent_tasks_with_equal_questions_get_their_own_answers(app):
    def check(item):
        return {"notes": [f"{item}: {interrupt('fine?')}"]}

    builder = StateGraph(Batch).add_node(check)
    builder.add_conditional_edges(
        START, lambda state: [Send("check", item) for item in state["items"]]
    )
    graph = app.compile(builder)
    first, second = app.run(graph, {"items": [1, 2]}).interrupts
    result = app.answer(graph, {second.id: "b", first.id: "a"})

    assert result["notes"] == ["1: a", "2: b"]


def test_sent_tasks_are_answered_one_by_one_and_keep_their_order(app):
    graph = a_question_for_each_item(app)
    ids = ids_of(app.run(graph, {"items": [1, 2, 3]}))
    for item in (3, 1, 2):
        result = app.answer(graph, {ids[f"item {item}?"]: "ok"})

    assert result["notes"] == ["1: ok", "2: ok", "3: ok"]


# ---------------------------------------------------------------------------- beside a failure
@pytest.fixture
def broken():
    """True while the printer is broken."""
    return [True]


@pytest.fixture
def one_asks_one_fails(app, ran, broken):
    def printer(state):
        ran.append("printer")
        if broken:
            raise ValueError("out of paper")
        return {"notes": ["printed"]}

    return app.side_by_side(asking("age", ran), printer)


def test_a_failure_beside_a_question_is_raised(app, one_asks_one_fails):
    with pytest.raises(ValueError, match="out of paper"):
        app.run(one_asks_one_fails, {})


def test_a_question_beside_a_failure_is_open(app, one_asks_one_fails):
    with pytest.raises(ValueError, match="out of paper"):
        app.run(one_asks_one_fails, {})
    assert app.open_questions(one_asks_one_fails) == ["age?"]


def test_a_failed_branch_is_tried_again_beside_a_waiting_one(app, one_asks_one_fails, ran, broken):
    with pytest.raises(ValueError, match="out of paper"):
        app.run(one_asks_one_fails, {})
    asked = app.state(one_asks_one_fails).interrupts
    broken.clear()
    ran.clear()
    waiting = app.go_on(one_asks_one_fails)

    assert ran == ["printer"]
    assert waiting.interrupts == asked
    assert sorted(app.answer(one_asks_one_fails, "7")["notes"]) == ["age 7", "printed"]
