"""The plan that a builder makes: what is in it, and that it is nobody else's."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any, TypedDict

import pytest

from caesura.core.control import END, START, RetryPolicy
from caesura.core.graph import GraphBuilder
from caesura.core.plan import Plan
from tests.core.graphs import Compiled, Log, graph_of, line_of, nothing, plan_of


@dataclass
class Receipt:
    total: int


class Verdict(Enum):
    YES = "yes"


class Shipping(TypedDict):
    address: str


class Given(TypedDict):
    n: int


CHILD = Compiled(GraphBuilder(Shipping).add_node("c", nothing).add_edge(START, "c"))


def pays(state: Log) -> None:
    Receipt(5)


def calls_a_graph(state: Log) -> None:
    CHILD.plan.nodes.get("c")


def routes_by_a_graph(state: Log) -> str:
    return str(CHILD)


def shape(plan: Plan) -> Any:
    """What can be compared of a plan: everything but the functions made for it."""
    return (
        plan.name,
        list(plan.state.channels.values()),
        plan.input.keys,
        plan.output.keys,
        [
            (n.name, n.action, n.schema.keys, n.retry, n.timeout, n.ends)
            for n in plan.nodes.values()
        ],
        plan.edges,
        plan.leads_to_end,
        plan.joins,
        plan.joins_by_source,
        [(source, [b.name for b in branches]) for source, branches in plan.branches.items()],
        plan.interrupt_before,
        plan.interrupt_after,
        plan.types,
        plan.children,
    )


def rich() -> GraphBuilder:
    builder = line_of("a", "b", "c").add_edge(["a", "b"], "c").add_edge("c", END)
    builder.add_conditional_edges("a", lambda s: "b", ["b"])
    return builder.add_node("d", pays, error_handler=nothing, metadata={"owner": "ana"})


def test_freezing_twice_gives_the_same_plan() -> None:
    builder = rich()
    assert shape(plan_of(builder)) == shape(plan_of(builder))


def test_a_plan_does_not_change_with_its_builder() -> None:
    builder = rich()
    plan = plan_of(builder)
    before = shape(plan)
    builder.add_node("late", calls_a_graph).add_edge("late", "a").add_edge(["a", "late"], "b")
    builder.add_conditional_edges("a", lambda s: "late")
    builder.set_node_defaults(retry_policy=RetryPolicy(), error_handler=nothing)
    assert shape(plan) == before
    assert shape(plan_of(builder)) != before


def test_metadata_is_copied() -> None:
    metadata = {"owner": "ana"}
    builder = GraphBuilder(Log).add_node("a", nothing, metadata=metadata).add_edge(START, "a")
    plan = plan_of(builder)
    metadata["owner"] = "bo"
    assert plan.nodes["a"].metadata == {"owner": "ana"}


# ------------------------------------------------------------------------------------------- edges
def test_targets_stand_in_the_order_of_names_and_the_end_apart() -> None:
    builder = graph_of("b", "a").add_edge(START, "b").add_edge(START, "a").add_edge("a", END)
    plan = plan_of(builder)
    assert plan.edges == {START: ("a", "b")}
    assert plan.leads_to_end == {"a"}


def test_a_join_is_one_whatever_the_order_of_its_sources() -> None:
    builder = line_of("a", "b", "c").add_edge(["a", "b"], "c").add_edge(["b", "a"], "c")
    plan = plan_of(builder)
    (join,) = plan.joins
    assert (join.sources, join.target) == ({"a", "b"}, "c")
    assert plan.joins_by_source == {"a": (join,), "b": (join,)}


def test_a_join_to_the_end_waits_for_nobody() -> None:
    plan = plan_of(line_of("a", "b").add_edge(["a", "b"], END))
    assert plan.joins == ()
    assert plan.leads_to_end == {"a", "b"}


# ---------------------------------------------------------------------------- where a plan pauses
@pytest.mark.parametrize("given", ["*", ["*"], ["a", "*"]])
def test_a_star_is_every_node(given: Any) -> None:
    assert plan_of(line_of("a"), interrupt_before=given).interrupt_before == "*"


def test_breakpoints_are_names() -> None:
    plan = plan_of(line_of("a", "b"), interrupt_before=["b"], interrupt_after=("a", "b"))
    assert (plan.interrupt_before, plan.interrupt_after) == ({"b"}, {"a", "b"})


# ----------------------------------------------------------------------------------------- schemas
def test_input_and_output_have_schemas_of_their_own() -> None:
    builder = GraphBuilder(Log, input_schema=Given, output_schema=Shipping)
    plan = plan_of(builder.add_node("a", nothing).add_edge(START, "a"))
    assert (plan.input.keys, plan.output.keys) == (("n",), ("address",))
    assert plan.state.channels.keys() == {"log", "n", "address"}
    assert plan.state.schema.keys == ("log", "n")


def test_a_strict_plan_has_a_strict_state() -> None:
    assert plan_of(line_of("a"), strict=True).state.strict
    assert not plan_of(line_of("a")).state.strict


def test_a_subgraph_is_given_plain_values() -> None:
    builder = GraphBuilder(Receipt).add_node("child", Compiled(line_of("one")))
    node = plan_of(builder.add_edge(START, "child")).nodes["child"]
    assert node.is_graph
    assert node.schema.build({"total": 3}) == {"total": 3}


# ------------------------------------------------------------------------------ types and children
def test_types_come_from_schemas_code_annotations_and_what_is_given() -> None:
    builder = GraphBuilder(Log, input_schema=Given).add_node("a", pays).add_edge(START, "a")
    types = plan_of(builder, types=[Verdict]).types
    assert {Log, Given, Receipt, Verdict} <= set(types)
    assert len(types) == len(set(types))


def test_graphs_in_a_node_are_its_children_as_a_node_in_its_function_or_in_its_edges() -> None:
    builder = GraphBuilder(Log).add_node("node", CHILD).add_node("inside", calls_a_graph)
    builder.add_node("edge", nothing).add_node("none", nothing).add_edge(START, "node")
    builder.add_conditional_edges("edge", routes_by_a_graph)
    builder.add_conditional_edges(START, routes_by_a_graph)
    plan = plan_of(builder)
    assert plan.children == dict.fromkeys((START, "node", "inside", "edge"), (CHILD,))


def test_a_childs_types_are_its_parents() -> None:
    builder = GraphBuilder(Log).add_node("inside", calls_a_graph).add_edge(START, "inside")
    assert Shipping in plan_of(builder).types
