"""A drawing in Mermaid's flowchart language.

Promises: any name can be drawn, also one that is a word of Mermaid's own; conditional edges are
dotted. Called by `core.draw`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from caesura.core.draw import Drawing, DrawnNode

_ESCAPES = str.maketrans(
    {"&": "#amp;", "<": "#lt;", ">": "#gt;", '"': "#quot;", "#": "#35;", "\n": " "}
)
_WORDS = frozenset(
    "call class classdef click default direction end flowchart graph href linkstyle style "
    "subgraph".split()
)
_STYLES = """\
    classDef end_ fill:#bfb6fc,stroke:#8b7cf6
    classDef start fill:none,stroke:#8b7cf6
    classDef handler stroke-dasharray:4"""
_SHAPES = {
    "start": '(["{}"]):::start',
    "end": '(["{}"]):::end_',
    "node": '("{}")',
    "graph": '[["{}"]]',
    "handler": '("{}"):::handler',
}


def mermaid(drawing: Drawing) -> str:
    """The whole flowchart."""
    ids = _ids([*drawing.nodes, *_groups(drawing)])
    lines = ["flowchart TD", *_nodes(drawing, (), ids)]
    for edge in drawing.edges:
        arrow = "-.->" if edge.conditional else "-->"
        label = f'|"{edge.label.translate(_ESCAPES)}"|' if edge.label else ""
        lines.append(f"    {ids[edge.source]} {arrow}{label} {ids[edge.target]}")
    return "\n".join([*lines, _STYLES]) + "\n"


def _nodes(drawing: Drawing, within: tuple[str, ...], ids: dict[str, str]) -> Iterator[str]:
    """The nodes of one subgraph, and those inside of it; each level is indented further."""
    margin = "    " * (len(within) + 1)
    for node in drawing.nodes.values():
        if node.within == within:
            yield f"{margin}{ids[node.id]}{_SHAPES[node.kind].format(_text(node))}"
    for group in _groups(drawing):
        if _parents(drawing, group) == within:
            yield f'{margin}subgraph {ids[group]}["{_last(group)}"]'
            yield from _nodes(drawing, (*within, group), ids)
            yield f"{margin}end"


def _groups(drawing: Drawing) -> list[str]:
    return list(dict.fromkeys(group for node in drawing.nodes.values() for group in node.within))


def _parents(drawing: Drawing, group: str) -> tuple[str, ...]:
    within = next(node.within for node in drawing.nodes.values() if group in node.within)
    return within[: within.index(group)]


def _last(group: str) -> str:
    return group.rpartition(":")[2].translate(_ESCAPES)


def _text(node: DrawnNode) -> str:
    shown = node.label.translate(_ESCAPES)
    notes = [f"pauses {' and '.join(node.breakpoints)}"] if node.breakpoints else []
    notes += [
        f"{key} = {value}".translate(_ESCAPES) for key, value in (node.metadata or {}).items()
    ]
    return "".join([shown, *(f"<br/><small><i>{note}</i></small>" for note in notes)])


def _ids(names: Collection[str]) -> dict[str, str]:
    """An identifier for each name: letters, digits and underscores, none twice."""
    ids: dict[str, str] = {}
    for name in names:
        made = "".join(c if c.isascii() and c.isalnum() else "_" for c in name)
        if not made.strip("_") or made[0].isdigit() or made.lower() in _WORDS:
            made = f"n_{made}"
        while made in ids.values():
            made += "_"
        ids[name] = made
    return ids
