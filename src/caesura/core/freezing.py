"""From a builder that was checked to the `Plan`: everything worked out once, nothing shared.

Promises: the plan holds no list or mapping of the builder, so that both go their own ways. Does not
promise: to check names; `core.validate` did.
Called by `core.graph`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

from caesura.core.callables import runs_as
from caesura.core.control import END, START
from caesura.core.discover import errors_in, graphs_in, types_in, user_types
from caesura.core.plan import Branch, Join, Node, Plan, Schema
from caesura.core.specs import BranchSpec, NodeSpec
from caesura.core.validate import Names, names_in

if TYPE_CHECKING:
    from caesura.core.graph import GraphBuilder


def frozen(
    builder: GraphBuilder,
    *,
    name: str,
    before: Names | None,
    after: Names | None,
    strict: bool,
    types: tuple[Any, ...],
) -> Plan:
    """The plan of a valid graph."""
    specs = _with_defaults(builder)
    children = _children(specs, builder.branches)
    joins = _joins(builder)
    return Plan(
        name=name,
        state=builder.schemas.freeze(strict=strict),
        input=builder.schemas.schema(builder.input_schema),
        output=builder.schemas.schema(builder.output_schema),
        context=builder.context_schema,
        nodes={spec.name: _node(builder, spec) for spec in specs.values()},
        edges=_edges(builder),
        leads_to_end=frozenset(_before_the_end(builder)),
        joins=joins,
        joins_by_source={
            source: tuple(join for join in joins if source in join.sources)
            for source in sorted({source for join in joins for source in join.sources})
        },
        branches={
            source: tuple(_branch(builder, specs, source, branch) for branch in branches.values())
            for source, branches in builder.branches.items()
        },
        interrupt_before=_breakpoints(before),
        interrupt_after=_breakpoints(after),
        types=_types(builder, specs, children, types),
        children=children,
        errors=errors_in(_functions(specs, builder.branches)),
    )


# ------------------------------------------------------------------------------------------- nodes
def _with_defaults(builder: GraphBuilder) -> dict[str, NodeSpec]:
    """All nodes, error handlers included, each with what it did not say itself."""
    defaults = builder.defaults
    specs = dict(builder.nodes)
    if defaults.error_handler is not None:
        specs[defaults.error_handler.name] = defaults.error_handler
    for name, spec in specs.items():
        if spec.retry is None:
            spec = spec._replace(retry=defaults.retry)
        if spec.timeout is None:
            spec = spec._replace(timeout=defaults.timeout)
        if defaults.error_handler and spec.error_handler is None and spec.handles is None:
            spec = spec._replace(error_handler=defaults.error_handler.name)
        specs[name] = spec
    return specs


def _node(builder: GraphBuilder, spec: NodeSpec) -> Node:
    callee = spec.callee
    return Node(
        name=spec.name,
        action=spec.action,
        is_async=callee is not None and callee.is_async,
        is_graph=callee is None,
        takes_state=callee is None or callee.takes_state,
        schema=_schema(builder, spec.schema, as_mapping=callee is None),
        inject=() if callee is None else callee.inject,
        retry=spec.retry or (),
        timeout=spec.timeout,
        defer=spec.defer,
        metadata=None if spec.metadata is None else dict(spec.metadata),
        ends=spec.ends,
        error_handler=spec.error_handler,
        handles=spec.handles,
        labels=dict(spec.labels),
    )


def _schema(builder: GraphBuilder, given: Any, *, as_mapping: bool = False) -> Schema:
    schema = builder.state_schema if given is None else given
    return builder.schemas.schema(schema, as_mapping=as_mapping)


# ------------------------------------------------------------------------------------------- edges
def _edges(builder: GraphBuilder) -> dict[str, tuple[str, ...]]:
    targets: dict[str, list[str]] = {}
    for start, end in sorted(builder.edges):
        if end != END:
            targets.setdefault(start, []).append(end)
    return {start: tuple(ends) for start, ends in targets.items()}


def _before_the_end(builder: GraphBuilder) -> Iterator[str]:
    yield from (start for start, end in builder.edges if end == END)
    for starts, end in builder.waiting_edges:
        if end == END:
            yield from starts


def _joins(builder: GraphBuilder) -> tuple[Join, ...]:
    return tuple(
        Join(name=f"{'+'.join(starts)}:{end}", sources=frozenset(starts), target=end)
        for starts, end in builder.waiting_edges
        if end != END
    )


def _branch(
    builder: GraphBuilder, specs: Mapping[str, NodeSpec], source: str, branch: BranchSpec
) -> Branch:
    schema = branch.schema
    if schema is None and source != START:
        schema = specs[source].schema
    return Branch(
        name=branch.name,
        path=runs_as(branch.path),
        is_async=branch.callee.is_async,
        schema=_schema(builder, schema),
        inject=branch.callee.inject,
        targets=None if branch.targets is None else dict(branch.targets),
        ends=branch.ends,
    )


def _breakpoints(given: Names | None) -> frozenset[str] | Literal["*"]:
    names = frozenset(names_in(given))
    return "*" if "*" in names else names


# ------------------------------------------------------------------------------- children and types
def _children(
    specs: Mapping[str, NodeSpec], branches: Mapping[str, Mapping[str, BranchSpec]]
) -> dict[str, tuple[Any, ...]]:
    found: dict[str, tuple[Any, ...]] = {}
    for name in (START, *specs):
        spec = specs.get(name)
        graphs: list[Any] = []
        if spec is not None:
            graphs += [spec.action] if spec.callee is None else graphs_in(spec.action)
        for branch in branches.get(name, {}).values():
            graphs += graphs_in(branch.path)
        if graphs:
            found[name] = tuple({id(graph): graph for graph in graphs}.values())
    return found


def _types(
    builder: GraphBuilder,
    specs: Mapping[str, NodeSpec],
    children: Mapping[str, Iterable[Any]],
    given: tuple[Any, ...],
) -> tuple[Any, ...]:
    found: dict[Any, None] = dict.fromkeys(given)
    found.update(dict.fromkeys(user_types(given)))
    found.update(dict.fromkeys(user_types(builder.schemas.types())))
    for function in _functions(specs, builder.branches):
        found.update(dict.fromkeys(types_in(function)))
    for graphs in children.values():
        for graph in graphs:
            found.update(dict.fromkeys(graph.plan.types))
    return tuple(found)


def _functions(
    specs: Mapping[str, NodeSpec], branches: Mapping[str, Mapping[str, BranchSpec]]
) -> list[Any]:
    """The functions of nodes and of conditional edges."""
    functions: list[Any] = [spec.action for spec in specs.values() if spec.callee is not None]
    functions += [b.path for of_source in branches.values() for b in of_source.values()]
    return functions
