"""Which types may be written to a log and read back, by name.

Promises: a name stands for one class, and only what was registered is ever called when a log is
read. A name is `module:Qualname`, so a type of `__main__` or of a function's body is found again
when the same program has built its graph again. Does not promise: that a type found in an
annotation can be written; what cannot is left out, unless it was given with `types=`.
Built per compiled graph from `Plan.types` and `types=`; read by `plain` and `reading`.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Iterable
from enum import Enum
from typing import Any, NamedTuple, get_args, get_origin, get_type_hints
from weakref import WeakSet

from caesura.core import control
from caesura.engine.kinds import Kind, is_supported, kind_for
from caesura.engine.standard import STANDARD, standard_kind
from caesura.errors import AuthoringError

MESSAGES = frozenset({
    "AIMessage", "AIMessageChunk", "ChatMessage", "ChatMessageChunk", "FunctionMessage",
    "FunctionMessageChunk", "HumanMessage", "HumanMessageChunk", "RemoveMessage", "SystemMessage",
    "SystemMessageChunk", "ToolMessage", "ToolMessageChunk",
})  # fmt: skip
LANGCHAIN = "langchain_core:"

MOST_REPLACED = 256  # classes of one name that replaced each other and can still be written


class Custom(NamedTuple):
    """A type that explains itself: `write` gives plain data for a value, `read` the value back."""

    cls: type
    write: Callable[[Any], Any]
    read: Callable[[Any], Any]


class Registry:
    """The types of one graph."""

    def __init__(self, found: Iterable[Any] = (), types: Iterable[Any] = ()) -> None:
        self.fingerprints: Any = None  # made when they are first needed, by `fingerprint`
        self._by_class: dict[type, Kind] = dict(STANDARD)
        self._by_name: dict[str, Kind] = {}
        # Weak, because what nodes define anew must not pile up.
        self._seen: WeakSet[Any] = WeakSet()
        self._replaced: deque[type] = deque()
        for kind in CONTROL:
            self._enter(kind)
        for annotation in found:
            self.learn(annotation)
        for given in types:
            self.add(given)

    def add(self, given: Any) -> None:
        """Register a type that somebody asked for by name, and all that its fields mention."""
        if isinstance(given, tuple):
            if len(given) != 3 or not isinstance(given[0], type):
                raise AuthoringError(f"types=[{given!r}] is no (class, write, read) triple.")
            custom = Custom(*given)
            self._enter(Kind(name_of(custom.cls), None, custom.cls, custom.write, custom.read))
            return
        if isinstance(given, type) and not self._can_write(given):
            raise AuthoringError(
                f"types=[{given.__qualname__}] cannot be written to the log by itself: it is no "
                f"dataclass, pydantic model, msgspec.Struct, NamedTuple or Enum. Make it one, or "
                f"give ({given.__qualname__}, write, read): a function from a value to plain data "
                f"and one back."
            )
        if not isinstance(given, type) and not get_args(given):
            raise AuthoringError(
                f"types=[{given!r}] is not a type. Give classes, or (class, write, read) triples."
            )
        self.learn(given)

    def learn(self, annotation: Any, *, replace: bool = False) -> None:
        """Register every type that an annotation mentions and that can be registered.

        `replace` is for annotations met while running: a class that a node's body defines anew on
        each call takes the place of the one before. Otherwise two classes of one name are refused.
        """
        value = getattr(annotation, "__value__", None)  # type X = ...
        if isinstance(annotation, type) or value is not None:  # only these lead back to themselves
            if annotation in self._seen:
                return
            self._seen.add(annotation)
        for argument in get_args(annotation):
            if isinstance(argument, Enum):  # Literal[Color.RED]
                self.learn(type(argument), replace=replace)
            elif isinstance(argument, list):  # Callable[[A], B]
                for inner in argument:
                    self.learn(inner, replace=replace)
            elif not isinstance(argument, str | int | bytes):
                self.learn(argument, replace=replace)
        origin = get_origin(annotation)
        if isinstance(origin, type):
            self.learn(origin, replace=replace)
        if value is not None and not isinstance(annotation, type):
            self.learn(value, replace=replace)
        if not isinstance(annotation, type):
            return
        if annotation not in self._by_class and (kind := kind_for(annotation)) is not None:
            self._enter(kind, replace=replace)
        for field in _annotations_of(annotation):
            self.learn(field, replace=replace)

    def classes(self) -> list[type]:
        """Everything that is registered and belongs to the program."""
        return [kind.cls for kind in list(self._by_name.values())]

    def kind_of(self, cls: type) -> Kind | None:
        """How values of exactly this class are written; None: they may not be."""
        kind = self._by_class.get(cls)
        if kind is None:
            kind = standard_kind(cls) or _langchain_kind(cls)
            if kind is not None:
                self._by_class[cls] = kind
        return kind

    def named(self, name: str) -> Kind | None:
        """The type that is written under this name; None: unknown here. Imports nothing."""
        kind = self._by_name.get(name)
        if kind is None:
            if name.startswith(LANGCHAIN):
                kind = _langchain_named(name.removeprefix(LANGCHAIN))
            else:
                kind = self._moved_main(name)
            if kind is not None:
                self._by_name[name] = kind
        return kind

    def _can_write(self, cls: type) -> bool:
        # A TypedDict is written as the dict that it is; its fields may mention more.
        return is_supported(cls) or hasattr(cls, "__total__") or self.kind_of(cls) is not None

    def _enter(self, kind: Kind, *, replace: bool = False) -> None:
        known = self._by_name.get(kind.name)
        if known is not None and known.cls is not kind.cls and not replace:
            raise AuthoringError(
                f"Two different types of this graph are called {kind.name!r}. In the log they "
                f"could not be told apart: rename one of them."
            )
        if known is not None and known.cls is not kind.cls:
            self._replaced.append(known.cls)
            if len(self._replaced) > MOST_REPLACED:
                # Defined anew so often since that no value of it is still around.
                self._by_class.pop(self._replaced.popleft(), None)
        self._by_class[kind.cls] = kind
        self._by_name[kind.name] = kind

    def _moved_main(self, name: str) -> Kind | None:
        """`__main__:Order` is `app:Order` when the program is imported instead of run, and back."""
        module, _, qualname = name.partition(":")
        found = [
            kind
            for known, kind in list(self._by_name.items())  # others may be learning
            if known.partition(":")[2] == qualname
            and (module == "__main__" or known.startswith("__main__:"))
        ]
        return found[0] if len({kind.cls for kind in found}) == 1 else None


def name_of(cls: type) -> str:
    return f"{cls.__module__}:{cls.__qualname__}"


def _annotations_of(cls: type) -> Iterable[Any]:
    """The types of a class's fields, as far as they can be told."""
    if cls.__module__ in ("builtins", "typing", "datetime"):
        return ()
    model_fields = getattr(cls, "__pydantic_fields__", None)
    if isinstance(model_fields, dict):
        return [field.annotation for field in model_fields.values()]
    if not (is_supported(cls) or hasattr(cls, "__total__")):  # a TypedDict has __total__
        return ()
    try:
        return list(get_type_hints(cls, include_extras=True).values())
    except Exception:  # noqa: BLE001 - names that only a type checker sees: take what is there
        hints = (h for base in cls.__mro__ for h in _own_annotations(base).values())
        return [hint for hint in hints if not isinstance(hint, str)]


def _own_annotations(cls: type) -> dict[str, Any]:
    import inspect

    try:
        return inspect.get_annotations(cls)
    except NameError:  # from Python 3.14 on they are made when they are asked for
        return {}


def _langchain_kind(cls: type) -> Kind | None:
    """LangChain's messages and documents are known wherever the program itself uses them."""
    if not cls.__module__.startswith("langchain_core."):
        return None
    kind = _langchain_named(cls.__name__)
    return kind if kind is not None and kind.cls is cls else None


def _langchain_named(name: str) -> Kind | None:
    package = "messages" if name in MESSAGES else "documents" if name == "Document" else None
    module = sys.modules.get(f"langchain_core.{package}") if package else None
    cls = getattr(module, name, None) if module else None
    return kind_for(cls, LANGCHAIN + name) if isinstance(cls, type) else None


CONTROL = tuple(
    kind
    for cls in (
        control.Overwrite,
        control.Send,
        control.Command,
        control.Answer,
        control.Answers,
        control.Interrupt,
        control.TimeoutPolicy,
        control.RetryPolicy,
        control.StateUpdate,
    )
    if (kind := kind_for(cls, f"caesura:{cls.__name__}")) is not None
)
