"""Failures as they are kept in the log, and as they are raised again from it.

Promises: an exception of a builtin type whose arguments are plain comes back as that type with its
message; any other comes back as `RecordedError` with type, message and traceback. Describing never
fails, whatever the exception does when it is looked at. Nothing that a log names is imported.
Called by `engine.scopes` and `engine.tasks`.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
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

# Errors of ours that programs tell apart, and that are made of their message alone.
_OWN: dict[str, Callable[[str], Exception]] = {
    f"{cls.__module__}.{cls.__qualname__}": cls
    for cls in (NodeTimeoutError, InvalidUpdateError, GraphRecursionError)
}


def describe(error: BaseException) -> ErrorInfo:
    """What is kept of an exception."""
    import traceback

    cls = type(error)
    builtin = cls.__module__ == "builtins"
    name = cls.__qualname__ if builtin else f"{cls.__module__}.{cls.__qualname__}"
    return ErrorInfo(
        name,
        _message(error),
        "".join(traceback.format_exception(error))[-MOST_TRACEBACK:],
        _plain_args(error) if builtin else None,
    )


def _message(error: BaseException) -> str:
    try:
        return str(error)
    except Exception as another:  # noqa: BLE001 - a __str__ of the user's may raise anything
        return f"<its message could not be made: {type(another).__name__}>"


def _plain_args(error: BaseException) -> list[Any] | None:
    """What the exception can be made of again; None: it cannot."""
    args = list(error.args)
    if isinstance(error, OSError) and error.filename is not None:
        # They are taken out of `args`, and the message shows them.
        args += [_text_of(error.filename)]
        if error.filename2 is not None:
            args += [None, _text_of(error.filename2)]
    return args if all(type(arg) in _PLAIN for arg in args) else None


def _text_of(filename: Any) -> Any:
    import os

    return os.fspath(filename) if isinstance(filename, os.PathLike) else filename


def rebuild(info: ErrorInfo) -> Exception:
    """An exception that says what the recorded one said."""
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
