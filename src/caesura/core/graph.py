"""Build a graph piece by piece, with LangGraph's words, and freeze it into a `Plan`.

Promises: what is wrong with one piece is said when that piece is added; what is wrong between
pieces (names that lead nowhere, no entry) is said by `validate`. `freeze` can be called again and
again; a plan that was made does not change with its builder. Does not promise: that every node can
be reached; a `Command` or a `Send` may go anywhere.
Subclassed by `engine.graph`, which adds `compile`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self

from caesura.core.control import END, START, RetryPolicy, TimeoutPolicy
from caesura.core.forms import form_of
from caesura.core.plan import Plan
from caesura.core.retry import coerce_retry, coerce_timeout
from caesura.core.schemas import Schemas
from caesura.errors import InvalidGraph, Unsupported

if TYPE_CHECKING:  # they look into functions, which costs an import of `inspect`
    from datetime import timedelta

    from caesura.core.specs import BranchSpec, NodeSpec

Names = Sequence[str] | Literal["*"]


class NodeDefaults(NamedTuple):
    """What a node gets that says nothing itself."""

    retry: tuple[RetryPolicy, ...] | None = None
    timeout: TimeoutPolicy | None = None
    error_handler: Any = None


class GraphBuilder:
    """A graph while it is built: nodes that read and write one state, and edges between them."""

    def __init__(
        self,
        state_schema: Any,
        context_schema: Any = None,
        *,
        input_schema: Any = None,
        output_schema: Any = None,
    ) -> None:
        for schema in (state_schema, input_schema, output_schema):
            if isinstance(schema, Mapping | str | GraphBuilder):
                raise InvalidGraph(
                    f"{schema!r} is no schema. Give a type: a TypedDict, a dataclass, a pydantic "
                    f"model, or one annotated type."
                )
        if state_schema is None:
            raise InvalidGraph(
                "A graph needs the type of its state. Give a TypedDict, a dataclass, a pydantic "
                "model, or one annotated type."
            )
        self.state_schema = state_schema
        self.context_schema = context_schema
        self.input_schema = state_schema if input_schema is None else input_schema
        self.output_schema = state_schema if output_schema is None else output_schema
        self.schemas = Schemas(state_schema)
        self.schemas.add(self.input_schema, may_be_managed=False)
        self.schemas.add(self.output_schema, may_be_managed=False)
        self.nodes: dict[str, NodeSpec] = {}
        self.edges: set[tuple[str, str]] = set()
        self.waiting_edges: dict[tuple[tuple[str, ...], str], None] = {}  # in the order added
        self.branches: dict[str, dict[str, BranchSpec]] = {}
        self.defaults = NodeDefaults()

    def __class_getitem__(cls, types: Any) -> type[Self]:
        """`StateGraph[State]` may stand in annotations, as people are used to."""
        return cls

    # --------------------------------------------------------------------------------------- nodes
    def add_node(
        self,
        node: str | Any,
        action: Any = None,
        *,
        defer: bool = False,
        metadata: Mapping[str, Any] | None = None,
        input_schema: Any = None,
        retry_policy: RetryPolicy | Sequence[RetryPolicy] | None = None,
        cache_policy: Any = None,
        error_handler: Callable[..., Any] | None = None,
        destinations: Mapping[str, str] | Iterable[str] | None = None,
        timeout: float | timedelta | TimeoutPolicy | None = None,
        trace_policy: Any = None,
    ) -> Self:
        """Add a node: a function of the state, an object that can be called, or a compiled graph.

        `add_node(fn)` takes the function's name, `add_node("name", fn)` gives one. What it sees is
        `input_schema`, else the annotation of its first parameter, else the whole state.
        `error_handler` takes over when the node has failed for good; `destinations` tells drawings
        where a returned `Command` may go (with labels, when it is a mapping).
        """
        from caesura.core import specs

        _refuse_out_of_scope(cache_policy, trace_policy)
        name, action = specs.named(node, action)
        specs.check_name(name, self.nodes)
        where = f"Node {name!r}"
        spec = specs.node(name, action, infers_schema=not self._is_bare(), given=input_schema)
        spec = spec._replace(
            retry=None if retry_policy is None else coerce_retry(retry_policy, where),
            timeout=coerce_timeout(timeout, where),
            defer=defer,
            metadata=None if metadata is None else dict(metadata),
        )
        if destinations is not None:
            ends, labels = specs.destinations(destinations, where)
            spec = spec._replace(ends=ends, labels=labels)
        if error_handler is not None:
            handler = specs.handler_of(spec, error_handler, infers_schema=not self._is_bare())
            spec = spec._replace(error_handler=handler.name)
            self._know(handler.schema)
        self._know(spec.schema)
        self.nodes[name] = spec
        if error_handler is not None:
            self.nodes[handler.name] = handler
        return self

    def add_sequence(self, nodes: Sequence[Any]) -> Self:
        """Add nodes, each with an edge from the one before; a pair (name, fn) gives a name."""
        from caesura.core import specs

        pairs = [
            specs.named(*one)
            if isinstance(one, tuple) and len(one) == 2
            else specs.named(one, None)
            for one in nodes
        ]
        if not pairs:
            raise InvalidGraph("add_sequence got no nodes. Give it at least one.")
        for before, (name, action) in enumerate(pairs, start=-1):
            self.add_node(name, action)
            if before >= 0:
                self.add_edge(pairs[before][0], name)
        return self

    def set_node_defaults(
        self,
        *,
        retry_policy: RetryPolicy | Sequence[RetryPolicy] | None = None,
        cache_policy: Any = None,
        error_handler: Callable[..., Any] | None = None,
        timeout: float | timedelta | TimeoutPolicy | None = None,
    ) -> Self:
        """Policies for all nodes of this graph, whenever added, that do not bring their own.

        Retries and timeouts hold for error handlers too; an error handler is never handled itself.
        """
        _refuse_out_of_scope(cache_policy, None)
        where = "set_node_defaults"
        if retry_policy is not None:
            self.defaults = self.defaults._replace(retry=coerce_retry(retry_policy, where))
        if timeout is not None:
            self.defaults = self.defaults._replace(timeout=coerce_timeout(timeout, where))
        if error_handler is not None:
            from caesura.core import specs

            handler = specs.default_handler(error_handler, infers_schema=not self._is_bare())
            self._know(handler.schema)
            self.defaults = self.defaults._replace(error_handler=handler)
        return self

    # --------------------------------------------------------------------------------------- edges
    def add_edge(self, start_key: str | Sequence[str], end_key: str) -> Self:
        """Run `end_key` after `start_key`; after all of them, when it is a list."""
        starts = (start_key,) if isinstance(start_key, str) else tuple(start_key)
        for name in (*starts, end_key):
            if not isinstance(name, str):
                raise InvalidGraph(
                    f"An edge was given {name!r}. Edges join names of nodes: use the name under "
                    f"which it was added."
                )
        if not starts:
            raise InvalidGraph(f"The edge to {end_key!r} starts nowhere. Name at least one node.")
        if END in starts:
            raise InvalidGraph(f"An edge leads from END to {end_key!r}. Nothing follows the end.")
        if end_key == START:
            raise InvalidGraph(
                f"An edge leads from {starts[0]!r} to START. Lead it to the node that comes first."
            )
        if len(set(starts)) == 1:
            self.edges.add((starts[0], end_key))
        elif START in starts:
            raise InvalidGraph(
                f"The join of {list(starts)} to {end_key!r} waits for START, which is over before "
                f"any node. Leave START out."
            )
        else:
            self.waiting_edges[tuple(sorted(set(starts))), end_key] = None
        return self

    def add_conditional_edges(
        self,
        source: str,
        path: Callable[..., Any],
        path_map: Mapping[Any, str] | Iterable[str] | None = None,
    ) -> Self:
        """Choose after `source` where to go: `path` sees the state and gives names or `Send`s.

        `path_map` says which node each result stands for, or lists the nodes that may be named.
        """
        from caesura.core import specs

        if source == END:
            raise InvalidGraph("A conditional edge starts at END. Nothing follows the end.")
        known = self.branches.get(source, {})
        branch = specs.branch(source, path, path_map, known, infers_schema=not self._is_bare())
        self._know(branch.schema)
        self.branches.setdefault(source, {})[branch.name] = branch
        return self

    def set_entry_point(self, key: str) -> Self:
        """Begin with this node: an edge from START."""
        return self.add_edge(START, key)

    def set_conditional_entry_point(
        self,
        path: Callable[..., Any],
        path_map: Mapping[Any, str] | Iterable[str] | None = None,
    ) -> Self:
        """Choose the first nodes: a conditional edge from START."""
        return self.add_conditional_edges(START, path, path_map)

    def set_finish_point(self, key: str) -> Self:
        """End with this node: an edge to END."""
        return self.add_edge(key, END)

    # ------------------------------------------------------------------------------------ finishing
    def validate(self, interrupt: Names | None = None) -> Self:
        """Refuse names that no node has, and a graph that begins nowhere."""
        from caesura.core.validate import check

        check(self, {"The list of breakpoints": interrupt})
        return self

    def freeze(
        self,
        *,
        name: str,
        interrupt_before: Names | None = None,
        interrupt_after: Names | None = None,
        strict: bool = False,
        types: Iterable[Any] = (),
    ) -> Plan:
        """Validate, and make the plan that everything else works with."""
        from caesura.core.freezing import frozen
        from caesura.core.validate import check

        check(self, {"interrupt_before": interrupt_before, "interrupt_after": interrupt_after})
        return frozen(
            self,
            name=name,
            before=interrupt_before,
            after=interrupt_after,
            strict=strict,
            types=tuple(types),
        )

    def _know(self, schema: Any) -> None:
        if schema is not None:
            self.schemas.add(schema)

    def _is_bare(self) -> bool:
        return form_of(self.state_schema) == "bare"


def _refuse_out_of_scope(cache_policy: Any, trace_policy: Any) -> None:
    if cache_policy is not None:
        raise Unsupported(
            "Nodes are not cached, so cache_policy= would do nothing. Leave it out; inside a node "
            "once(f, ...) keeps a result for as long as the node's task lives."
        )
    if trace_policy is not None:
        raise Unsupported(
            "Nodes are not traced to a service, so trace_policy= would do nothing. Leave it out; "
            "the thread's own log has every step."
        )
