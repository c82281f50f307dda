"""When a node fails, its error handler may ask a person what to do."""

from __future__ import annotations

import pytest

from caesura import END, START, Command, StateGraph, interrupt
from caesura.errors import RecordedError
from tests.behaviour.both import Story


class CardDeclined(Exception):
    """An error that only this program knows."""


class Attempt:
    """A node's work that always fails, and counts."""

    def __init__(self, error: Exception) -> None:
        self.error, self.made = error, 0

    def __call__(self, state):
        self.made += 1
        raise self.error


def handled(app, attempt, handler):
    """charge, with a handler; ship comes after it when all is well."""

    def charge(state):
        return attempt(state)

    def ship(state):
        return {"notes": ["shipped"]}

    builder = StateGraph(Story).add_node(charge, error_handler=handler).add_node(ship)
    builder.add_edge(START, "charge").add_edge("charge", "ship").add_edge("ship", END)
    return app.compile(builder)


@pytest.fixture
def attempt():
    return Attempt(ValueError("card declined"))


@pytest.fixture
def graph(app, attempt):
    def ask_what_now(state, error):
        answer = interrupt(f"{error.node} failed with {error.error}; what now?")
        return Command(update={"notes": [answer]}, goto="ship" if answer == "ship" else END)

    return handled(app, attempt, ask_what_now)


def test_a_handler_may_ask(app, graph):
    waiting = app.run(graph, {})
    assert [question.value for question in waiting.interrupts] == [
        "charge failed with card declined; what now?"
    ]


@pytest.mark.parametrize(
    ("answer", "notes"),
    [("ship", ["ship", "shipped"]), ("stop", ["stop"])],
)
def test_a_handler_does_what_the_answer_says(app, graph, answer, notes):
    app.run(graph, {})
    assert app.answer(graph, answer)["notes"] == notes


def test_the_failed_node_is_not_run_again_while_its_handler_asks(app, graph, attempt):
    app.run(graph, {})
    app.answer(graph, "ship")
    assert attempt.made == 1


def test_after_a_pause_a_builtin_error_is_itself_again(app, attempt):
    seen = []

    def ask(state, error):
        seen.append(error.error)
        interrupt("what now?")

    graph = handled(app, attempt, ask)
    app.run(graph, {})
    app.answer(graph, "nothing")

    assert [type(error) for error in seen] == [ValueError, ValueError]
    assert str(seen[1]) == "card declined"


def test_after_a_pause_an_error_of_an_own_type_is_a_record_of_it(app):
    seen = []

    def ask(state, error):
        seen.append(error.error)
        interrupt("what now?")

    graph = handled(app, Attempt(CardDeclined("card declined")), ask)
    app.run(graph, {})
    app.answer(graph, "nothing")

    assert isinstance(seen[1], RecordedError)
    assert seen[1].type_name.endswith("CardDeclined")
    assert seen[1].message == "card declined"
