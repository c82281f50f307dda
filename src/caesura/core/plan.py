"""A compiled graph as plain, frozen data: what `graph` builds and everything else reads.

Promises: nothing here changes after compile, and everything that planning needs is in it, worked
out once. Does not promise: validity by itself; `core.graph` validates before it builds one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

from msgspec import Struct, field

from caesura.core.control import RetryPolicy, TimeoutPolicy


class Channel(Struct, frozen=True):
    """One key of the state and how writes to it are applied."""

    key: str
    type: Any
    kind: Literal["last", "reduce", "untracked"] = "last"
    reducer: Callable[[Any, Any], Any] | None = None
    reducer_is_pure: bool = False  # known never to change its left side: no defensive copy
    empty: Callable[[], Any] | None = None  # makes the start value; None: absent until written
    # Fixes chance (message ids) before the write is logged: (value, new_id) -> value.
    prepare: Callable[[Any, Callable[[], str]], Any] | None = None
    fingerprint: str = "last"  # "last", "untracked", or the reducer's, see core.fingerprints
    joins_lists: bool = False  # the reducer is `+`: what it made of two lists is nobody else's
    guard: bool = True  # a second write to a key without a reducer is an error, not the winner


class Schema(Struct, frozen=True):
    """The form in which a node, a caller or a conditional edge sees the state."""

    type: Any
    keys: tuple[str, ...]
    form: Literal["dict", "dataclass", "pydantic", "bare"]
    build: Callable[[Mapping[str, Any]], Any]  # state values -> what the node is called with
    fields_set: Callable[[Any], dict[str, Any]]  # a returned instance -> what it writes
    managed: tuple[tuple[str, str], ...] = ()  # (key, kind) of values that the engine works out


class StateSpec(Struct, frozen=True):
    """All channels of a graph. A `bare` state has one, `__root__`, and no mapping around."""

    channels: Mapping[str, Channel]
    schema: Schema
    bare: bool = False
    strict: bool = False  # unknown keys in updates are refused instead of dropped with a warning
    managed: Mapping[str, str] = field(default_factory=dict)  # key -> its kind
    preparing: tuple[str, ...] = ()  # keys whose channel has a `prepare`
    untracked: frozenset[str] = frozenset()  # keys that are never written to the log
    warned: set[str] = field(default_factory=set)  # unknown keys already spoken of


class Branch(Struct, frozen=True):
    """A conditional edge: a function of the state and what its results stand for."""

    name: str
    path: Callable[..., Any]
    is_async: bool
    schema: Schema  # in which form the function sees the state
    inject: tuple[str, ...]  # which of config, runtime, writer, store it asks for by name
    targets: Mapping[Any, str] | None  # result -> node; None: results are node names
    ends: tuple[str, ...] | None  # where it can lead, for drawing; None: anywhere


class Join(Struct, frozen=True):
    """A node that waits until every one of several nodes has finished."""

    name: str
    sources: frozenset[str]
    target: str


class Node(Struct, frozen=True):
    """One node and how it runs."""

    name: str
    action: Any  # the callable, or a compiled graph (an object with a `plan`)
    is_async: bool
    is_graph: bool
    takes_state: bool  # False for callables without a positional parameter
    schema: Schema
    inject: tuple[str, ...] = ()
    retry: tuple[RetryPolicy, ...] = ()
    timeout: TimeoutPolicy | None = None  # coerced: seconds as floats
    defer: bool = False
    metadata: Mapping[str, Any] | None = None
    ends: tuple[str, ...] = ()  # from `destinations=` or a `Command[Literal[...]]` annotation
    error_handler: str | None = None  # the name of the handler's node
    handles: str | None = None  # for a handler's node: the node that it stands behind; "*": all
    labels: Mapping[str, str] = field(default_factory=dict)  # end -> what the drawing says there


class Plan(Struct, frozen=True):
    """A validated graph."""

    name: str
    state: StateSpec
    input: Schema
    output: Schema
    context: Any | None
    nodes: Mapping[str, Node]
    edges: Mapping[str, tuple[str, ...]]  # source (START too) -> targets without END, sorted
    leads_to_end: frozenset[str]  # sources with an edge to END, for drawing
    joins: tuple[Join, ...]
    joins_by_source: Mapping[str, tuple[Join, ...]]
    branches: Mapping[str, tuple[Branch, ...]]  # source (START too) -> conditional edges
    interrupt_before: frozenset[str] | Literal["*"] = frozenset()
    interrupt_after: frozenset[str] | Literal["*"] = frozenset()
    types: tuple[Any, ...] = ()  # every type found in schemas and annotations, for the codec
    children: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)  # node -> graphs in it
    # Exceptions that the code can tell apart, by their full names: for failures read from the log.
    errors: Mapping[str, type[Exception]] = field(default_factory=dict)
