"""The pieces that events and views share: planned tasks, questions, failures.

Promises: like events, their field order is the wire format.
"""

from __future__ import annotations

from typing import Any, ClassVar

import msgspec


class Part(msgspec.Struct, array_like=True):
    """A piece of an event or of a snapshot. The codec looks for user values in `VALUES` only."""

    VALUES: ClassVar[tuple[str, ...]] = ()


class ErrorInfo(Part):
    """A failure as it is kept: enough to show it, and to raise types that are known again."""

    VALUES = ("args", "attributes")
    type_name: str
    message: str
    traceback: str = ""
    args: Any = None  # its arguments, when all of them are plain
    attributes: dict[str, Any] | None = None  # those of its attributes that are plain,
    unkept: list[str] | None = None  # and the names of those that are not


class Sent(Part, tag=0):
    """A task made by `Send`: its node and its whole input."""

    VALUES = ("arg",)
    node: str
    arg: Any
    timeout: float | None = None


class Carried(Part, tag=1):
    """A task that goes on under a new step with the journal it had: `origin` is where it began."""

    VALUES = ("writes", "goto", "arg", "commanded")
    node: str
    origin: list[int]
    writes: list[dict[str, Any]] | None = None  # not None: it had already finished
    goto: list[str | Sent] | None = None
    sent: bool = False
    arg: Any = None
    timeout: float | None = None
    commanded: list[str | Sent] | None = None
    handled: ErrorInfo | None = None
    failed: str | None = None
    failure: ErrorInfo | None = None


class Handling(Part, tag=2):
    """A node's error handler: it sees the state, and what failed in `failed`."""

    node: str
    failed: str
    error: ErrorInfo


Target = str | Sent
Planned = str | Sent | Carried | Handling


class Question(Part):
    """What a person is asked, as they saw it."""

    VALUES = ("payload", "default")
    id: str
    key: str | None
    fingerprint: str  # of the payload
    use: int  # the nth with this key (or this fingerprint) in its pass
    payload: Any
    schema: dict[str, Any] | None = None  # JSON Schema of the answer
    deadline: int | None = None
    has_default: bool = False
    default: Any = None
    on_timeout: str | None = None
    volatile: bool = False
    changes: int = 0  # how often its predecessors at this place were superseded
    router: bool = False  # asked by the task's conditional edge, not by its node
    asked_at: int = 0
    node: str = ""
    replaced: str | None = None  # the question in whose place it was asked
