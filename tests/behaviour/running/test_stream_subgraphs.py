"""Streams of graphs inside graphs: what the outer stream shows, and what subgraphs=True adds."""

from __future__ import annotations

from typing import Any

from caesura import START, Command, StateGraph, get_stream_writer, interrupt
from tests.behaviour.both import App, Story


def inner(state: Story) -> dict[str, Any]:
    get_stream_writer()("inside")
    return {"notes": ["inner"]}


def inner_question(state: Story) -> dict[str, Any]:
    return {"notes": [interrupt("inside?")]}


def outer(state: Story) -> dict[str, Any]:
    return {"amount": state["amount"] + 1}


def child(*nodes: Any) -> Any:
    builder = StateGraph(Story).add_sequence(list(nodes))
    return builder.add_edge(START, nodes[0].__name__).compile()


def around(app: App, part: Any) -> Any:
    """A graph of one plain node and a subgraph after it."""
    builder = StateGraph(Story).add_node(outer).add_node("child", part)
    return app.compile(builder.add_edge(START, "outer").add_edge("outer", "child"))


def test_without_subgraphs_only_the_outer_nodes_are_seen(app: App) -> None:
    chunks = app.stream(around(app, child(inner)), {"amount": 1}, stream_mode="updates")
    assert [list(chunk) for chunk in chunks] == [["outer"], ["child"]]


def test_with_subgraphs_every_chunk_carries_its_namespace(app: App) -> None:
    graph = around(app, child(inner))
    chunks = app.stream(graph, {"amount": 1}, stream_mode="updates", subgraphs=True)
    assert [(len(namespace), list(chunk)) for namespace, chunk in chunks] == [
        (0, ["outer"]),
        (1, ["inner"]),
        (0, ["child"]),
    ]


def test_a_namespace_names_the_node_and_its_task(app: App) -> None:
    graph = around(app, child(inner_question))
    chunks = app.stream(graph, {"amount": 1}, stream_mode="values", subgraphs=True)
    namespaces = {namespace for namespace, _ in chunks if namespace}
    assert namespaces == {(f"child:{app.state(graph).tasks[0].id}",)}


def test_a_list_of_modes_and_subgraphs_yield_triples(app: App) -> None:
    graph = around(app, child(inner))
    chunks = app.stream(
        graph, {"amount": 1}, stream_mode=["updates", "custom", "values"], subgraphs=True
    )
    assert [(len(namespace), mode) for namespace, mode, _ in chunks] == [
        (0, "values"),
        (0, "updates"),
        (0, "values"),
        (1, "values"),
        (1, "custom"),
        (1, "updates"),
        (1, "values"),
        (0, "updates"),
        (0, "values"),
    ]


def test_a_child_that_is_called_inside_a_node_streams_under_that_node(app: App) -> None:
    part = child(inner)

    def caller(state: Story) -> dict[str, Any]:
        return {"notes": part.invoke({"amount": state["amount"]})["notes"]}

    chunks = app.stream(app.chain(caller), {"amount": 1}, stream_mode="updates", subgraphs=True)
    (inside, _), (outside, _) = chunks
    assert inside[0].startswith("caller:")
    assert outside == ()


def test_a_grandchild_has_a_namespace_of_two_parts(app: App) -> None:
    middle = StateGraph(Story).add_node("grandchild", child(inner)).add_edge(START, "grandchild")
    chunks = app.stream(
        around(app, middle.compile()), {"amount": 1}, stream_mode="updates", subgraphs=True
    )
    deepest = max((namespace for namespace, _ in chunks), key=len)
    assert [part.split(":")[0] for part in deepest] == ["child", "grandchild"]


def test_a_question_deep_inside_is_shown_once(app: App) -> None:
    middle = StateGraph(Story).add_node("grandchild", child(inner_question))
    graph = around(app, middle.add_edge(START, "grandchild").compile())
    chunks = app.stream(graph, {"amount": 1}, stream_mode="updates")
    asked = [chunk["__interrupt__"] for chunk in chunks if "__interrupt__" in chunk]
    assert [[question.value for question in questions] for questions in asked] == [["inside?"]]


def test_a_resumed_child_streams_only_what_it_still_had_to_do(app: App) -> None:
    graph = around(app, child(inner, inner_question))
    app.run(graph, {"amount": 1})
    chunks = app.stream(graph, Command(resume="yes"), stream_mode="updates", subgraphs=True)
    ran = [name for _, chunk in chunks for name in chunk if "__metadata__" not in chunk]
    assert ran == ["inner_question", "child"]


def test_custom_chunks_of_a_child_need_subgraphs(app: App) -> None:
    graph = around(app, child(inner))
    assert app.stream(graph, {"amount": 1}, thread="a", stream_mode="custom") == []
    ((_, chunk),) = app.stream(
        graph, {"amount": 1}, thread="b", stream_mode="custom", subgraphs=True
    )
    assert chunk == "inside"
