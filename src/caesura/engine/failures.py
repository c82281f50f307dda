"""Failures as they are kept in the log, and as they are raised again from it.

Promises: an exception of a builtin type comes back as that type with its message; any other comes
back as `RecordedError` with type, message and traceback. Nothing that a log names is imported.
Called by `engine.scopes` and `engine.tasks`.
"""

from __future__ import annotations

import builtins
from typing import Any

from caesura.core.parts import ErrorInfo
from caesura.errors import RecordedError

_PLAIN = (str, int, float, bool, bytes, type(None))
MOST_TRACEBACK = 20_000  # characters


def describe(error: BaseException) -> ErrorInfo:
    """What is kept of an exception."""
    import traceback

    cls = type(error)
    builtin = cls.__module__ == "builtins"
    plain = all(type(a) in _PLAIN for a in error.args)
    name = cls.__qualname__ if builtin else f"{cls.__module__}.{cls.__qualname__}"
    text = "".join(traceback.format_exception(error))
    return ErrorInfo(
        name, str(error), text[-MOST_TRACEBACK:], list(error.args) if builtin and plain else None
    )


def rebuild(info: ErrorInfo) -> Exception:
    """An exception that says what the recorded one said."""
    cls: Any = getattr(builtins, info.type_name, None)
    if info.args is not None and isinstance(cls, type) and issubclass(cls, Exception):
        try:
            error: Exception = cls(*info.args)
        except Exception:
            return RecordedError(info.type_name, info.message, info.traceback)
        error.add_note("(read back from the log)")
        return error
    return RecordedError(info.type_name, info.message, info.traceback)
