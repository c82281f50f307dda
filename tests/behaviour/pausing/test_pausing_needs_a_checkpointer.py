"""Without a checkpointer there is nowhere to wait; the error says what to add."""

from __future__ import annotations

import pytest

from caesura import END, START, StateGraph, interrupt, workflow
from caesura.errors import NeedsCheckpointer
from tests.behaviour.both import Story


def confirm(state):
    return {"notes": [interrupt("sure?")]}


def without_a_checkpointer():
    builder = StateGraph(Story).add_node(confirm)
    return builder.add_edge(START, "confirm").add_edge("confirm", END).compile()


def test_a_question_without_a_checkpointer_says_what_to_add(app):
    with pytest.raises(NeedsCheckpointer, match="checkpointer="):
        app.call(without_a_checkpointer(), "invoke", {})


def test_a_question_in_a_subgraph_without_a_checkpointer_anywhere_says_what_to_add(app):
    builder = StateGraph(Story).add_node("inner", without_a_checkpointer())
    graph = builder.add_edge(START, "inner").compile()

    with pytest.raises(NeedsCheckpointer, match="checkpointer="):
        app.call(graph, "invoke", {})


def test_a_question_in_a_workflow_without_a_checkpointer_says_what_to_add(app):
    @workflow
    def purchase(item):
        return interrupt(f"price of {item}?")

    with pytest.raises(NeedsCheckpointer, match="checkpointer="):
        app.call(purchase, "invoke", "tea")


def test_a_subgraph_waits_by_its_parent_s_checkpointer(app):
    builder = StateGraph(Story).add_node("inner", without_a_checkpointer())
    graph = app.compile(builder.add_edge(START, "inner"))
    waiting = app.run(graph, {})

    assert [question.value for question in waiting.interrupts] == ["sure?"]
