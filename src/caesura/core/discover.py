"""Find the types, exceptions and compiled graphs that a function reaches by the names in its code.

Promises: nothing is called or imported while looking; only what is there already is seen. Does not
promise: completeness. What is made while the function runs is not seen, so the engine also learns
of child graphs when they are called, and of types by `compile(types=[...])`.
Called by `core.graph` once per compile.
"""

from __future__ import annotations

import builtins
import dataclasses
import inspect
from collections.abc import Iterable, Iterator
from enum import Enum
from functools import cached_property, partial
from types import CodeType, ModuleType
from typing import Any, get_args, get_origin

import msgspec

from caesura.core.callables import closure_of, hints_of
from caesura.core.forms import field_types, is_model
from caesura.core.plan import Plan

_LIMIT = 2_000  # objects looked at for one function: a bound on compile time, not a promise
_OURS = ("caesura.core", "caesura.engine", "caesura.stores", "caesura.errors", "caesura.ports")
_MISSING = object()
_BUILTIN_ERRORS = {
    name: thing
    for name, thing in vars(builtins).items()
    if isinstance(thing, type) and issubclass(thing, Exception)
}


def graphs_in(function: Any) -> tuple[Any, ...]:
    """Compiled graphs that a function refers to, in the order in which they are found."""
    found = {id(thing): thing for thing in _reach(function) if is_graph(thing)}
    return tuple(found.values())


def is_graph(thing: Any) -> bool:
    """Whether something is a compiled graph: it has a `plan`."""
    if isinstance(thing, type):
        return False
    plan = inspect.getattr_static(thing, "plan", _MISSING)
    if isinstance(plan, property | cached_property):  # asking other people's would run their code
        function = plan.fget if isinstance(plan, property) else plan.func
        if not str(getattr(function, "__module__", "")).startswith("caesura."):
            return False
    return plan is not _MISSING and isinstance(getattr(thing, "plan", None), Plan)


def types_in(function: Any) -> list[type]:
    """User types that a function, and what it calls by name, mentions in code or annotations."""
    mentioned: list[Any] = [*hints_of(function).values()]
    for thing in _reach(function):
        if isinstance(thing, type):
            mentioned.append(thing)
        elif inspect.isroutine(thing):
            mentioned.extend(hints_of(thing).values())
    return user_types(mentioned)


def errors_in(functions: Iterable[Any]) -> dict[str, type[Exception]]:
    """Exceptions that code mentions, and their subclasses, by full name.

    An `except` clause catches subclasses that nobody mentions: a library's, mostly.
    """
    mentioned = [
        thing
        for function in functions
        for thing in _reach(function)
        if isinstance(thing, type) and issubclass(thing, Exception) and thing is not Exception
    ]
    found: dict[str, type[Exception]] = {}
    seen: set[type] = set()
    pending = mentioned[::-1]
    later: list[type[Exception]] = []  # what is mentioned goes before a subclass of the same name
    while pending or later:
        error = pending.pop() if pending else later.pop()
        if error in seen:
            continue
        seen.add(error)
        if error.__module__ != "builtins":
            found.setdefault(f"{error.__module__}.{error.__qualname__}", error)
        later.extend(type.__subclasses__(error))
    return found


# ------------------------------------------------------------------------------ types in types
def user_types(annotations: Iterable[Any]) -> list[type]:
    """Every dataclass, model, struct, enum, named tuple and TypedDict within annotations."""
    found: dict[type, None] = {}
    seen: set[int] = set()
    pending = list(annotations)[::-1]
    keep: list[Any] = []  # what is looked at must live on, or its id could come again
    while pending:
        annotation = pending.pop()
        if id(annotation) in seen:
            continue
        seen.add(id(annotation))
        keep.append(annotation)
        if isinstance(annotation, Enum):  # a value of a Literal
            annotation = type(annotation)
        if isinstance(annotation, type) and _is_user_type(annotation):
            found[annotation] = None
        pending.extend(list(_parts(annotation))[::-1])
    return list(found)


