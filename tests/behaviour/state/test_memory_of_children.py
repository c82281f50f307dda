"""What a graph inside of another one remembers between two calls."""

from __future__ import annotations

import pytest

from caesura import START, StateGraph
from tests.behaviour.both import Story
from tests.behaviour.state.words import asking, before, saying


def count(state):
    return {"notes": [f"call {len(state['notes']) + 1}"]}


def counting(**options):
    builder = StateGraph(Story).add_node(count).add_edge(START, "count")
    return builder.compile(name="memory", **options)


def calling(app, child):
    """A graph whose node calls the child and notes what it remembers last."""

    def call(state):
        return {"notes": [child.invoke({"amount": state["amount"]})["notes"][-1]]}

    return app.chain(call)


def test_it_forgets_if_nothing_is_said(app):
    graph = calling(app, counting())
    app.run(graph, {"amount": 1})
    assert app.run(graph, {"amount": 2})["notes"] == ["call 1", "call 1"]


def test_with_a_memory_of_its_own_it_goes_on_where_it_was(app):
    graph = calling(app, counting(checkpointer=True))
    for amount in (1, 2, 3):
        result = app.run(graph, {"amount": amount})
    assert result["notes"] == ["call 1", "call 2", "call 3"]


def test_the_memory_is_of_one_thread(app):
    graph = calling(app, counting(checkpointer=True))
    app.run(graph, {"amount": 1})
    assert app.run(graph, {"amount": 1}, thread="other")["notes"] == ["call 1"]


def test_the_memory_survives_a_restart(app):
    app.run(calling(app, counting(checkpointer=True)), {"amount": 1})
    app.restart()
    graph = calling(app, counting(checkpointer=True))
    assert app.run(graph, {"amount": 2})["notes"] == ["call 1", "call 2"]


def test_the_memory_is_kept_through_pruning(app):
    graph = calling(app, counting(checkpointer=True))
    app.run(graph, {"amount": 1})
    app.call(graph, "prune", "t", keep_last=1)
    assert app.run(graph, {"amount": 2})["notes"] == ["call 1", "call 2"]


def test_two_nodes_that_call_one_child_do_not_share_its_memory(app):
    child = counting(checkpointer=True)

    def left(state):
        return {"notes": [child.invoke({"amount": 1})["notes"][-1]]}

    def right(state):
        return {"notes": [child.invoke({"amount": 1})["notes"][-1]]}

    graph = app.side_by_side(left, right)
    app.run(graph, {"amount": 1})
    assert app.run(graph, {"amount": 1})["notes"] == ["call 1", "call 1", "call 2", "call 2"]


def test_the_memory_can_be_looked_at_while_nothing_runs(app):
    graph = calling(app, counting(checkpointer=True))
    app.run(graph, {"amount": 1})
    memory = app.state(graph, thread={"configurable": {"thread_id": "t", "checkpoint_ns": "call"}})
    assert memory.values == {"amount": 1, "notes": ["call 1"]}


def test_going_back_restores_the_memory_as_of_then(app):
    graph = calling(app, counting(checkpointer=True))
    for amount in (1, 2, 3):
        app.run(graph, {"amount": amount})
    second = [entry for entry in app.history(graph) if entry.next == ("call",)][1]
    app.run(graph, None, config=second.config)
    assert app.state(graph).values["notes"] == ["call 1", "call 2"]
    assert app.run(graph, {"amount": 4})["notes"] == ["call 1", "call 2", "call 3"]


def test_a_copied_thread_has_the_memory_too(app):
    graph = calling(app, counting(checkpointer=True))
    app.run(graph, {"amount": 1})
    app.call(graph, "copy_thread", "t", "copy")
    assert app.run(graph, {"amount": 2}, thread="copy")["notes"] == ["call 1", "call 2"]


def test_a_waiting_child_remembers_only_what_it_finished(app):
    builder = StateGraph(Story).add_node(count).add_node(asking("good?")).add_edge(START, "count")
    child = builder.add_edge("count", "review").compile(name="memory", checkpointer=True)
    builder = StateGraph(Story).add_node("child", child).add_edge(START, "child")
    graph = app.compile(builder)
    app.run(graph, {"amount": 1})
    app.answer(graph, "yes")
    app.run(graph, {"amount": 2})
    config = app.state(graph).tasks[0].state
    notes = app.state(graph, thread=config).values["notes"]
    assert notes[:2] == ["call 1", "good? yes"]


def test_without_any_memory_it_leaves_no_steps(app):
    graph = calling(app, counting(checkpointer=False))
    app.run(graph, {"amount": 1})
    assert before(app, graph, "call").tasks[0].state is None
    assert app.run(graph, {"amount": 2})["notes"] == ["call 1", "call 1"]


def test_without_any_memory_it_cannot_ask(app):
    builder = StateGraph(Story).add_node(asking("good?")).add_edge(START, "review")
    graph = calling(app, builder.compile(name="asks", checkpointer=False))
    with pytest.raises(RuntimeError, match="checkpointer"):
        app.run(graph, {"amount": 1})


def test_a_graph_with_the_memory_of_a_parent_does_not_run_alone(app):
    builder = StateGraph(Story).add_node(saying("a")).add_edge(START, "a")
    with pytest.raises(Exception, match="checkpointer=True"):
        builder.compile(checkpointer=True).invoke({"amount": 1}, thread="t")
