"""What a reducer is: how it is recognised, what it starts from, and whether it keeps its hands off.

Promises: a reducer found here takes (value so far, what was written) and nothing else. Does not
promise: that it is deterministic; a thread is read again with it, so it has to be.
Called by `core.schemas`, once per key and compile.
"""

from __future__ import annotations

import builtins
import collections.abc
import operator
from collections.abc import Callable
from functools import partial
from typing import Any, get_origin

from caesura.core.messages import add_messages, prepare_messages
from caesura.errors import InvalidGraph

Reducer = Callable[[Any, Any], Any]
Prepare = Callable[[Any, Callable[[], str]], Any]

# These build a new value and leave their left side alone.
_PURE: tuple[Any, ...] = (
    operator.add, operator.concat, operator.mul, operator.sub, operator.or_, operator.and_,
    operator.xor, builtins.max, builtins.min, add_messages,
)  # fmt: skip

_CONCRETE: dict[Any, type] = {
    collections.abc.Sequence: list,
    collections.abc.MutableSequence: list,
    collections.abc.Set: set,
    collections.abc.MutableSet: set,
    collections.abc.Mapping: dict,
    collections.abc.MutableMapping: dict,
}


def reducer_in(key: str, metadata: tuple[Any, ...]) -> Reducer | None:
    """The reducer of `Annotated[T, ..., f]`: the last piece of metadata, if it can be called."""
    if not metadata or not callable(metadata[-1]):
        return None
    import inspect

    reducer: Reducer = metadata[-1]
    try:
        signature = inspect.signature(reducer)
    except ValueError:  # a builtin without a signature, such as max
        return reducer
    try:
        signature.bind(None, None)
    except TypeError:
        if isinstance(reducer, type):  # a class as a mark for somebody else
            return None
        raise InvalidGraph(
            f"The reducer of key {key!r}, {_shown(reducer)}{signature}, cannot be called with two "
            f"values. A reducer takes (value so far, what was written) and returns the new value."
        ) from None
    return reducer


def is_pure(reducer: Reducer) -> bool:
    """Whether the reducer is known never to change its left side, so that it needs no copy."""
    if isinstance(reducer, partial):
        return is_pure(reducer.func)
    return any(reducer is pure for pure in _PURE)


def prepare_of(reducer: Reducer) -> Prepare | None:
    """What fixes chance in a value before it is logged, so that reading the log needs none."""
    if isinstance(reducer, partial):
        return prepare_of(reducer.func)
    return prepare_messages if reducer is add_messages else None


def empty_of(annotation: Any) -> Callable[[], Any] | None:
    """Makes the value that a reducer starts from; None where the type has no empty value.

    A union (`list | None`) has none: such a key is absent until it is written, and the first write
    is taken as it is.
    """
    plain = get_origin(annotation) or annotation
    make = _CONCRETE.get(plain, plain)
    if not isinstance(make, type) or make is object:
        return None
    try:
        make()
    except Exception:  # noqa: BLE001 - a type's constructor may refuse in any way it likes
        return None
    return make


def _shown(reducer: Any) -> str:
    return str(getattr(reducer, "__qualname__", None) or type(reducer).__qualname__)
