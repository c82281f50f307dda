"""A graph as a picture: its nodes and edges as data, as Mermaid, and as plain text.

Promises: every edge that the plan knows is shown, those that may or may not be taken as
conditional; one that does not say where it leads is shown leading to every node. Does not promise:
where a `Command` or a `Send` goes that no annotation and no `destinations=` tells of.
Called by the compiled graph's `get_graph`, by the command line and by the web UI.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from caesura.core.control import END, START
from caesura.core.plan import Branch, Node, Plan

Kind = Literal["start", "end", "node", "graph", "handler"]
_ON_ERROR = "on error"
_LABELS = {START: "START", END: "END"}


class DrawnNode(NamedTuple):
    """A node in a drawing. `id` is the path of names to it, joined by ":"."""

    id: str
    name: str
    kind: Kind
    metadata: Mapping[str, Any] | None = None
    breakpoints: tuple[Literal["before", "after"], ...] = ()
    subgraph: str | None = None  # the name of the compiled graph behind it
    within: tuple[str, ...] = ()  # ids of the opened subgraphs that it lies in, outermost first

    @property
    def label(self) -> str:
        """What people read."""
        return _LABELS.get(self.name, self.name)


class DrawnEdge(NamedTuple):
    """An edge in a drawing; a conditional one may or may not be taken."""

    source: str
    target: str
    conditional: bool = False
    label: str | None = None

    @property
    def data(self) -> str | None:
        """The label, under the name that LangGraph gives it."""
        return self.label


class Drawing:
    """What `get_graph` returns."""

    def __init__(
        self, name: str, nodes: Mapping[str, DrawnNode], edges: Sequence[DrawnEdge]
    ) -> None:
        self.name = name
        self.nodes = dict(nodes)
        self.edges = list(edges)

    @classmethod
    def of(cls, plan: Plan, xray: bool | int = False) -> Drawing:
        """Draw a plan. `xray` opens subgraphs: all of them, or as many levels deep as it says."""
        depth = -1 if xray is True else int(xray)
        return cls(plan.name, *_opened(plan, depth, ()))

    def draw_mermaid(self) -> str:
        """The graph in Mermaid's language, which GitHub, notebooks and many editors render."""
        from caesura.core.mermaid import mermaid

        return mermaid(self)

    def draw_text(self) -> str:
        """The graph in lines and boxes, for a terminal."""
        from caesura.core.layers import boxes

        return boxes(self)

    def draw_ascii(self) -> str:
        """The same in characters that every terminal has."""
        from caesura.core.layers import in_ascii

        return in_ascii(self.draw_text())

    def to_json(self) -> dict[str, Any]:
        """The graph as plain data, for a screen that draws it."""
        return {
            "name": self.name,
            "nodes": [
                {
                    "id": node.id,
                    "name": node.name,
                    "kind": node.kind,
                    "metadata": None if node.metadata is None else dict(node.metadata),
                    "breakpoints": list(node.breakpoints),
                    "subgraph": node.subgraph,
                    "within": list(node.within),
                }
                for node in self.nodes.values()
            ],
            "edges": [edge._asdict() for edge in self.edges],
        }


# ------------------------------------------------------------------------------- nodes from a plan
def _opened(
    plan: Plan, depth: int, within: tuple[str, ...]
) -> tuple[dict[str, DrawnNode], list[DrawnEdge]]:
    """Nodes and edges of a plan, with subgraphs opened in their places."""
    path = f"{within[-1]}:" if within else ""
    nodes = {path + START: DrawnNode(path + START, START, "start", within=within)}
    edges: list[DrawnEdge] = []
    entries: dict[str, str] = {}  # an opened subgraph -> where edges to it lead now
    exits: dict[str, str] = {}
    for name, node in plan.nodes.items():
        at = path + name
        if node.is_graph and depth != 0:
            inside, between = _opened(node.action.plan, depth - 1, (*within, at))
            entries[at], exits[at] = _without_ends((*within, at), inside, between)
            nodes.update(inside)
            edges.extend(between)
        else:
            nodes[at] = _drawn(plan, node, at, within)
    for edge in _edges(plan):
        source, target = path + edge.source, path + edge.target
        edges.append(
            edge._replace(source=exits.get(source, source), target=entries.get(target, target))
        )
    if any(edge.target == path + END for edge in edges):
        nodes[path + END] = DrawnNode(path + END, END, "end", within=within)
    return nodes, edges


