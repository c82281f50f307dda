"""What may be added to a graph, and what is refused at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Annotated, Any, Literal, TypedDict

import pytest

from caesura.core.control import END, START, Command, NodeError, RetryPolicy, TimeoutPolicy
from caesura.core.graph import GraphBuilder
from caesura.errors import AuthoringError, InvalidGraph, Unsupported
from tests.core.graphs import Compiled, Log, graph_of, line_of, nothing, plan_of


class Private(TypedDict):
    secret: int


@dataclass
class Item:
    price: int


def review(state: Log) -> dict[str, int]:
    return {}


# ------------------------------------------------------------------------------------------- names
def test_a_node_takes_its_functions_name() -> None:
    assert list(GraphBuilder(Log).add_node(review).nodes) == ["review"]


def test_a_partial_takes_the_name_of_what_it_fills() -> None:
    def charge(state: Log, *, rate: int) -> None: ...

    assert list(GraphBuilder(Log).add_node(partial(charge, rate=1)).nodes) == ["charge"]


def test_an_object_takes_its_classs_name() -> None:
    class Reviewer:
        def __call__(self, state: Log) -> None: ...

    assert list(GraphBuilder(Log).add_node(Reviewer()).nodes) == ["Reviewer"]


def test_a_compiled_graph_takes_its_own_name() -> None:
    child = Compiled(line_of("one"), name="billing")
    assert list(GraphBuilder(Log).add_node(child).nodes) == ["billing"]


@pytest.mark.parametrize("name", [START, END, "__input__", "__copy__", "__interrupt__", "*"])
def test_reserved_names_are_refused(name: str) -> None:
    with pytest.raises(InvalidGraph, match="reserved name"):
        GraphBuilder(Log).add_node(name, nothing)


@pytest.mark.parametrize("name", ["a:b", "a|b", ""])
def test_names_that_would_break_a_path_are_refused(name: str) -> None:
    with pytest.raises(InvalidGraph, match="cannot be a node's name"):
        GraphBuilder(Log).add_node(name, nothing)


def test_a_name_is_given_once() -> None:
    with pytest.raises(InvalidGraph, match=r"already a node 'a'.*another name"):
        graph_of("a").add_node("a", nothing)


def test_a_name_alone_is_no_node() -> None:
    with pytest.raises(InvalidGraph, match=r"add_node\('a', fn\)"):
        GraphBuilder(Log).add_node("a")


def test_a_refused_node_leaves_the_graph_as_it_was() -> None:
    builder = graph_of("a")
    with pytest.raises(InvalidGraph):
        builder.add_node("b", nothing, timeout=0)
    assert list(builder.nodes) == ["a"]


# ------------------------------------------------------------------------------ what can be a node
def test_what_cannot_be_called_is_no_node() -> None:
    with pytest.raises(InvalidGraph, match="Node 'a' is 5, which cannot be called"):
        GraphBuilder(Log).add_node("a", 5)


def test_a_graph_that_was_not_compiled_is_no_node_and_the_message_says_how_to_compile_it() -> None:
    with pytest.raises(InvalidGraph, match=r"add_node\('child', graph.compile\(\)\)"):
        GraphBuilder(Log).add_node("child", line_of("one"))


def test_a_generator_is_no_node() -> None:
    def a(state: Log) -> Iterator[int]:
        yield 1

    with pytest.raises(InvalidGraph, match="Node 'a' is a generator"):
        GraphBuilder(Log).add_node(a)


def test_a_parameter_that_nothing_fills_is_refused_by_name() -> None:
    def a(state: Log, database: Any) -> None: ...

    with pytest.raises(InvalidGraph, match="Node 'a' has a parameter 'database'"):
        GraphBuilder(Log).add_node(a)


def test_only_error_handlers_are_told_an_error() -> None:
    def a(state: Log, error: NodeError) -> None: ...

    with pytest.raises(InvalidGraph, match="Node 'a' has a parameter 'error'"):
        GraphBuilder(Log).add_node(a)
    plan = plan_of(graph_of("b").add_edge(START, "b").add_node("c", nothing, error_handler=a))
    assert plan.nodes["__error_handler__c"].inject == ("error",)


def test_a_node_is_asked_by_name_for_what_it_wants() -> None:
    async def a(state: Log, config: Any, runtime: Any, *, writer: Any, limit: int = 3) -> None: ...

    node = plan_of(GraphBuilder(Log).add_node(a).add_edge(START, "a")).nodes["a"]
    assert node.is_async
    assert node.inject == ("config", "runtime", "writer")


def test_a_runnable_is_called_by_its_invoke() -> None:
    class Chain:
        def get_name(self) -> str:
            return "chain"

        def invoke(self, value: Any, config: Any = None) -> Any:
            return value

    chain = Chain()
    node = plan_of(GraphBuilder(Log).add_node(chain).add_edge(START, "chain")).nodes["chain"]
    assert node.action == chain.invoke
    assert node.inject == ("config",)


# ---------------------------------------------------------------------------------- what they see
def test_a_node_sees_the_whole_state() -> None:
    assert plan_of(line_of("a")).nodes["a"].schema.type is Log


def test_a_node_sees_what_its_first_parameter_is_annotated_with() -> None:
    def a(state: Annotated[Private, "mine"]) -> None: ...

    def b(item: Item) -> None: ...

    plan = plan_of(GraphBuilder(Log).add_node(a).add_node(b).add_edge(START, "a"))
    assert plan.nodes["a"].schema.type is Private
    assert plan.nodes["b"].schema.form == "dataclass"
    assert {"secret", "price"} <= plan.state.channels.keys()


def test_input_schema_wins_over_the_annotation() -> None:
    def a(state: Private) -> None: ...

    plan = plan_of(GraphBuilder(Log).add_node(a, input_schema=Item).add_edge(START, "a"))
    assert plan.nodes["a"].schema.type is Item


@pytest.mark.parametrize("annotation", [dict, dict[str, Any], Any, int, tuple[int, int], "Missing"])
def test_annotations_that_are_no_schemas_are_passed_over(annotation: Any) -> None:
    def a(state: Any) -> None: ...

    a.__annotations__["state"] = annotation
    plan = plan_of(GraphBuilder(Log).add_node(a).add_edge(START, "a"))
    assert plan.nodes["a"].schema.type is Log


def test_a_state_without_keys_is_given_bare_whatever_the_annotation_says() -> None:
    def a(item: Item) -> None: ...

    plan = plan_of(GraphBuilder(Annotated[list, list.__add__]).add_node(a).add_edge(START, "a"))
    assert plan.nodes["a"].schema.form == "bare"


def test_a_conditional_edge_sees_the_state_as_its_node_does() -> None:
    def a(state: Private) -> None: ...

    def own(state: Item) -> str:
        return END

    builder = GraphBuilder(Log).add_node(a).add_edge(START, "a")
    builder.add_conditional_edges("a", lambda s: END).add_conditional_edges("a", own)
    builder.add_conditional_edges(START, lambda s: END)
    branches = plan_of(builder).branches
    assert [branch.schema.type for branch in branches["a"]] == [Private, Item]
    assert branches[START][0].schema.type is Log


@pytest.mark.parametrize("schema", [None, {"a": int}, "State"])
def test_a_state_schema_is_a_type(schema: Any) -> None:
    with pytest.raises(InvalidGraph, match="TypedDict"):
        GraphBuilder(schema)


# ---------------------------------------------------------------------------------------- policies
@pytest.mark.parametrize("option", ["cache_policy", "trace_policy"])
def test_what_is_out_of_scope_is_refused_and_not_ignored(option: str) -> None:
    with pytest.raises(Unsupported, match=f"{option}= would do nothing"):
        GraphBuilder(Log).add_node("a", nothing, **{option: object()})


def test_default_caching_is_refused_too() -> None:
    with pytest.raises(Unsupported, match="cache_policy= would do nothing"):
        GraphBuilder(Log).set_node_defaults(cache_policy=object())


def test_one_retry_policy_or_several() -> None:
    once, twice = RetryPolicy(max_attempts=1), RetryPolicy(max_attempts=2)
    builder = GraphBuilder(Log).add_node("a", nothing, retry_policy=once)
    builder.add_node("b", nothing, retry_policy=[once, twice]).add_edge(START, "a")
    nodes = plan_of(builder).nodes
    assert (nodes["a"].retry, nodes["b"].retry) == ((once,), (once, twice))


@pytest.mark.parametrize("given", [2, 2.0, timedelta(seconds=2), TimeoutPolicy(run_timeout=2)])
def test_a_timeout_is_given_in_seconds_or_as_a_policy(given: Any) -> None:
    plan = plan_of(GraphBuilder(Log).add_node("a", nothing, timeout=given).add_edge(START, "a"))
    assert plan.nodes["a"].timeout == TimeoutPolicy(run_timeout=2.0)


@pytest.mark.parametrize("given", [0, -1, timedelta(0), "soon", float("nan")])
def test_a_timeout_that_is_no_time_is_refused_with_the_node(given: Any) -> None:
    with pytest.raises(InvalidGraph, match="Node 'a' got run_timeout="):
        GraphBuilder(Log).add_node("a", nothing, timeout=given)


def test_what_a_node_says_itself_wins_over_the_defaults() -> None:
    few, many = RetryPolicy(max_attempts=2), RetryPolicy(max_attempts=9)
    builder = GraphBuilder(Log).add_node("a", nothing, retry_policy=few, timeout=1)
    builder.add_node("b", nothing, retry_policy=()).add_edge(START, "a")
    builder.set_node_defaults(retry_policy=many, timeout=5).add_node("c", nothing)
    nodes = plan_of(builder).nodes
    assert [nodes[name].retry for name in "abc"] == [(few,), (), (many,)]
    assert [nodes[name].timeout.run_timeout for name in "abc"] == [1.0, 5.0, 5.0]  # type: ignore[union-attr]


def test_defaults_given_in_two_calls_add_up() -> None:
    builder = line_of("a").set_node_defaults(timeout=5)
    builder.set_node_defaults(retry_policy=RetryPolicy())
    node = plan_of(builder).nodes["a"]
    assert node.timeout
    assert node.retry


# ---------------------------------------------------------------------------------- error handlers
def test_an_error_handler_is_a_node_behind_its_node() -> None:
    plan = plan_of(
        GraphBuilder(Log).add_node(review, error_handler=nothing).add_edge(START, "review")
    )
    assert plan.nodes["review"].error_handler == "__error_handler__review"
    assert plan.nodes["__error_handler__review"].handles == "review"


def test_a_handler_sees_what_its_node_saw_unless_it_says_otherwise() -> None:
    def a(state: Private) -> None: ...

    builder = GraphBuilder(Log).add_node("a", a, error_handler=lambda s: None)
    builder.add_node("b", a, error_handler=nothing).add_edge(START, "a")
    nodes = plan_of(builder).nodes
    assert nodes["__error_handler__a"].schema.type is Private
    assert nodes["__error_handler__b"].schema.type is Log


def test_the_default_handler_stands_behind_all_who_have_none_and_never_behind_handlers() -> None:
    builder = line_of("a").add_node("b", nothing, error_handler=nothing)
    nodes = plan_of(builder.set_node_defaults(error_handler=nothing, timeout=3)).nodes
    assert {name: node.error_handler for name, node in nodes.items()} == {
        "a": "__default_error_handler__",
        "b": "__error_handler__b",
        "__error_handler__b": None,
        "__default_error_handler__": None,
    }
    assert nodes["__default_error_handler__"].timeout == TimeoutPolicy(run_timeout=3.0)


# ------------------------------------------------------------------------------------------- edges
def test_everything_can_be_chained() -> None:
    builder = GraphBuilder(Log)
    steps: list[Callable[[], GraphBuilder]] = [
        lambda: builder.add_node("a", nothing),
        lambda: builder.add_sequence([("b", nothing), ("c", nothing)]),
        lambda: builder.add_edge("a", "b"),
        lambda: builder.add_conditional_edges("c", lambda s: END),
        lambda: builder.set_entry_point("a"),
        lambda: builder.set_conditional_entry_point(lambda s: "a"),
        lambda: builder.set_finish_point("c"),
        lambda: builder.set_node_defaults(timeout=1),
        lambda: builder.validate(),
    ]
    assert all(step() is builder for step in steps)


def test_a_sequence_is_a_line() -> None:
    builder = GraphBuilder(Log).add_sequence([review, ("then", nothing)])
    assert builder.edges == {("review", "then")}


def test_an_empty_sequence_is_refused() -> None:
    with pytest.raises(InvalidGraph, match="no nodes"):
        GraphBuilder(Log).add_sequence([])


def test_nothing_follows_the_end_and_nothing_precedes_the_start() -> None:
    with pytest.raises(InvalidGraph, match="from END to 'a'"):
        graph_of("a").add_edge(END, "a")
    with pytest.raises(InvalidGraph, match="from 'a' to START"):
        graph_of("a").add_edge("a", START)
    with pytest.raises(InvalidGraph, match="conditional edge starts at END"):
        graph_of("a").add_conditional_edges(END, lambda s: "a")


def test_edges_join_names_and_not_functions() -> None:
    with pytest.raises(InvalidGraph, match="Edges join names"):
        graph_of("a").add_edge("a", nothing)  # type: ignore[arg-type]


def test_a_join_waits_for_nodes_and_not_for_the_start() -> None:
    with pytest.raises(InvalidGraph, match="Leave START out"):
        graph_of("a", "b").add_edge([START, "a"], "b")
    with pytest.raises(InvalidGraph, match="starts nowhere"):
        graph_of("a").add_edge([], "a")


def test_a_join_of_one_is_an_edge() -> None:
    assert graph_of("a", "b").add_edge(["a"], "b").edges == {("a", "b")}


# -------------------------------------------------------------------------------- conditional edges
def test_the_same_function_is_added_to_a_node_once() -> None:
    def route(state: Log) -> str:
        return END

    builder = graph_of("a", "b").add_conditional_edges("a", route)
    builder.add_conditional_edges("b", route)
    with pytest.raises(InvalidGraph, match="'a' already has the conditional edge 'route'"):
        builder.add_conditional_edges("a", route)


def test_conditional_edges_of_one_node_have_names_of_their_own() -> None:
    builder = line_of("a")
    for _ in range(3):
        builder.add_conditional_edges("a", lambda s: END)
    names = [branch.name for branch in plan_of(builder).branches["a"]]
    assert names == ["condition", "condition 2", "condition 3"]


def test_a_path_map_says_where_results_lead() -> None:
    builder = line_of("a", "b").add_conditional_edges("a", lambda s: True, {True: "b", False: END})
    branch = plan_of(builder).branches["a"][0]
    assert branch.targets == {True: "b", False: END}
    assert branch.ends == ("b", END)


def test_a_list_as_path_map_names_the_nodes() -> None:
    builder = line_of("a", "b").add_conditional_edges("a", lambda s: "b", ["b", END])
    assert plan_of(builder).branches["a"][0].targets == {"b": "b", END: END}


def test_a_literal_tells_where_it_leads_and_binds_nobody() -> None:
    def route(state: Log) -> Literal["b", "__end__"]:
        return "b"

    branch = plan_of(line_of("a", "b").add_conditional_edges("a", route)).branches["a"][0]
    assert (branch.targets, branch.ends) == (None, ("b", END))


@pytest.mark.parametrize(
    ("path_map", "says"),
    [("b", "path_map=\\['b'\\]"), ({"x": 5}, "leads to 5"), ([START], "leads to START")],
)
def test_a_path_map_that_is_none_is_refused_with_its_edge(path_map: Any, says: str) -> None:
    with pytest.raises(InvalidGraph, match=f"'condition' of 'a'.*{says}"):
        graph_of("a").add_conditional_edges("a", lambda s: "b", path_map)


# ------------------------------------------------------------------------------------ destinations
def test_a_command_annotation_tells_where_a_node_goes() -> None:
    def a(state: Log) -> Command[Literal["b"]] | None:
        return None

    plan = plan_of(graph_of("b").add_node(a).add_edge(START, "a"))
    assert plan.nodes["a"].ends == ("b",)


def test_destinations_win_over_the_annotation_and_may_have_labels() -> None:
    def a(state: Log) -> Command[Literal["b"]]:
        return Command()

    builder = graph_of("b", "c").add_node(a, destinations={"c": "later"}).add_edge(START, "a")
    node = plan_of(builder).nodes["a"]
    assert (node.ends, dict(node.labels)) == (("c",), {"c": "later"})


def test_destinations_are_several_names() -> None:
    with pytest.raises(InvalidGraph, match=r"destinations=\('b',\)"):
        GraphBuilder(Log).add_node("a", nothing, destinations="b")


def test_every_refusal_is_the_authors_and_a_value_error() -> None:
    with pytest.raises(AuthoringError):
        graph_of("a").add_node("a", nothing)
    with pytest.raises(ValueError, match="already a node"):
        graph_of("a").add_node("a", nothing)
