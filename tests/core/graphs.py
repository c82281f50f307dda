"""Small graphs and the states that they work on."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Annotated, Any, TypedDict

from caesura.core.control import START
from caesura.core.graph import GraphBuilder
from caesura.core.plan import Plan


class Log(TypedDict, total=False):
    log: Annotated[list[str], operator.add]
    n: int


def nothing(state: Log) -> None:
    """A node that writes nothing."""


def graph_of(*names: str, state: Any = Log) -> GraphBuilder:
    """Nodes that do nothing, without edges."""
    builder = GraphBuilder(state)
    for name in names:
        builder.add_node(name, nothing)
    return builder


def line_of(*names: str) -> GraphBuilder:
    """Nodes that do nothing, one after the other."""
    builder = graph_of(*names)
    for before, after in zip((START, *names), names, strict=False):
        builder.add_edge(before, after)
    return builder


def plan_of(builder: GraphBuilder, **options: Any) -> Plan:
    return builder.freeze(**{"name": "graph", **options})


class Compiled:
    """What the core knows of a compiled graph: that it has a plan."""

    def __init__(self, builder: GraphBuilder, name: str = "child") -> None:
        self.plan = plan_of(builder, name=name)


def ids() -> Callable[[], str]:
    """Fresh ids that can be told in advance: id-1, id-2, ..."""
    given = iter(range(1, 1_000))
    return lambda: f"id-{next(given)}"