def _drawn(plan: Plan, node: Node, at: str, within: tuple[str, ...]) -> DrawnNode:
    kind: Kind = "graph" if node.is_graph else "handler" if node.handles is not None else "node"
    held: list[Literal["before", "after"]] = []
    if plan.interrupt_before == "*" or node.name in plan.interrupt_before:
        held.append("before")
    if plan.interrupt_after == "*" or node.name in plan.interrupt_after:
        held.append("after")
    subgraph = node.action.plan.name if node.is_graph else None
    return DrawnNode(at, node.name, kind, node.metadata, tuple(held), subgraph, within)


def _without_ends(
    within: tuple[str, ...], nodes: dict[str, DrawnNode], edges: list[DrawnEdge]
) -> tuple[str, str]:
    """Take START and END out of an opened subgraph where one edge says it; return its ends."""
    start, end = f"{within[-1]}:{START}", f"{within[-1]}:{END}"
    first = [edge for edge in edges if edge.source == start]
    if len(first) == 1 and not first[0].conditional and first[0].target != end:
        edges.remove(first[0])
        del nodes[start]
        start = first[0].target
    last = [edge for edge in edges if edge.target == end]
    if len(last) == 1 and not last[0].conditional and last[0].source in nodes:
        edges.remove(last[0])
        nodes.pop(end, None)
        return start, last[0].source
    nodes.setdefault(end, DrawnNode(end, END, "end", within=within))
    return start, end


# ------------------------------------------------------------------------------- edges from a plan
def _edges(plan: Plan) -> list[DrawnEdge]:
    """All edges in the order of their sources, each once, by local names."""
    found: dict[DrawnEdge, None] = {}
    for source in (START, *plan.nodes):
        found.update(dict.fromkeys(_edges_from(plan, source)))
    sources = {edge.source for edge in found if edge.label != _ON_ERROR}
    targets = {edge.target for edge in found}
    for name in plan.nodes:
        if name in targets and name not in sources:
            found[DrawnEdge(name, END)] = None
    order = {name: place for place, name in enumerate((START, *plan.nodes))}
    return sorted(found, key=lambda edge: order[edge.source])


def _edges_from(plan: Plan, source: str) -> Iterator[DrawnEdge]:
    for target in plan.edges.get(source, ()):
        yield DrawnEdge(source, target)
    for join in plan.joins_by_source.get(source, ()):
        yield DrawnEdge(source, join.target)
    if source in plan.leads_to_end:
        yield DrawnEdge(source, END)
    for branch in plan.branches.get(source, ()):
        for target, label in _ends(plan, branch).items():
            yield DrawnEdge(source, target, True, label)
    node = plan.nodes.get(source)
    if node is None:
        return
    for target in node.ends:
        yield DrawnEdge(source, target, True, node.labels.get(target))
    handler = plan.nodes.get(node.error_handler or "")
    if handler is not None and handler.handles == source:  # the default one would cross everything
        yield DrawnEdge(source, handler.name, True, _ON_ERROR)


def _ends(plan: Plan, branch: Branch) -> dict[str, str | None]:
    """Where a conditional edge can lead, and which results lead there."""
    if branch.targets is None:
        anywhere = [name for name, node in plan.nodes.items() if node.handles is None]
        return dict.fromkeys(branch.ends or (*anywhere, END))
    results: dict[str, list[str]] = {}
    for result, target in branch.targets.items():
        labels = results.setdefault(target, [])
        if str(result) != target:
            labels.append(str(result))
    return {target: ", ".join(labels) or None for target, labels in results.items()}
