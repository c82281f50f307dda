"""Failures as they are kept in the log, and as they are raised again from it.

Promises: an exception whose arguments are plain comes back as its type with its message, when that
type is a builtin or among those that the reader knows; any other comes back as `RecordedError` with
type, message and traceback. Describing never fails, whatever the exception does when it is looked
at. Nothing that a log names is imported, and no code of the user's runs while a failure is read.
Does not promise: attributes that are not plain. Reading one of those is an `AttributeError`.
Called by `engine.scopes`, `engine.effects` and `engine.tasks`.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping
from copy import deepcopy
from types import BuiltinFunctionType, WrapperDescriptorType
from typing import Any

from caesura.core.parts import ErrorInfo
from caesura.errors import (
    GraphRecursionError,
    InvalidUpdateError,
    NodeTimeoutError,
    RecordedError,
)

_PLAIN = (str, int, float, bool, bytes, type(None))
MOST_TRACEBACK = 20_000  # characters
MOST_ATTRIBUTES = 20_000  # characters and numbers, all in all
_DEEPEST = 8

# As the interpreter sees them, whatever a class says that they are.
_args_of: Callable[[BaseException], tuple[Any, ...]] = vars(BaseException)["args"].__get__
_attributes_of: Callable[[BaseException], dict[str, Any]] = vars(BaseException)["__dict__"].__get__

# Errors of ours that programs tell apart, and that are made of their message alone.
_OWN: dict[str, Callable[[str], Exception]] = {
    f"{cls.__module__}.{cls.__qualname__}": cls
    for cls in (NodeTimeoutError, InvalidUpdateError, GraphRecursionError)
}


def describe(error: BaseException) -> ErrorInfo:
    """What is kept of an exception."""
    cls = type(error)
    builtin = cls.__module__ == "builtins"
    name = cls.__qualname__ if builtin else f"{cls.__module__}.{cls.__qualname__}"
    info = ErrorInfo(
        name,
        _message(error),
        _traceback(error),
        _plain_args(error, deep=not builtin),
    )
    if not builtin and info.args is not None:
        _describe_attributes(error, info)
    return info


def _describe_attributes(error: BaseException, info: ErrorInfo) -> None:
    room, kept, unkept = MOST_ATTRIBUTES, {}, []
    for name, value in list(_attributes_of(error).items()):
        weight = _weight(value)
        if weight is None or weight > room:
            unkept.append(name)
        else:
            room -= weight
            kept[name] = deepcopy(value)
    info.attributes, info.unkept = kept or None, unkept or None


def _weight(value: Any, depth: int = 0) -> int | None:
    """How much there is of plain data; None: it is not plain."""
    cls = type(value)
    if cls in _PLAIN:
        return 1 + (len(value) if cls is str or cls is bytes else 0)
    if cls not in (list, tuple, dict) or depth == _DEEPEST or len(value) > MOST_ATTRIBUTES:
        return None
    if cls is dict:
        if not all(type(key) is str for key in value):
            return None
        value = [*value, *value.values()]
    weights = [_weight(item, depth + 1) for item in value]
    return None if None in weights else 1 + sum(weight for weight in weights if weight)


def _traceback(error: BaseException) -> str:
    import traceback

    try:
        return "".join(traceback.format_exception(error))[-MOST_TRACEBACK:]
    except Exception as another:  # noqa: BLE001 - it asks the exception for this and that
        return f"<its traceback could not be made: {type(another).__name__}>"


def _message(error: BaseException) -> str:
    try:
        return str(error)
    except Exception as another:  # noqa: BLE001 - a __str__ of the user's may raise anything
        return f"<its message could not be made: {type(another).__name__}>"


def _plain_args(error: Any, *, deep: bool) -> list[Any] | None:
    """What the exception can be made of again; None: it cannot. `deep`: lists and dicts, too."""
    args = list(_args_of(error))
    if issubclass(type(error), OSError):
        # They are taken out of `args`, and the message shows them.
        try:
            if error.filename is not None:
                args += [_text_of(error.filename)]
            if error.filename2 is not None:
                args += [None, _text_of(error.filename2)]
        except Exception:  # noqa: BLE001 - a class of the user's may make anything of its names
            return None
    if deep and _weight(args) is not None:
        return deepcopy(args)
    return args if all(type(arg) in _PLAIN for arg in args) else None


def _text_of(filename: Any) -> Any:
    import os

    return os.fspath(filename) if isinstance(filename, os.PathLike) else filename


def rebuild(info: ErrorInfo, known: Mapping[str, type[Exception]] | None = None) -> Exception:
    """An exception that says what the recorded one said; `known` are types beside the builtins."""
    if known is not None and info.args is not None and info.type_name in known:
        again = _made_again(known[info.type_name], info)
        if again is not None:
            return again
    cls: Any = getattr(builtins, info.type_name, None)
    if (own := _OWN.get(info.type_name)) is not None:
        return own(info.message)
    if info.args is not None and isinstance(cls, type) and issubclass(cls, Exception):
        try:
            error: Exception = cls(*info.args)
        except Exception:  # noqa: BLE001 - the arguments of another version of Python, say
            return RecordedError(info.type_name, info.message, info.traceback)
        error.add_note("(read back from the log)")
        return error
    return RecordedError(info.type_name, info.message, info.traceback)


def _made_again(cls: type[Exception], info: ErrorInfo) -> Exception | None:
    """An exception of a type of the user's, made without its code; None: it cannot be."""
    unkept = info.unkept or ()
    if any(name in vars(base) for name in unkept for base in cls.__mro__):
        return None  # the class would answer for what the exception had, and say something else
    try:
        new = next(vars(base)["__new__"] for base in cls.__mro__ if "__new__" in vars(base))
        if not isinstance(new, BuiltinFunctionType):
            return None
        inits = (vars(base).get("__init__") for base in cls.__mro__)
        init = next(init for init in inits if isinstance(init, WrapperDescriptorType))
        args = deepcopy(info.args)
        error: Exception = new(cls, *args)
        init(error, *args)
        attributes = _attributes_of(error)
        attributes.update(deepcopy(info.attributes or {}))
        without = f", without {', '.join(unkept)}" if unkept else ""
        attributes["__notes__"] = [
            *attributes.get("__notes__", ()),
            f"(read back from the log{without})",
        ]
    except Exception:  # noqa: BLE001 - the class may have changed since in any way
        return None
    return error
