"""Read what a builder is given for one node or one conditional edge, and refuse what cannot work.

Promises: every refusal names the node or the edge and says what to write instead. Does not promise:
that names lead somewhere; that can only be seen when the graph is complete (`core.validate`).
Called by `core.graph` when a piece is added.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from enum import Enum
from typing import Annotated, Any, Final, NamedTuple, get_args, get_origin

from caesura.core.callables import (
    Callee,
    destinations_in,
    literals_in,
    name_of,
    read_callable,
    runs_as,
)
from caesura.core.control import COPY, END, INPUT, INTERRUPT, START, RetryPolicy, TimeoutPolicy
from caesura.core.discover import is_graph
from caesura.core.forms import ROOT, field_types, has_fields
from caesura.errors import InvalidGraph

HANDLER_PREFIX: Final = "__error_handler__"
DEFAULT_HANDLER: Final = "__default_error_handler__"
ANY_NODE: Final = "*"

_RESERVED: Final = {START, END, INPUT, COPY, INTERRUPT, ROOT, DEFAULT_HANDLER, "__parent__", "*"}
_SEPARATORS: Final = (":", "|")

_FOR_NODES: Final = ("config", "runtime", "writer")
_FOR_HANDLERS: Final = (*_FOR_NODES, "error")


class NodeSpec(NamedTuple):
    """A node as it was added."""

    name: str
    action: Any
    callee: Callee | None  # None: a compiled graph
    schema: Any = None  # None: the state's
    retry: tuple[RetryPolicy, ...] | None = None  # None: the default
    timeout: TimeoutPolicy | None = None  # None: the default
    defer: bool = False
    metadata: Mapping[str, Any] | None = None
    ends: tuple[str, ...] = ()
    labels: Mapping[str, str] = {}
    error_handler: str | None = None
    handles: str | None = None


class BranchSpec(NamedTuple):
    """A conditional edge as it was added."""

    name: str
    path: Any  # what was given
    callee: Callee
    schema: Any  # None: that of its source
    targets: Mapping[Any, str] | None
    ends: tuple[str, ...] | None


# ------------------------------------------------------------------------------------------- names
def named(node: Any, action: Any) -> tuple[str, Any]:
    """The name and the action of `add_node(node, action)`, where either may be left out."""
    if isinstance(node, str):
        if action is None:
            raise InvalidGraph(
                f"add_node({node!r}) got a name and nothing to run. Write add_node({node!r}, fn)."
            )
        return node, action
    if action is not None:
        raise InvalidGraph(
            f"add_node got {node!r} as a name. Write add_node('name', fn), or add_node(fn) to take "
            f"the function's own name."
        )
    name = node.plan.name if is_graph(node) else name_of(node)
    if not name:
        raise InvalidGraph(f"{node!r} has no name. Write add_node('name', fn).")
    return name, node


def check_name(name: str, taken: Collection[str]) -> None:
    """Refuse a name that is taken, reserved, or could not be told apart in a path."""
    if name in taken:
        raise InvalidGraph(
            f"There is already a node {name!r}. Give this one another name: "
            f"add_node('another_name', fn)."
        )
    if name in _RESERVED or name.startswith(HANDLER_PREFIX):
        raise InvalidGraph(f"{name!r} is a reserved name. Give the node another one.")
    if not name or any(separator in name for separator in _SEPARATORS):
        raise InvalidGraph(
            f"{name!r} cannot be a node's name: it needs at least one character, and ':' and '|' "
            f"separate the parts of a path. Use '-' or '_'."
        )


# ------------------------------------------------------------------------------------------- nodes
def node(name: str, action: Any, *, infers_schema: bool, given: Any = None) -> NodeSpec:
    """A node from its action alone."""
    where = f"Node {name!r}"
    if is_graph(action):
        return NodeSpec(name, action, None, given)
    if hasattr(action, "add_conditional_edges") and not callable(action):
        raise InvalidGraph(
            f"{where} is a graph that is not compiled. Write add_node({name!r}, graph.compile())."
        )
    action = runs_as(action)
    callee = read_callable(action, where, injected=_FOR_NODES)
    schema = given if given is not None else _inferred(callee, infers_schema)
    return NodeSpec(name, action, callee, schema, ends=destinations_in(callee.returns))


def handler_of(spec: NodeSpec, action: Any, *, infers_schema: bool) -> NodeSpec:
    """The node that takes over when `spec` has failed; it sees the state as that node does."""
    name = f"{HANDLER_PREFIX}{spec.name}"
    where = f"The error handler of node {spec.name!r}"
    handler = _handler(name, action, where, infers_schema)
    schema = spec.schema if handler.schema is None else handler.schema
    return handler._replace(handles=spec.name, schema=schema)


def default_handler(action: Any, *, infers_schema: bool) -> NodeSpec:
    """The node that takes over for every node without a handler of its own."""
    handler = _handler(DEFAULT_HANDLER, action, "The default error handler", infers_schema)
    return handler._replace(handles=ANY_NODE)


def _handler(name: str, action: Any, where: str, infers_schema: bool) -> NodeSpec:
    if is_graph(action):
        return NodeSpec(name, action, None)
    action = runs_as(action)
    callee = read_callable(action, where, injected=_FOR_HANDLERS, handler=True)
    schema = _inferred(callee, infers_schema)
    return NodeSpec(name, action, callee, schema, ends=destinations_in(callee.returns))


def _inferred(callee: Callee, infers: bool) -> Any:
    """The annotation of the state's parameter, when it is a schema that can be read."""
    hint = callee.state_hint
    while get_origin(hint) is Annotated:
        hint = get_args(hint)[0]
    if not infers or not has_fields(hint) or issubclass(hint, tuple | Enum):
        return None
    try:
        return hint if field_types(hint) else None
    except Exception:  # noqa: BLE001 - annotations may raise anything; the whole state is given then
        return None


