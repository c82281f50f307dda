"""Which graphs and types a function can reach by the names in its code."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any, Literal, NamedTuple, NewType, TypedDict

import msgspec
import pytest

from caesura.core.callables import hints_of
from caesura.core.discover import errors_in, graphs_in, is_graph, types_in, user_types
from tests.core.graphs import Compiled, Log, line_of

GRAPH = Compiled(line_of("one"))
OTHERS = {"first": Compiled(line_of("two"))}


class Colour(Enum):
    RED = "red"


class Line(NamedTuple):
    price: int


class Leaf(msgspec.Struct):
    colour: Colour


@dataclass
class Tree:
    leaves: list[Leaf]


class Holder(TypedDict):
    tree: Tree | None


Id = NewType("Id", Line)


def helper() -> Any:
    return GRAPH


def by_name(state: Log) -> None:
    GRAPH.plan.nodes.get("one")


def by_a_helper(state: Log) -> None:
    helper()


def by_a_container(state: Log) -> None:
    OTHERS.get("first")


def by_default(state: Log, graph: Any = GRAPH) -> None:
    graph.invoke(state)


def inside(state: Log) -> Any:
    return lambda: GRAPH


def wrapping(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapped(*given: Any, **named: Any) -> Any:
        return function(*given, **named)

    return wrapped


def closing_over(graph: Any) -> Callable[..., Any]:
    def node(state: Log) -> None:
        graph.invoke(state)

    return node


class Agent:
    def __init__(self, graph: Any) -> None:
        self.graph = graph

    def __call__(self, state: Log) -> None:
        self.graph.invoke(state)

    def step(self, state: Log) -> None:
        self.graph.invoke(state)


@pytest.mark.parametrize(
    "function",
    [
        by_name,
        by_a_helper,
        by_default,
        inside,
        wrapping(by_name),
        functools.partial(by_name),
        functools.partial(print, GRAPH),
        closing_over(GRAPH),
        Agent(GRAPH),
        Agent(GRAPH).step,
    ],
    ids=lambda function: getattr(function, "__qualname__", type(function).__name__),
)
def test_a_graph_is_found_however_it_is_held(function: Any) -> None:
    assert graphs_in(function) == (GRAPH,)


def test_graphs_in_containers_are_found() -> None:
    assert graphs_in(by_a_container) == (OTHERS["first"],)


def test_a_function_that_refers_to_itself_is_looked_at_once() -> None:
    def again(state: Log) -> Any:
        return again, GRAPH

    assert graphs_in(again) == (GRAPH,)


class Trap:
    """Whoever asks for its plan springs it."""

    @property
    def plan(self) -> Any:
        raise AssertionError("was asked")

    @functools.cached_property
    def anything(self) -> Any:
        raise AssertionError("was asked")


TRAP = Trap()


def test_looking_runs_nobodys_code() -> None:
    def node(state: Log) -> Any:
        return TRAP.plan, TRAP.anything, GRAPH

    assert not is_graph(TRAP)
    assert graphs_in(node) == (GRAPH,)
    assert types_in(node) == [Log]


# ------------------------------------------------------------------------------------------- types
def test_types_are_found_within_types() -> None:
    assert user_types([list[Holder]]) == [Holder, Tree, Leaf, Colour]


@pytest.mark.parametrize(
    ("annotation", "found"),
    [
        (Annotated[Line, "x"], [Line]),
        (Id, [Line]),
        (Literal[Colour.RED], [Colour]),
        (dict[str, tuple[Line, ...]] | None, [Line]),
        (int | str | Any, []),
    ],
    ids=repr,
)
def test_types_are_found_in_every_kind_of_annotation(annotation: Any, found: list[type]) -> None:
    assert user_types([annotation]) == found


def test_a_type_that_contains_itself_is_found_once() -> None:
    assert user_types([Node]) == [Node]


@dataclass
class Node:
    children: list[Node]


def test_types_are_found_in_annotations_and_in_code() -> None:
    def node(state: Holder) -> None:
        Line(5)

    assert set(types_in(node)) >= {Holder, Tree, Leaf, Colour, Line}


def test_an_annotation_that_cannot_be_resolved_hides_none_of_the_others() -> None:
    def node(state: Holder, other: Missing) -> Line:  # type: ignore[name-defined]  # noqa: F821
        return Line(5)

    assert hints_of(node) == {"state": Holder, "return": Line}


# -------------------------------------------------------------------------------------- exceptions
class Declined(Exception):
    class Late(Exception):
        pass


class OverLimit(Declined):
    pass


class Unmentioned(Exception):
    pass


class Garbled(ValueError):
    pass


def names_of(*functions: Any) -> set[str]:
    return {name.removeprefix(f"{__name__}.") for name in errors_in(functions)}


def test_exceptions_are_found_where_code_catches_or_raises_them() -> None:
    def node(state: Log) -> None:
        try:
            raise OverLimit
        except Declined.Late:
            pass

    assert names_of(node) == {"Declined", "Declined.Late", "OverLimit"}


def test_an_exception_brings_those_that_a_clause_for_it_would_catch() -> None:
    def node(state: Log) -> None:
        try:
            by_name(state)
        except Declined:
            pass

    assert "OverLimit" in names_of(node)


def test_a_builtin_exception_brings_those_that_a_clause_for_it_would_catch() -> None:
    def node(state: Log) -> None:
        try:
            by_name(state)
        except ValueError:
            pass

    assert "Garbled" in names_of(node)
    assert "ValueError" not in names_of(node)


def test_code_that_catches_every_exception_mentions_none() -> None:
    def node(state: Log) -> None:
        try:
            by_name(state)
        except Exception:
            pass

    assert names_of(node) == set()


def test_of_two_exceptions_of_one_name_the_mentioned_one_is_found() -> None:
    def made() -> type[Declined]:
        class Declined(globals()["Declined"]):  # type: ignore[misc]
            pass

        return Declined

    old, new = made(), made()

    def node(state: Log) -> None:
        raise new

    assert errors_in([node]) == {f"{new.__module__}.{new.__qualname__}": new}
    assert old is not new
