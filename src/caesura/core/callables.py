"""What can be known about a node's function before it runs: its name, parameters and colour.

Promises: a function that could never be called is refused at compile, with the parameter named.
Does not promise: that annotations resolve; one that does not is passed over, the others count.
Called by `core.graph` and by the functional form.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from types import SimpleNamespace
from typing import Any, Literal, NamedTuple, get_args, get_origin, get_type_hints

from caesura.core.control import Command
from caesura.errors import InvalidGraph, Unsupported

INJECTED = ("config", "runtime", "writer", "error")

# How the type of an injected parameter is called, to tell it from another one of the same name.
_TYPE_NAMES = {
    "config": ("RunnableConfig",),
    "runtime": ("Runtime",),
    "writer": ("StreamWriter",),
    "error": ("NodeError",),
    "store": ("BaseStore",),
}


class Callee(NamedTuple):
    """A function as the engine has to call it."""

    is_async: bool
    takes_state: bool
    inject: tuple[str, ...]
    state_hint: Any  # the annotation of the state's parameter, None without one
    returns: Any  # the annotation of what it returns, None without one


def name_of(action: Any) -> str | None:
    """What people would call it: the function's name, else its class's."""
    if isinstance(action, partial):
        return name_of(action.func)
    if hasattr(action, "get_name") and not hasattr(action, "__name__"):
        return str(action.get_name())
    return str(getattr(action, "__name__", None) or type(action).__name__)


def runs_as(action: Any) -> Any:
    """The callable behind an action: itself, or the `invoke` of a LangChain runnable."""
    if not callable(action) and callable(getattr(action, "invoke", None)):
        return action.invoke
    return action


def read_callable(
    action: Any, where: str, *, injected: Sequence[str] = INJECTED, handler: bool = False
) -> Callee:
    """How to call `action`; refuses what cannot be called with a state and what may be injected."""
    if not callable(action):
        raise InvalidGraph(
            f"{where} is {action!r}, which cannot be called. Give a function, an object with "
            f"__call__, or a compiled graph."
        )
    function = _function_behind(action)
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise InvalidGraph(
            f"{where} is a generator, and nobody would read what it yields. Return the update, and "
            f"stream with the injected `writer` or get_stream_writer()."
        )
    hints = hints_of(action)
    is_async = inspect.iscoroutinefunction(function)
    try:
        parameters = dict(inspect.signature(action).parameters)
    except (ValueError, TypeError):  # a builtin that does not tell
        return Callee(is_async, True, (), None, hints.get("return"))
    filled = _filled_by_partials(action)
    state = _state_parameter(parameters, hints, injected)
    inject: list[str] = []
    for name, parameter in parameters.items():
        if name == state or name in filled or not _can_be_named(parameter):
            continue
        if name == "store" and parameter.default is parameter.empty:
            raise Unsupported(
                f"{where} asks for the long-term store, which is out of scope. Pass your own with "
                f"functools.partial, or keep it in the runtime context."
            )
        if name in injected and _is_meant(name, parameter, hints.get(name), handler):
            inject.append(name)
        elif parameter.default is parameter.empty:
            raise InvalidGraph(
                f"{where} has a parameter {name!r} that nothing fills. Nodes are called with the "
                f"state and, by name, with {', '.join(injected)}. Give it a default, or fill it "
                f"with functools.partial."
            )
    hint = hints.get(state) if state else None
    return Callee(is_async, state is not None, tuple(inject), hint, hints.get("return"))


def _function_behind(action: Any) -> Any:
    while isinstance(action, partial):
        action = action.func
    if inspect.isroutine(action) or isinstance(action, type):
        return action
    return type(action).__call__


def _filled_by_partials(action: Any) -> set[str]:
    filled: set[str] = set()
    while isinstance(action, partial):
        filled.update(action.keywords)
        action = action.func
    return filled


def _can_be_named(parameter: inspect.Parameter) -> bool:
    return parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)


def _state_parameter(
    parameters: Mapping[str, inspect.Parameter], hints: Mapping[str, Any], injected: Sequence[str]
) -> str | None:
    """The first positional parameter, unless its type says that it is something injected."""
    for name, parameter in parameters.items():
        if parameter.kind in (parameter.KEYWORD_ONLY, parameter.VAR_KEYWORD):
            return None
        annotation = hints.get(name, parameter.annotation)
        if name in injected and _names_type(annotation, _TYPE_NAMES.get(name, ())):
            continue
        return name
    return None


def _is_meant(name: str, parameter: inspect.Parameter, hint: Any, handler: bool) -> bool:
    """Whether a parameter called like an injected one is one."""
    annotation = parameter.annotation if hint is None else hint
    if _names_type(annotation, _TYPE_NAMES.get(name, ())):
        return True
    if name == "error" and not handler:
        return False
    return annotation is parameter.empty or parameter.default in (parameter.empty, None)


def _names_type(annotation: Any, names: Sequence[str]) -> bool:
    if isinstance(annotation, str):
        return any(name in annotation for name in names)
    parts = (annotation, get_origin(annotation), *get_args(annotation))
    return any(getattr(part, "__name__", None) in names for part in parts)


# ------------------------------------------------------------------------------------ annotations
def hints_of(action: Any) -> dict[str, Any]:
    """A function's annotations with extras, as far as they can be resolved."""
    function = _function_behind(action)
    if isinstance(function, type):
        function = getattr(function, "__init__", function)
    function = inspect.unwrap(function)
    function = getattr(function, "__func__", function)
    try:
        return get_type_hints(function, include_extras=True)
    except Exception:  # noqa: BLE001 - an annotation is an expression and may raise anything
        return dict(_hints_one_by_one(function))


def _hints_one_by_one(function: Any) -> Iterator[tuple[str, Any]]:
    enclosing = closure_of(function)
    for name, annotation in (getattr(function, "__annotations__", None) or {}).items():
        alone: Any = SimpleNamespace(__annotations__={name: annotation})
        try:
            yield from get_type_hints(
                alone, getattr(function, "__globals__", {}), enclosing, include_extras=True
            ).items()
        except Exception:  # noqa: BLE001 - as above; this one stays unknown
            continue


def closure_of(function: Any) -> dict[str, Any]:
    """The names of enclosing functions that a function uses, with their values."""
    code = getattr(function, "__code__", None)
    held: dict[str, Any] = {}
    for name, cell in zip(
        code.co_freevars if code else (), getattr(function, "__closure__", None) or (), strict=False
    ):
        try:
            held[name] = cell.cell_contents
        except ValueError:  # not yet assigned
            continue
    return held


def destinations_in(returns: Any) -> tuple[str, ...]:
    """The node names in `Command[Literal["a", "b"]]`, also inside unions and lists."""
    if get_origin(returns) is Command:
        return literals_in(returns)
    found = [end for part in get_args(returns) for end in destinations_in(part)]
    return tuple(dict.fromkeys(found))


def literals_in(annotation: Any) -> tuple[str, ...]:
    """All texts in `Literal[...]`, wherever it stands in the annotation."""
    if get_origin(annotation) is Literal:
        return tuple(value for value in get_args(annotation) if isinstance(value, str))
    parts = get_args(annotation)
    return tuple(dict.fromkeys(text for part in parts for text in literals_in(part)))