def destinations(
    given: Mapping[str, str] | Iterable[str], where: str
) -> tuple[tuple[str, ...], Mapping[str, str]]:
    """Where a node may go, and what the drawing says there."""
    if isinstance(given, str):
        raise InvalidGraph(
            f"{where} got destinations={given!r}. Write destinations=({given!r},), or a mapping of "
            f"names to labels."
        )
    ends = tuple(dict.fromkeys(given))
    if any(not isinstance(end, str) for end in ends):
        raise InvalidGraph(f"{where} got destinations={given!r}. Name nodes, or END.")
    return ends, dict(given) if isinstance(given, Mapping) else {}


# ------------------------------------------------------------------------------ conditional edges
def branch(
    source: str,
    path: Any,
    path_map: Mapping[Any, str] | Iterable[str] | None,
    known: Mapping[str, BranchSpec],
    *,
    infers_schema: bool,
) -> BranchSpec:
    """A conditional edge; `known` are those that its source already has."""
    if any(other.path is path for other in known.values()):
        raise InvalidGraph(
            f"Node {source!r} already has the conditional edge {_edge_name(path)!r}. Add it once."
        )
    name = _edge_name(path)
    where = f"The conditional edge {name!r} of {source!r}"
    if is_graph(path):
        raise InvalidGraph(
            f"{where} is a compiled graph. Call it in a function that returns names."
        )
    callee = read_callable(runs_as(path), where, injected=_FOR_NODES)
    targets = _targets(path_map, where)
    ends = tuple(dict.fromkeys(targets.values())) if targets is not None else None
    if ends is None:
        ends = literals_in(callee.returns) or None
    return BranchSpec(
        name=_unlike(name, known),
        path=path,
        callee=callee,
        schema=_inferred(callee, infers_schema),
        targets=targets,
        ends=ends,
    )


def _edge_name(path: Any) -> str:
    name = name_of(path)
    return "condition" if name is None or "<lambda>" in name else name


def _unlike(name: str, known: Collection[str]) -> str:
    made, number = name, 2
    while made in known:
        made, number = f"{name} {number}", number + 1
    return made


def _targets(given: Mapping[Any, str] | Iterable[str] | None, where: str) -> dict[Any, str] | None:
    if given is None:
        return None
    if isinstance(given, str):
        raise InvalidGraph(
            f"{where} got path_map={given!r}. Write path_map=[{given!r}], or a mapping of results "
            f"to names."
        )
    targets = dict(given) if isinstance(given, Mapping) else {name: name for name in given}
    for end in targets.values():
        if not isinstance(end, str):
            raise InvalidGraph(f"{where} leads to {end!r}. Name a node, or END.")
        if end == START:
            raise InvalidGraph(f"{where} leads to START. Lead it to the node that follows START.")
    return targets
