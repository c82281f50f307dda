"""The words in which nodes and callers speak: Send, Command, Interrupt, policies, snapshots.

Promises: plain values with LangGraph's names, fields and meaning. Does not promise: any behaviour;
that is in `graph`, `decide` and the engine.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from datetime import timedelta
from typing import Any, ClassVar, Final, Generic, Literal, NamedTuple, TypeVar

N = TypeVar("N")

START: Final = "__start__"
END: Final = "__end__"
INPUT: Final = "__input__"
COPY: Final = "__copy__"
INTERRUPT: Final = "__interrupt__"


class _Unset:
    """The absence of a value where None is a value."""

    def __repr__(self) -> str:
        return "<unset>"

    def __bool__(self) -> bool:
        return False

    def __reduce__(self) -> str:
        return "UNSET"  # copies and pickles are this very object: it is compared by identity


UNSET: Final = _Unset()


@dataclass(frozen=True, slots=True, init=False)
class Send:
    """Run `node` once with `arg` as its whole input, beside whatever else the step runs."""

    node: str
    arg: Any
    timeout: Any = None

    def __init__(self, /, node: str, arg: Any, *, timeout: Any = None) -> None:
        object.__setattr__(self, "node", node)
        object.__setattr__(self, "arg", arg)
        object.__setattr__(self, "timeout", timeout)


@dataclass(frozen=True)
class Overwrite:
    """Put `value` into the state as it is, past the key's reducer."""

    value: Any


@dataclass(frozen=True, kw_only=True)
class Command(Generic[N]):
    """Update the state, choose where to go, or answer what waits. Nodes return it, runs take it."""

    PARENT: ClassVar[Literal["__parent__"]] = "__parent__"

    graph: str | None = None
    update: Any | None = None
    resume: Any = UNSET
    goto: Send | Sequence[Send | N] | N = ()

    def __repr__(self) -> str:
        values = ((f.name, getattr(self, f.name), f.default) for f in fields(self))
        shown = (f"{name}={value!r}" for name, value, unset in values if value is not unset)
        return f"Command({', '.join(shown)})"


@dataclass(frozen=True)
class Answer:
    """`Command(resume=Answer(x))`: x answers the one open question, whatever it looks like."""

    value: Any
    by: str | None = None


@dataclass(frozen=True)
class Answers:
    """`Command(resume=Answers({...}))`: a map of answers by question id or key, nothing else."""

    values: dict[str, Any]
    by: str | None = None


@dataclass(slots=True, eq=False)
class Interrupt:
    """A question as callers see it. Two are equal when value and id are."""

    value: Any
    id: str = "placeholder-id"
    response_schema: Any = None
    key: str | None = None
    deadline: str | None = None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Interrupt):
            return NotImplemented
        return (self.value, self.id) == (other.value, other.id)

    def __hash__(self) -> int:
        return hash(self.id)


class RetryPolicy(NamedTuple):
    """How often, after which pauses and for which errors a failed attempt is tried again."""

    initial_interval: float = 0.5
    backoff_factor: float = 2.0
    max_interval: float = 128.0
    max_attempts: int = 3
    jitter: bool = True
    retry_on: Any = None  # an Exception type, several, or a predicate; None: see core.retry


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeoutPolicy:
    """How long one attempt of a node may take, in all and without a sign of life."""

    run_timeout: float | timedelta | None = None
    idle_timeout: float | timedelta | None = None
    refresh_on: Literal["auto", "heartbeat"] = "auto"


class StateUpdate(NamedTuple):
    """One entry of `bulk_update_state`."""

    values: Any
    as_node: str | None = None
    task_id: str | None = None


class PregelTask(NamedTuple):
    """A task of a step as `get_state` shows it."""

    id: str
    name: str
    path: tuple[Any, ...]
    error: Exception | None = None
    interrupts: tuple[Interrupt, ...] = ()
    state: Any = None
    result: Any | None = None


class StateSnapshot(NamedTuple):
    """The state of a thread at one step."""

    values: Any
    next: tuple[str, ...]
    config: dict[str, Any]
    metadata: dict[str, Any] | None
    created_at: str | None
    parent_config: dict[str, Any] | None
    tasks: tuple[PregelTask, ...]
    interrupts: tuple[Interrupt, ...]


@dataclass(frozen=True, slots=True)
class NodeError:
    """What an error handler is given: which node failed, with what."""

    node: str
    error: BaseException


Path = Callable[..., Any]
