"""Why a value was not written, and where it was found.

Promises: a path as its author would write it: `notes[3].callback`, `once(charge).receipt`,
`interrupt(verdict).details[0]`. The path is put together only after something was refused, from
the inside out, so that writing what is fine costs nothing.
Raised by `plain`; turned into `UnserializableValue` by `codec`.
"""

from __future__ import annotations

from typing import Any

from caesura.core.events import Answered, Given, Recorded, Settled
from caesura.core.parts import Part, Question, Sent
from caesura.core.view import Asking, Recording, TaskView
from caesura.engine.kinds import BUILTIN_BASES, is_supported
from caesura.errors import UnserializableValue

# Fields whose content is the state itself: their own name tells an author nothing.
STATE_FIELDS = frozenset({"writes", "changed", "values", "kept", "ran", "backlog"})
LISTS_OF_WRITES = frozenset({"writes", "ran", "backlog"})


class Refused(Exception):
    """This value cannot be written. Collects the way to it while it is raised."""

    def __init__(self, value: Any, remedy: str | None) -> None:
        self.value, self.remedy = value, remedy
        self.segments: list[str] = []  # the innermost first
        self.root: str | None = None
        super().__init__(remedy)

    def through(self, segment: str, container: Any) -> None:
        if container is self.value:  # the way leads through the value itself: it contains itself
            self.segments.clear()
            self.remedy = (
                "It contains itself, and a log can only hold trees. Store a reference instead, "
                "such as an id."
            )
        elif segment:
            self.segments.append(segment)

    def unwrap(self) -> None:
        if self.segments:
            self.segments.pop()

    def inside(self, part: Part, field: str) -> None:
        """Name the part of the log in which it was found; the innermost one counts."""
        if self.root is not None:
            return
        match part:
            case Recorded() | Recording() | Settled():
                self.root = f"once({part.name})"
            case Question():
                self.root = f"interrupt({part.key or '...'})" if field == "payload" else field
            case Sent() | TaskView() if field == "arg":
                self.root = f"Send({part.node!r})"
            case Answered() | Given() | Asking():
                self.root = "answer"
            case _:
                self.root = "" if field in STATE_FIELDS else field
                while field in LISTS_OF_WRITES and self.segments and _is_index(self.segments[-1]):
                    self.segments.pop()

    def as_error(self, root: str | None = None) -> UnserializableValue:
        path = (self.root or "" if root is None else root) + "".join(reversed(self.segments))
        return UnserializableValue(path.removeprefix(".") or "The value", self.value, self.remedy)


def _is_index(segment: str) -> bool:
    return segment[1:-1].isdigit()


def attribute(key: Any) -> str:
    """How a path goes on through a key or a field."""
    if type(key) is str and key.isidentifier():
        return f".{key}"
    shown = repr(key)
    return f"[{shown if len(shown) <= 40 else shown[:37] + '...'}]"


def remedy_for(value: Any) -> str | None:
    """What its author can do, for what is met most often."""
    cls = type(value)
    if isinstance(value, type):
        return "Store its name, and look it up where it is used."
    if isinstance(value, BaseException):
        return "Store str(error), or the fields of it that matter."
    if hasattr(value, "__await__"):
        return "Await it first, and store what it gives."
    if hasattr(value, "__next__") or isinstance(value, range):
        return "Store list(...) of it."
    if callable(value) and hasattr(value, "__qualname__"):
        return "Store its name, and look it up where it is used."
    if is_supported(cls):
        return (
            f"Mention {cls.__qualname__} in the annotations of the state, or register it with "
            f"compile(types=[{cls.__qualname__}])."
        )
    if hasattr(value, "tolist"):  # arrays and their scalars
        return "Store its .tolist()."
    for base in BUILTIN_BASES:
        if isinstance(value, base):
            plain = f"Store {base.__name__}(...) of it"
            return f"{plain}, or register the type with compile(types=[...])."
    return None
