"""A drawing in boxes and lines: each node a box, below the nodes that lead to it.

Promises: every edge is shown, as a line or in the list below the picture, where loops and labels
stand. Does not promise: beauty; it is made for graphs that fit on a screen, Mermaid for the others.
Called by `core.draw`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from caesura.core.draw import Drawing, DrawnNode

_GAP = 3  # columns between two boxes
_UP, _DOWN, _LEFT, _RIGHT = 1, 2, 4, 8
_LINES = " ╵╷│╴┘┐┤╶└┌├─┴┬┼"  # by the sum of the directions that meet in a cell
_ASCII = str.maketrans("╵╷│╴┘┐┤╶└┌├─┴┬┼▼▽┄▶", "|||-+++-+++-+++vv.>")

Edge = tuple[str, str]


def in_ascii(text: str) -> str:
    return text.translate(_ASCII)


def boxes(drawing: Drawing) -> str:
    """The picture, and below it what lines cannot say."""
    joined = {node for edge in drawing.edges for node in (edge.source, edge.target)}
    edges = list(dict.fromkeys((e.source, e.target) for e in drawing.edges))
    forward = _without_loops([n for n in drawing.nodes if n in joined], edges)
    layers, steps = _layers([n for n in drawing.nodes if n in joined], forward)
    texts = {node.id: _text(node) for node in drawing.nodes.values()}
    picture = _Picture(layers, steps, texts)
    sure = {e.target for e in drawing.edges if not e.conditional}
    return "\n".join([*picture.lines(sure), *_list_below(drawing, set(forward), joined)]) + "\n"


def _text(node: DrawnNode) -> str:
    shown = node.id if node.within else node.label
    if node.breakpoints:
        shown += f" (pauses {' and '.join(node.breakpoints)})"
    return shown


def _list_below(drawing: Drawing, forward: set[Edge], joined: set[str]) -> list[str]:
    found = []
    for edge in drawing.edges:
        back = (edge.source, edge.target) not in forward
        if not back and not edge.label:
            continue
        source, target = (_text(drawing.nodes[end]) for end in (edge.source, edge.target))
        arrow = "┄┄▶" if edge.conditional else "──▶"
        says = [edge.label] if edge.label else []
        says += ["back"] if back else []
        found.append(f"{source} {arrow} {target}: {', '.join(says)}")
    alone = [_text(node) for node in drawing.nodes.values() if node.id not in joined]
    if alone:
        found.append(f"No edge leads to: {', '.join(alone)}")
    return ["", *found] if found else []


# ------------------------------------------------------------------------------------------ layers
def _without_loops(nodes: Sequence[str], edges: Sequence[Edge]) -> list[Edge]:
    """The edges without those that lead back to a node on the way to them."""
    targets: dict[str, list[str]] = {node: [] for node in nodes}
    for source, target in edges:
        targets[source].append(target)
    back: set[Edge] = set()
    done: set[str] = set()
    for root in nodes:
        way: dict[str, int] = {}  # a node on the way -> how many of its edges were followed
        pending = [root] if root not in done else []
        while pending:
            node = pending[-1]
            at = way.setdefault(node, 0)
            if at == len(targets[node]):
                pending.pop()
                del way[node]
                done.add(node)
                continue
            way[node] += 1
            target = targets[node][at]
            if target in way:
                back.add((node, target))
            elif target not in done:
                pending.append(target)
    return [edge for edge in edges if edge not in back]


def _layers(nodes: Sequence[str], edges: Sequence[Edge]) -> tuple[list[list[str]], list[Edge]]:
    """Nodes by their longest way from the top, and edges of one layer each.

    An edge over several layers passes through a point in each, whose name no node can have.
    """
    depth = dict.fromkeys(nodes, 0)
    for _ in nodes:
        for source, target in edges:
            depth[target] = max(depth[target], depth[source] + 1)
    layers: list[list[str]] = [[] for _ in range(max(depth.values(), default=-1) + 1)]
    for node in nodes:
        layers[depth[node]].append(node)
    steps: list[Edge] = []
    for number, (source, target) in enumerate(edges):
        before = source
        for level in range(depth[source] + 1, depth[target]):
            point = f"\0{number}.{level}"
            layers[level].append(point)
            steps.append((before, point))
            before = point
        steps.append((before, target))
    _untangle(layers, steps)
    return layers, steps


def _untangle(layers: list[list[str]], steps: Sequence[Edge]) -> None:
    """Order each layer so that nodes stand near those that they are joined with."""
    for turn in range(4):
        downwards = turn % 2 == 0
        for place in range(1, len(layers)):
            layer = layers[place if downwards else -place - 1]
            beside = layers[place - 1 if downwards else -place]
            at = {node: i for i, node in enumerate(beside)}
            old = {node: i for i, node in enumerate(layer)}
            near = {
                node: _mean([at[other] for other in _joined(node, steps, downwards)], old[node])
                for node in layer
            }
            layer.sort(key=lambda node: near[node])


def _joined(node: str, steps: Iterable[Edge], upwards: bool) -> list[str]:
    if upwards:
        return [source for source, target in steps if target == node]
    return [target for source, target in steps if source == node]


def _mean(numbers: Sequence[int], otherwise: int) -> float:
    return sum(numbers) / len(numbers) if numbers else otherwise


# ----------------------------------------------------------------------------------------- picture
class _Picture:
    """Where everything stands: `middle` is the column of each node's lines."""

    def __init__(self, layers: list[list[str]], steps: list[Edge], texts: dict[str, str]) -> None:
        self.layers, self.steps, self.texts = layers, steps, texts
        widths = {
            node: len(texts[node]) + 4 if node in texts else 1 for ls in layers for node in ls
        }
        self.left = {node: (width - 1) // 2 for node, width in widths.items()}
        self.right = {node: width // 2 for node, width in widths.items()}
        self.middle: dict[str, int] = {}
        self._place()

    def _place(self) -> None:
        for layer in self.layers:
            self._settle(layer, dict.fromkeys(layer, 0))
        for turn in range(6):
            downwards = turn % 2 == 0
            for layer in self.layers if downwards else self.layers[::-1]:
                wish = {
                    node: round(
                        _mean(
                            [self.middle[o] for o in _joined(node, self.steps, downwards)],
                            self.middle[node],
                        )
                    )
                    for node in layer
                }
                self._settle(layer, wish)
        left = min((self.middle[n] - self.left[n] for n in self.middle), default=0)
        self.middle = {node: at - left for node, at in self.middle.items()}

    def _settle(self, layer: Sequence[str], wish: dict[str, int]) -> None:
        """Put a layer's nodes where they wish to be, as far as their boxes leave room."""
        rooms = [self._room(*pair) for pair in pairwise(layer)]
        wishes = [wish[node] for node in layer]
        from_left, from_right = wishes[:1], wishes[-1:]
        for room, wished in zip(rooms, wishes[1:], strict=True):
            from_left.append(max(wished, from_left[-1] + room))
        for room, wished in zip(rooms[::-1], wishes[-2::-1], strict=True):
            from_right.append(min(wished, from_right[-1] - room))
        for node, a, b in zip(layer, from_left, reversed(from_right), strict=True):
            self.middle[node] = (a + b) // 2

    def _room(self, left: str, right: str) -> int:
        return self.right[left] + _GAP + 1 + self.left[right]

    def lines(self, sure: set[str]) -> list[str]:
        """The picture's lines; arrows to nodes that are not in `sure` are hollow."""
        width = max((self.middle[n] + self.right[n] for n in self.middle), default=-1) + 1
        found: list[str] = []
        for place, layer in enumerate(self.layers):
            if place:
                found += self._between(self.layers[place - 1], layer, width, sure)
            found += self._boxes(layer, width)
        return [line.rstrip() for line in found]

    def _boxes(self, layer: Sequence[str], width: int) -> list[str]:
        rows = [[" "] * width for _ in range(3)]
        for node in layer:
            if node not in self.texts:
                for row in rows:
                    row[self.middle[node]] = "│"
                continue
            left, inner = self.middle[node] - self.left[node], len(self.texts[node]) + 2
            box = (f"┌{'─' * inner}┐", f"│{self.texts[node]:^{inner}}│", f"└{'─' * inner}┘")
            for row, text in zip(rows, box, strict=True):
                row[left : left + len(text)] = text
            if any(source == node for source, _ in self.steps):
                rows[2][self.middle[node]] = "┬"
        return ["".join(row) for row in rows]

    def _between(
        self, above: Sequence[str], below: Sequence[str], width: int, sure: set[str]
    ) -> list[str]:
        """The lines from one layer to the next: each source has a row of its own to spread in."""
        spreads = {
            self.middle[node]: sorted(self.middle[t] for s, t in self.steps if s == node)
            for node in above
        }
        rows = _rows({source: ends for source, ends in spreads.items() if ends})
        height = max(rows.values(), default=-1) + 2
        cells = [[0] * width for _ in range(height)]
        for source, row in rows.items():
            ends = spreads[source]
            _line(cells, source, 0, row, enters=True)
            first, last = min(source, *ends), max(source, *ends)
            for column in range(first, last + 1):
                cells[row][column] |= (_LEFT if column > first else 0) | (
                    _RIGHT if column < last else 0
                )
            for end in ends:
                _line(cells, end, row, height - 1, enters=False)
        lines = ["".join(_LINES[cell] for cell in row) for row in cells]
        arrows = list(lines[-1])
        for node in below:
            if node in self.texts:
                arrows[self.middle[node]] = "▼" if node in sure else "▽"
        return [*lines[:-1], "".join(arrows)]


def _rows(spreads: dict[int, list[int]]) -> dict[int, int]:
    """In which row each source's line spreads; only lines to the same nodes share one."""
    rows: dict[int, int] = {}
    order = sorted(spreads, key=lambda s: (not _meets_another(s, spreads), s))
    for source in order:
        first, last = min(source, *spreads[source]), max(source, *spreads[source])
        row = 0
        for other, taken in rows.items():
            apart = last < min(other, *spreads[other]) or first > max(other, *spreads[other])
            if not apart and spreads[other] != spreads[source]:
                row = max(row, taken + 1)
        rows[source] = row
    return rows


def _meets_another(source: int, spreads: dict[int, list[int]]) -> bool:
    """Whether another source's line comes down where this one begins."""
    return any(source in ends for other, ends in spreads.items() if other != source)


def _line(cells: list[list[int]], column: int, top: int, bottom: int, *, enters: bool) -> None:
    """A vertical line; it enters from above the first row, or leaves below the last one."""
    for row in range(top, bottom + 1):
        if row > top or enters:
            cells[row][column] |= _UP
        if row < bottom or not enters:
            cells[row][column] |= _DOWN
