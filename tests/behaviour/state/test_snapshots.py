"""A thread at one moment: now, or at a step that somebody names."""

from __future__ import annotations

from typing import Annotated, TypedDict

import pytest

from caesura import END, START, StateGraph, interrupt
from caesura.errors import GraphMismatch, NeedsCheckpointer, SchemaChanged, UnknownStep
from tests.behaviour.both import Story
from tests.behaviour.state.words import asking, before, id_of, saying


def test_a_thread_that_never_was_is_empty(app, line):
    state = app.state(line, thread="nobody")
    assert (state.values, state.next, state.tasks, state.created_at) == ({}, (), (), None)
    assert state.config["configurable"]["thread_id"] == "nobody"


def test_a_finished_thread_has_its_values_and_nothing_next(app, finished):
    state = app.state(finished)
    assert state.values == {"amount": 1, "notes": ["a", "b", "c"]}
    assert (state.next, state.tasks, state.interrupts) == ((), (), ())


def test_the_state_is_the_first_entry_of_the_history(app, finished):
    assert app.state(finished) == app.history(finished)[0]


def test_every_entry_can_be_looked_up_by_its_config(app, finished):
    history = app.history(finished)
    assert [app.state(finished, thread=entry.config) for entry in history] == history


def test_a_thread_can_be_named_by_its_config(app, finished):
    config = {"configurable": {"thread_id": "t"}}
    assert app.state(finished, thread=config) == app.state(finished)


def test_a_waiting_thread_tells_which_task_asks_what(app, waiting):
    (task,) = app.state(waiting).tasks
    assert (task.name, task.result) == ("review", None)
    assert [question.value for question in task.interrupts] == ["good?"]


def test_a_task_of_a_waiting_thread_keeps_its_id(app, waiting):
    (first,) = app.state(waiting).tasks
    app.go_on(waiting)
    (second,) = app.state(waiting).tasks
    assert first.id == second.id


def test_a_finished_sibling_shows_its_result_while_another_waits(app):
    graph = app.side_by_side(asking("good?"), saying("quick"))
    app.run(graph, {"amount": 1})
    results = {task.name: task.result for task in app.state(graph).tasks}
    assert results == {"review": None, "quick": {"notes": ["quick"]}}


def test_a_waiting_step_named_by_its_id_shows_the_committed_state_and_all_its_tasks(app):
    graph = app.side_by_side(asking("good?"), saying("quick"))
    app.run(graph, {"amount": 1})
    by_id = app.state(graph, thread=app.state(graph).config)
    assert by_id.values["notes"] == []
    assert by_id.next == ("quick", "review")


def test_a_failed_task_shows_its_error(app):
    def fail(state):
        raise ValueError("no paper")

    graph = app.chain(fail)
    with pytest.raises(ValueError, match="no paper"):
        app.run(graph, {"amount": 1})
    (task,) = app.state(graph).tasks
    assert isinstance(task.error, ValueError)
    assert app.state(graph).next == ("fail",)


def test_a_node_that_waits_in_its_edge_has_done_its_work(app):
    def route(state):
        return END if interrupt("stop?") else "work"

    builder = StateGraph(Story).add_node(saying("work")).add_edge(START, "work")
    graph = app.compile(builder.add_conditional_edges("work", route))
    app.run(graph, {"amount": 1})
    assert app.state(graph).values["notes"] == ["work"]
    assert [question.value for question in app.state(graph).interrupts] == ["stop?"]


def test_a_snapshot_does_not_change_with_its_thread(app, waiting):
    snapshot = app.state(waiting)
    snapshot.values["notes"].append("scribble")
    assert app.state(waiting).values["notes"] == ["draft"]


def test_a_step_that_does_not_exist_is_an_error(app, finished):
    config = app.state(finished).config
    config["configurable"]["checkpoint_id"] = "f" * 32
    with pytest.raises(UnknownStep, match="get_state_history"):
        app.state(finished, thread=config)


def test_a_step_of_another_thread_is_an_error(app, finished):
    app.run(finished, {"amount": 1}, thread="other")
    theirs = id_of(app.state(finished, thread="other"))
    with pytest.raises(UnknownStep):
        app.state(finished, thread={"configurable": {"thread_id": "t", "checkpoint_id": theirs}})


def test_an_id_of_a_deleted_thread_does_not_name_a_step_of_its_successor(app, finished):
    old = before(app, finished, "b").config
    app.call(finished, "delete_thread", "t")
    app.run(finished, {"amount": 1})
    with pytest.raises(UnknownStep):
        app.state(finished, thread=old)


def test_a_graph_without_a_store_has_nothing_to_look_at(app):
    graph = app.chain(saying("a"), checkpointer=None)
    with pytest.raises(NeedsCheckpointer, match="needs a store"):
        app.state(graph)


def test_another_graph_does_not_read_the_thread(app, finished):
    other = app.chain(saying("a"), name="another story")
    with pytest.raises(GraphMismatch, match="another story"):
        app.state(other)


def test_a_graph_with_another_reducer_does_not_reinterpret_the_thread(app, finished):
    class Counted(TypedDict, total=False):
        amount: int
        notes: Annotated[list, lambda left, right: right]

    other = app.chain(saying("a"), state=Counted)
    with pytest.raises(SchemaChanged, match="notes"):
        app.state(other)