def _parts(annotation: Any) -> Iterator[Any]:
    origin = get_origin(annotation)
    if origin is not None:
        yield origin
    yield from get_args(annotation)
    for attribute in ("__supertype__", "__value__", "__bound__"):  # NewType, type alias, TypeVar
        part = getattr(annotation, attribute, None)
        if part is not None and not isinstance(annotation, Enum):
            yield part
    if isinstance(annotation, type) and _is_user_type(annotation):
        try:
            yield from field_types(annotation).values()
        except Exception:  # noqa: BLE001 - annotations may raise anything; the type itself stands
            return


def _is_user_type(cls: type) -> bool:
    if get_origin(cls) is not None or cls.__module__.startswith(_OURS):
        return False
    if cls.__module__ in ("builtins", "typing", "pydantic.main", "msgspec", "enum"):
        return False
    return (
        dataclasses.is_dataclass(cls)
        or is_model(cls)
        or issubclass(cls, msgspec.Struct | Enum)
        or (issubclass(cls, tuple) and hasattr(cls, "_fields"))
        or hasattr(cls, "__total__")
    )


# ---------------------------------------------------------------------------- names in functions
def _reach(root: Any) -> Iterator[Any]:
    """Everything a function refers to; functions of its own package are looked into as well."""
    home = _package(root)
    seen: set[int] = set()
    pending: list[Any] = [root]
    keep: list[Any] = []
    while pending and len(seen) < _LIMIT:
        thing = pending.pop()
        if id(thing) in seen:
            continue
        seen.add(id(thing))
        keep.append(thing)
        if thing is not root:
            yield thing
        if thing is root or (_package(thing) == home and not isinstance(thing, type)):
            pending.extend(list(_named_in(thing))[::-1])
        elif isinstance(thing, dict | list | tuple | set | frozenset):
            pending.extend(_elements(thing))


def _package(thing: Any) -> str:
    while isinstance(thing, partial):
        thing = thing.func
    named = thing if inspect.isroutine(thing) or isinstance(thing, type) else type(thing)
    return str(getattr(named, "__module__", None) or "").partition(".")[0]


def _elements(container: Any) -> Iterator[Any]:
    elements = container.values() if isinstance(container, dict) else container
    for element in list(elements)[:100]:
        if callable(element) or is_graph(element):
            yield element


def _named_in(thing: Any) -> Iterator[Any]:
    """What one function or callable object refers to."""
    if isinstance(thing, partial):
        yield from (thing.func, *thing.args, *thing.keywords.values())
        return
    if inspect.ismethod(thing):
        yield from _attributes(thing.__self__)
        thing = thing.__func__
    elif not inspect.isroutine(thing):
        yield from _attributes(thing)
        thing = inspect.getattr_static(type(thing), "__call__", None)
    wrapped = getattr(thing, "__wrapped__", None)
    if wrapped is not None:
        yield wrapped
    code = getattr(thing, "__code__", None)
    if code is None:
        return
    names = set(_names(code))
    held = [*closure_of(thing).values(), *(thing.__defaults__ or ())]
    held += (thing.__kwdefaults__ or {}).values()
    held += [thing.__globals__[name] for name in sorted(names) if name in thing.__globals__]
    held += [_BUILTIN_ERRORS[n] for n in sorted(names & _BUILTIN_ERRORS.keys())]
    for one in held:
        if isinstance(one, ModuleType):
            yield from (vars(one)[n] for n in sorted(names) if n in vars(one))
        else:
            yield one
            yield from _members(one, names)


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _attributes(thing: Any) -> Iterator[Any]:
    """The attributes of a bound object that could matter: graphs and things that can be called."""
    if isinstance(thing, type | ModuleType):
        return
    wrapped = getattr(thing, "__dict__", {})
    for value in list(wrapped.values())[:100]:
        if callable(value) or is_graph(value):
            yield value


def _members(thing: Any, names: set[str]) -> Iterator[Any]:
    """`client.charge`: a method or attribute of something named, when the code names it too."""
    if inspect.isroutine(thing) or isinstance(thing, str | bytes | int | float | bool):
        return
    owner = thing if isinstance(thing, type) else type(thing)
    own = {} if isinstance(thing, type) else getattr(thing, "__dict__", {})
    for name in sorted(names):
        if name in own:
            yield own[name]
            continue
        member = inspect.getattr_static(owner, name, None)
        member = getattr(member, "__func__", member)
        if inspect.isfunction(member) or isinstance(member, type):
            yield member
