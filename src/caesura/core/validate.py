"""Whether the pieces of a graph fit: every name is a node's, and there is a way in.

Promises: the first thing wrong is said with the edge that holds it and the nearest name. Does not
promise: that nodes can be reached; `Command` and `Send` reach what no edge does.
Called by `core.graph`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from caesura.core.control import END, START
from caesura.errors import InvalidGraph, UnknownNode

if TYPE_CHECKING:
    from caesura.core.graph import GraphBuilder

Names = Sequence[str] | Literal["*"]


class Mention(NamedTuple):
    """A name as some edge gives it."""

    name: str
    where: str
    verb: str


def check(builder: GraphBuilder, breakpoints: Mapping[str, Names | None]) -> None:
    """Raise `UnknownNode` or `InvalidGraph` for the first thing that is wrong."""
    for mention in _sources(builder):
        _look_up(builder, mention, START)
    if not any(start == START for start, _ in builder.edges) and START not in builder.branches:
        first = next(iter(builder.nodes), "first_node")
        raise InvalidGraph(
            f"The graph has no entry point. Say where it begins: add_edge(START, {first!r})."
        )
    for mention in _targets(builder):
        _look_up(builder, mention, END)
    for where, given in breakpoints.items():
        for name in names_in(given):
            if name != "*":
                _look_up(builder, Mention(name, where, "names"), None)


def names_in(given: Names | None) -> tuple[str, ...]:
    """Breakpoints as they are written, one name alone too."""
    return () if given is None else (given,) if isinstance(given, str) else tuple(given)


def _sources(builder: GraphBuilder) -> Iterator[Mention]:
    for start, end in sorted(builder.edges):
        yield Mention(start, f"The edge to {end!r}", "starts at")
    for starts, end in builder.waiting_edges:
        for start in starts:
            yield Mention(start, f"The join to {end!r}", "waits for")
    for source, branches in builder.branches.items():
        for name in branches:
            yield Mention(source, f"The conditional edge {name!r}", "starts at")


def _targets(builder: GraphBuilder) -> Iterator[Mention]:
    for start, end in sorted(builder.edges):
        yield Mention(end, f"The edge from {start!r}", "leads to")
    for starts, end in builder.waiting_edges:
        yield Mention(end, f"The join of {' and '.join(map(repr, starts))}", "leads to")
    for source, branches in builder.branches.items():
        for name, branch in branches.items():
            for end in branch.ends or ():
                yield Mention(end, f"The conditional edge {name!r} of {source!r}", "leads to")
    handler = builder.defaults.error_handler
    for spec in (*builder.nodes.values(), *((handler,) if handler else ())):
        for end in spec.ends:
            yield Mention(end, f"The Command of node {spec.name!r}", "leads to")


def _look_up(builder: GraphBuilder, mention: Mention, besides: str | None) -> None:
    name = mention.name
    if name in builder.nodes or name == besides:
        return
    known = [node for node, spec in builder.nodes.items() if spec.handles is None]
    error = UnknownNode(name, where=mention.where, known=known, verb=mention.verb)
    constant = {"END": END, "START": START}.get(name.strip("_").upper())
    if constant is not None and constant == besides:
        # The commonest slip: the constant's name as a text.
        shown = name.strip("_").upper()
        said = f"{mention.where} {mention.verb} {name!r}, which is no node."
        error.args = (f"{said} Use the constant: from caesura import {shown}.",)
    raise error
