"""The functional form: a plain function as a graph of one node.

Promises: `once` and `interrupt` are all that such a function needs; it is called with the input,
and what it returns is the result. `entrypoint` is the name that people know, with `previous` and
`entrypoint.final`; `workflow` is the same for a plain function.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Generic, NamedTuple, TypeVar, overload

from caesura.core.callables import name_of, read_callable
from caesura.core.control import START
from caesura.core.discover import errors_in, graphs_in, types_in, user_types
from caesura.core.forms import ROOT
from caesura.core.plan import Channel, Node, Plan, Schema, StateSpec
from caesura.core.retry import coerce_retry, coerce_timeout
from caesura.engine.calls import PREVIOUS
from caesura.engine.compiled import CompiledGraph
from caesura.engine.futures import task
from caesura.engine.returns import Returned
from caesura.errors import Unsupported

R = TypeVar("R")
S = TypeVar("S")

INJECTED = ("config", "runtime", "writer", "previous")

__all__ = ["entrypoint", "task", "workflow"]


@overload
def workflow(function: Callable[..., Any], /) -> CompiledGraph: ...
@overload
def workflow(
    *,
    checkpointer: Any = None,
    name: str | None = None,
    retry_policy: Any = None,
    timeout: Any = None,
    context_schema: Any = None,
    types: Iterable[Any] = (),
) -> Callable[[Callable[..., Any]], CompiledGraph]: ...


def workflow(
    function: Callable[..., Any] | None = None,
    /,
    *,
    checkpointer: Any = None,
    name: str | None = None,
    retry_policy: Any = None,
    timeout: Any = None,
    context_schema: Any = None,
    types: Iterable[Any] = (),
) -> Any:
    """Make a plain function durable: `@workflow(checkpointer=store)`, or `@workflow`."""

    def make(function: Callable[..., Any]) -> CompiledGraph:
        return _compiled(
            function,
            checkpointer,
            name=name,
            retry=retry_policy,
            timeout=timeout,
            context=context_schema,
            types=tuple(types),
        )

    return make if function is None else make(function)


class Final(NamedTuple, Generic[R, S]):
    """What an entrypoint returns, and what the next call gets as `previous`."""

    value: Any
    save: Any


class entrypoint:  # noqa: N801 - the name that people know
    """`@entrypoint(checkpointer=...)`: a workflow with a memory of its last result."""

    final = Final

    def __init__(
        self,
        checkpointer: Any = None,
        store: Any = None,
        cache: Any = None,
        context_schema: Any = None,
        cache_policy: Any = None,
        retry_policy: Any = None,
        timeout: Any = None,
        *,
        name: str | None = None,
        types: Iterable[Any] = (),
    ) -> None:
        for what, given in (("store", store), ("cache", cache), ("cache_policy", cache_policy)):
            if given is not None:
                raise Unsupported(f"entrypoint({what}=...) is out of scope. Leave it out.")
        self._options: dict[str, Any] = {
            "name": name,
            "retry": retry_policy,
            "timeout": timeout,
            "context": context_schema,
            "types": tuple(types),
        }
        self._checkpointer = checkpointer

    def __call__(self, function: Callable[..., Any]) -> CompiledGraph:
        return _compiled(function, self._checkpointer, **self._options)


def _compiled(
    function: Callable[..., Any],
    checkpointer: Any,
    *,
    name: str | None,
    retry: Any,
    timeout: Any,
    context: Any,
    types: tuple[Any, ...],
) -> CompiledGraph:
    node = name_of(function) or "workflow"
    where = f"Workflow {node!r}"
    callee = read_callable(function, where, injected=INJECTED)
    given = Schema(Any, (START,), "bare", lambda values: values.get(START), _fields_set)
    whole = Schema(Any, (ROOT,), "bare", lambda values: values.get(ROOT), _fields_set)
    channels = {key: Channel(key, Any) for key in (START, ROOT, PREVIOUS)}
    plan = Plan(
        name=name or node,
        state=StateSpec(channels=channels, schema=whole, bare=True),
        input=given,
        output=whole,
        context=context,
        nodes={
            node: Node(
                name=node,
                action=_returning(function, callee.is_async),
                is_async=callee.is_async,
                is_graph=False,
                takes_state=callee.takes_state,
                schema=given,
                inject=callee.inject,
                retry=coerce_retry(retry, where),
                timeout=coerce_timeout(timeout, where),
            )
        },
        edges={START: (node,)},
        leads_to_end=frozenset({node}),
        joins=(),
        joins_by_source={},
        branches={},
        types=(
            *types_in(function),
            *user_types([t[0] if isinstance(t, tuple) else t for t in types]),
        ),
        children={node: graphs_in(function)},
        errors=errors_in([function]),
    )
    graph = CompiledGraph(plan, checkpointer, types=types)
    graph.__doc__ = function.__doc__
    return graph


def _fields_set(value: Any) -> dict[str, Any]:
    return {ROOT: value}


def _returning(function: Callable[..., Any], is_async: bool) -> Callable[..., Any]:
    """The function as a node: what it returns is its result, and what is `previous` next."""
    if is_async:

        async def run_on_loop(*args: Any, **kwargs: Any) -> Returned:
            return _returned(await function(*args, **kwargs))

        return run_on_loop

    def run(*args: Any, **kwargs: Any) -> Returned:
        return _returned(function(*args, **kwargs))

    return run


def _returned(value: Any) -> Returned:
    saved = value
    if isinstance(value, Final):
        value, saved = value.value, value.save
    return Returned([{ROOT: value, PREVIOUS: saved}], [])
