"""What a node can learn about the run around it: its config, its runtime, a way to stream.

Promises: the getters work wherever the node's context reaches; elsewhere they raise `OutsideANode`.
Called from nodes; `engine.tasks` fills the injected parameters from here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from caesura.core.control import NodeError
from caesura.engine.naming import step_id
from caesura.engine.scopes import Scope, current_scope

if TYPE_CHECKING:
    from caesura.core.view import TaskView
    from caesura.engine.calls import Work

C = TypeVar("C")


@dataclass(frozen=True, slots=True)
class ExecutionInfo:
    """Where this code runs."""

    thread_id: str
    checkpoint_id: str
    checkpoint_ns: str
    task_id: str
    node_attempt: int
    node_first_attempt_time: float


@dataclass(frozen=True, slots=True)
class Runtime(Generic[C]):
    """What the caller gave to the whole run, and what the run gives to its nodes."""

    context: C = None  # type: ignore[assignment]
    store: Any = None  # the long-term store is out of scope
    stream_writer: Callable[[Any], None] = lambda chunk: None
    heartbeat: Callable[[], None] = lambda: None
    previous: Any = None
    execution_info: ExecutionInfo | None = None

    def override(self, **changes: Any) -> Runtime[C]:
        """A copy with other values."""
        return replace(self, **changes)

    def drain(self) -> None:
        """Ask this run to stop at its next boundary; the thread goes on with `invoke(None)`."""
        current_scope("runtime.drain()").work.call.drained = True


def get_config() -> dict[str, Any]:
    """The config of the run, as nodes get it by their parameter `config`."""
    return config_of(current_scope("get_config()"))


def get_runtime(context_schema: Any = None) -> Runtime[Any]:
    """The runtime, as nodes get it by their parameter `runtime`; the schema is for readers."""
    return runtime_of(current_scope("get_runtime()"))


def get_stream_writer() -> Callable[[Any], None]:
    """A function that streams a value to readers of the mode "custom"."""
    return writer_of(current_scope("get_stream_writer()"))


# ------------------------------------------------------------------------------- what is injected
def injected(names: tuple[str, ...], scope: Scope, task: TaskView) -> dict[str, Any]:
    """The parameters that a function asks for by name."""
    found: dict[str, Any] = {}
    for name in names:
        if name == "config":
            found[name] = config_of(scope)
        elif name == "runtime":
            found[name] = runtime_of(scope)
        elif name == "writer":
            found[name] = writer_of(scope)
        elif name == "error":
            found[name] = error_of(scope.work, task)
        elif name == "previous":
            found[name] = scope.work.previous
    return found


def config_of(scope: Scope) -> dict[str, Any]:
    work = scope.work
    namespace = "|".join((*work.namespace, namespace_part(scope)))
    config = dict(work.config)
    config["configurable"] = {**config["configurable"], "checkpoint_ns": namespace}
    config["metadata"] = {**(config.get("metadata") or {}), **about(scope)}
    return config


def about(scope: Scope) -> dict[str, Any]:
    """What tools that watch models are told about the node that calls them."""
    work = scope.work
    return {
        "thread_id": work.call.ledger.thread,
        "langgraph_step": work.run.count + 1,
        "langgraph_node": scope.node,
        "langgraph_checkpoint_ns": "|".join((*work.namespace, namespace_part(scope))),
    }


def namespace_part(scope: Scope) -> str:
    return f"{scope.node}:{scope.work.id_of(scope.index)}"


def runtime_of(scope: Scope) -> Runtime[Any]:
    work = scope.work
    view = work.call.ledger.view
    return Runtime(
        context=work.call.context,
        stream_writer=writer_of(scope),
        heartbeat=lambda: scope.beat() if scope.beat is not None else None,
        previous=work.previous,
        execution_info=ExecutionInfo(
            thread_id=work.call.ledger.thread,
            checkpoint_id=step_id(view.birth, scope.step),
            checkpoint_ns="|".join((*work.namespace, namespace_part(scope))),
            task_id=work.id_of(scope.index),
            node_attempt=scope.attempt,
            node_first_attempt_time=scope.first_at / 1e6,
        ),
    )


def writer_of(scope: Scope) -> Callable[[Any], None]:
    stream, namespace = scope.work.call.stream, scope.work.namespace

    def write(chunk: Any) -> None:
        if scope.beat is not None:
            scope.beat()
        if stream is not None:
            stream.put(namespace, "custom", chunk)

    return write


def error_of(work: Work, task: TaskView) -> NodeError | None:
    """What an error handler is told: the exception itself, or what the log kept of it."""
    if task.failure is None:
        return None
    live = work.call.failures.get(id(task.failure))
    if live is None:
        from caesura.engine.failures import rebuild

        return NodeError(task.failed or "", rebuild(task.failure))
    return NodeError(task.failed or "", live[1])
