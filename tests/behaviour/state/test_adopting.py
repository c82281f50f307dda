"""Handing a thread over to another graph, or to other reducers, on purpose."""

from __future__ import annotations

from typing import Annotated, TypedDict

import pytest

from caesura.errors import GraphMismatch, NodeVanished, SchemaChanged, UnknownThread
from tests.behaviour.state.words import asking, saying


def longest(left: list, right: list) -> list:
    return max(left or [], right, key=len)


class Otherwise(TypedDict, total=False):
    amount: int
    notes: Annotated[list, longest]


def adopt(app, graph, thread="t", **options):
    app.call(graph, "adopt", thread, **options)


def test_another_graph_is_refused_until_it_has_adopted_the_thread(app, finished):
    other = app.chain(saying("x"), name="another story")
    with pytest.raises(GraphMismatch, match="adopt"):
        app.run(other, {"amount": 2})
    adopt(app, other)
    assert app.run(other, {"amount": 2})["notes"] == ["a", "b", "c", "x"]


def test_the_old_graph_is_refused_from_then_on(app, finished):
    adopt(app, app.chain(saying("x"), name="another story"))
    with pytest.raises(GraphMismatch, match="another story"):
        app.run(finished, {"amount": 2})


def test_other_reducers_are_refused_until_they_have_adopted_the_thread(app, finished):
    other = app.chain(saying("x"), state=Otherwise)
    with pytest.raises(SchemaChanged, match="adopt"):
        app.run(other, {"amount": 2})
    adopt(app, other, by="ana")
    assert app.run(other, {"notes": ["1", "2", "3", "4"]})["notes"] == ["1", "2", "3", "4"]


def test_the_history_stays_readable(app, finished):
    other = app.chain(saying("x"), name="another story")
    ids = [entry.config for entry in app.history(finished)]
    adopt(app, other)
    assert [entry.config for entry in app.history(other)] == ids


def test_a_question_stays_open_and_is_answered_in_the_new_graph(app, waiting):
    (question,) = app.state(waiting).interrupts
    other = app.chain(saying("draft"), asking("good?"), saying("send"), name="another story")
    adopt(app, other)
    assert app.state(other).interrupts == (question,)
    assert app.answer(other, "yes")["notes"] == ["draft", "good? yes", "send"]


def test_a_node_that_the_new_graph_does_not_have_is_named(app, waiting):
    other = app.chain(saying("draft"), name="another story")
    adopt(app, other)
    with pytest.raises(NodeVanished, match="'review'"):
        app.go_on(other)
    app.update(other, None, as_node="draft")
    assert app.go_on(other)["notes"] == ["draft"]


def test_a_thread_that_never_was_cannot_be_adopted(app, line):
    with pytest.raises(UnknownThread):
        adopt(app, line)


def test_adopting_one_s_own_thread_changes_nothing(app, finished):
    state = app.state(finished)
    adopt(app, finished)
    assert app.state(finished) == state
