"""Names that lead nowhere, and graphs that begin nowhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import pytest

from caesura.core.control import END, START, Command
from caesura.core.graph import GraphBuilder
from caesura.errors import InvalidGraph, UnknownNode
from tests.core.graphs import Log, graph_of, line_of, nothing, plan_of


def goes_astray(state: Log) -> Command[Literal["shipp"]]:
    return Command(goto="ship")


MISTAKES: dict[str, tuple[Callable[[GraphBuilder], object], str]] = {
    "an edge": (
        lambda b: b.add_edge("review", "shipp"),
        "The edge from 'review' leads to 'shipp', which is no node. Did you mean 'ship'?",
    ),
    "an edge's source": (
        lambda b: b.add_edge("reviw", "ship"),
        "The edge to 'ship' starts at 'reviw', which is no node. Did you mean 'review'?",
    ),
    "a join": (
        lambda b: b.add_edge(["review", "ship"], "notfy"),
        "The join of 'review' and 'ship' leads to 'notfy', which is no node.",
    ),
    "a join's source": (
        lambda b: b.add_edge(["reviw", "ship"], "review"),
        "The join to 'review' waits for 'reviw', which is no node. Did you mean 'review'?",
    ),
    "a conditional edge": (
        lambda b: b.add_conditional_edges("review", lambda s: True, {True: "shipp"}),
        (
            "The conditional edge 'condition' of 'review' leads to 'shipp', which is no node. "
            "Did you mean 'ship'?"
        ),
    ),
    "a conditional edge's source": (
        lambda b: b.add_conditional_edges("reviw", lambda s: "ship"),
        (
            "The conditional edge 'condition' starts at 'reviw', which is no node. "
            "Did you mean 'review'?"
        ),
    ),
    "a command": (
        lambda b: b.add_node("decide", goes_astray),
        "The Command of node 'decide' leads to 'shipp', which is no node. Did you mean 'ship'?",
    ),
    "the end in quotes": (
        lambda b: b.add_edge("ship", "END"),
        (
            "The edge from 'ship' leads to 'END', which is no node. "
            "Use the constant: from caesura import END."
        ),
    ),
    "the start in quotes": (
        lambda b: b.add_edge("start", "ship"),
        (
            "The edge to 'ship' starts at 'start', which is no node. "
            "Use the constant: from caesura import START."
        ),
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_an_unknown_name_is_refused_with_its_edge_and_the_nearest_name(mistake: str) -> None:
    make, message = MISTAKES[mistake]
    builder = line_of("review", "ship")
    make(builder)
    with pytest.raises(UnknownNode) as refused:
        builder.validate()
    assert str(refused.value).startswith(message)


def test_the_values_of_a_refusal_can_be_read() -> None:
    with pytest.raises(UnknownNode) as refused:
        line_of("review").add_edge("review", "nowhere").validate()
    assert (refused.value.name, refused.value.known) == ("nowhere", ("review",))
    assert "graph.add_node('nowhere', ...)" in str(refused.value)


def test_a_graph_begins_somewhere() -> None:
    with pytest.raises(InvalidGraph, match=r"no entry point.*add_edge\(START, 'a'\)"):
        graph_of("a", "b").add_edge("a", "b").validate()


def test_a_conditional_entry_is_an_entry() -> None:
    graph_of("a").set_conditional_entry_point(lambda s: "a").validate()


def test_nodes_that_only_a_command_or_a_send_reaches_are_fine() -> None:
    line_of("a").add_node("lonely", nothing).validate()


def test_edges_may_be_added_before_their_nodes() -> None:
    builder = GraphBuilder(Log).add_edge(START, "a").add_edge("a", END)
    builder.add_node("a", nothing).validate()


@pytest.mark.parametrize("where", ["interrupt_before", "interrupt_after"])
def test_a_breakpoint_at_an_unknown_node_is_refused(where: str) -> None:
    with pytest.raises(UnknownNode, match=f"{where} names 'reviw'.*'review'"):
        plan_of(line_of("review"), **{where: ["reviw"]})


def test_validate_takes_breakpoints_too() -> None:
    line_of("a").validate(interrupt=["a"]).validate(interrupt="*")
    with pytest.raises(UnknownNode, match="'b'"):
        line_of("a").validate(interrupt=["b"])
