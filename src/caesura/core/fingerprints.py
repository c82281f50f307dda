"""A short text for a function that is the same in every process and another one after a change.

Promises: a named function is its import path, so that fixing its body is no break with the past; a
lambda, a partial or a closure has no name of its own, so a hash of what it does is added. Does not
promise: that hashes can be compared between Python versions; `differs` does not compare them.
Called by `core.schemas` at compile, and by the engine where a log meets today's reducers.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable
from functools import partial
from types import CodeType
from typing import Any

_PLAIN = (str, bytes, int, float, complex, bool, type(None), type(Ellipsis))
_VERSION = f"py{sys.version_info[0]}.{sys.version_info[1]}"


def fingerprint(function: Callable[..., Any]) -> str:
    """`package.module.name`, with `#version:hash` where the name does not say what it does."""
    path = _path(function)
    if _stands_by_its_name(function):
        return path
    digest = hashlib.blake2b(_describe(function, ()).encode(), digest_size=8).hexdigest()
    return f"{path}#{_VERSION}:{digest}"


def differs(recorded: str, current: str) -> bool:
    """Whether two fingerprints are known to stand for different functions."""
    if recorded == current:
        return False
    old_path, _, old_hash = recorded.partition("#")
    new_path, _, new_hash = current.partition("#")
    another_python = old_hash.partition(":")[0] != new_hash.partition(":")[0]
    return not (old_path == new_path and old_hash and new_hash and another_python)


def _path(function: Any) -> str:
    if isinstance(function, partial):
        return f"partial({_path(function.func)})"
    named = function if hasattr(function, "__qualname__") else type(function)
    module = getattr(named, "__module__", None) or "builtins"
    # The C halves of modules (`_operator`) are an accident of the interpreter.
    return f"{module.lstrip('_') if module == '_operator' else module}.{named.__qualname__}"


def _stands_by_its_name(function: Any) -> bool:
    if isinstance(function, partial):
        return False
    qualname = getattr(function, "__qualname__", None)
    if qualname is None:  # an instance with __call__: its class is its name
        return False
    return "<lambda>" not in qualname and "<locals>" not in qualname


def _describe(value: Any, inside: tuple[int, ...]) -> str:
    """What a value is, without addresses and without the order of sets."""
    if isinstance(value, _PLAIN):
        return repr(value)
    if id(value) in inside:
        return "..."
    inside = (*inside, id(value))
    if isinstance(value, tuple | list):
        return f"{type(value).__name__}[{','.join(_describe(v, inside) for v in value)}]"
    if isinstance(value, set | frozenset):
        return f"set[{','.join(sorted(_describe(v, inside) for v in value))}]"
    if isinstance(value, dict):
        items = sorted(f"{_describe(k, inside)}:{_describe(v, inside)}" for k, v in value.items())
        return f"dict[{','.join(items)}]"
    if isinstance(value, CodeType):
        return _describe_code(value, inside)
    if isinstance(value, partial):
        parts = (value.func, value.args, value.keywords)
        return f"partial[{','.join(_describe(p, inside) for p in parts)}]"
    if callable(value):
        return _describe_callable(value, inside)
    return _path(value)


def _describe_callable(function: Any, inside: tuple[int, ...]) -> str:
    code = getattr(function, "__code__", None)
    if code is None or _stands_by_its_name(function):
        return _path(function)
    cells = []
    for cell in getattr(function, "__closure__", None) or ():
        try:
            cells.append(cell.cell_contents)
        except ValueError:  # a name of the enclosing function that was not yet assigned
            cells.append(None)
    held = (function.__defaults__, function.__kwdefaults__, cells)
    shown = ",".join(_describe(part, inside) for part in held)
    return f"{_describe_code(code, inside)}({shown})"


def _describe_code(code: CodeType, inside: tuple[int, ...]) -> str:
    constants = ",".join(_describe(c, inside) for c in code.co_consts)
    names = ",".join(code.co_names + code.co_freevars)
    body = hashlib.blake2b(code.co_code, digest_size=8).hexdigest()
    return f"code[{body};{constants};{names}]"
