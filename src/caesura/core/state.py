"""How writes change a state, and in which form people see it.

Promises: the same values and writes give the same state, in every process and at every reading of
the log; values that others may hold are never changed in place; when a superstep's writes cannot be
applied, the state is as it was. Does not promise: anything about a reducer that plays dice.
Called in every step by `core.history` and the engine: this is the hot path, keep it plain.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from typing import Any

from caesura.core.control import Overwrite
from caesura.core.forms import ROOT, fields_present, fields_written, is_instance
from caesura.core.plan import Channel, Schema, StateSpec
from caesura.errors import Defect, DroppedKeyWarning, InvalidUpdateError, nearest

_ABSENT: Any = object()
# What cannot change in place needs no copy before it is given to a reducer.
_IMMUTABLE = frozenset({int, str, float, bool, bytes, complex, tuple, frozenset, type(None)})


def start_values(state: StateSpec) -> dict[str, Any]:
    """The state before anything was written: keys with a reducer hold their type's empty value."""
    return {
        key: channel.empty() for key, channel in state.channels.items() if channel.empty is not None
    }


def known_values(state: StateSpec, values: Mapping[str, Any]) -> dict[str, Any]:
    """Recorded values without the keys that the state has lost since, and with what it gained."""
    kept = {key: value for key, value in values.items() if key in state.channels}
    for key, channel in state.channels.items():
        if channel.empty is not None and key not in kept:
            kept[key] = channel.empty()
    return kept


# ------------------------------------------------------------------------------------ applying
def apply_writes(
    state: StateSpec, values: dict[str, Any], writes: Sequence[Mapping[str, Any]]
) -> list[str]:
    """Apply a superstep's writes, in order, to `values`; return the keys that were written.

    Keys that the state no longer has are passed over: a log may be older than the graph.
    """
    if len(writes) == 1:
        fresh = _apply_one(state.channels, values, writes[0])
    else:
        fresh = _apply_several(state.channels, values, writes)
    values.update(fresh)
    return list(fresh)


def _apply_one(
    channels: Mapping[str, Channel], values: dict[str, Any], write: Mapping[str, Any]
) -> dict[str, Any]:
    fresh: dict[str, Any] = {}
    for key, value in write.items():
        channel = channels.get(key)
        if channel is None:
            continue
        if type(value) is Overwrite:
            fresh[key] = value.value
        elif channel.reducer is None:
            fresh[key] = value
        else:
            left = values.get(key, _ABSENT)
            fresh[key] = value if left is _ABSENT else _reduced(channel, left, value)
    return fresh


def _apply_several(
    channels: Mapping[str, Channel], values: dict[str, Any], writes: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    fresh: dict[str, Any] = {}
    overwritten: set[str] = set()
    own_lists: dict[str, list[Any]] = {}  # made here and seen by nobody yet: they may grow in place
    for write in writes:
        for key, value in write.items():
            channel = channels.get(key)
            if channel is None:
                continue
            if type(value) is Overwrite:
                if key in overwritten or (
                    channel.reducer is None and channel.guard and key in fresh
                ):
                    raise _overwritten_twice(key)
                overwritten.add(key)
                own_lists.pop(key, None)
                fresh[key] = value.value
            elif channel.reducer is None:
                if key in fresh and channel.guard:
                    raise _written_twice(channel, fresh[key], value)
                fresh[key] = value
            elif key not in overwritten:  # an Overwrite wins over all else in its superstep
                own = own_lists.get(key)
                if own is not None and type(value) is list:
                    own += value
                    continue
                left = fresh[key] if key in fresh else values.get(key, _ABSENT)
                result = value if left is _ABSENT else _reduced(channel, left, value)
                if channel.joins_lists and type(left) is type(value) is list:
                    own_lists[key] = result
                else:
                    own_lists.pop(key, None)
                fresh[key] = result
    return fresh


def _reduced(channel: Channel, left: Any, right: Any) -> Any:
    reducer = channel.reducer
    if not channel.reducer_is_pure and type(left) not in _IMMUTABLE:
        left = copy(left)
    try:
        return reducer(left, right)  # type: ignore[misc]
    except Exception as error:
        error.add_note(
            f"while the reducer {channel.fingerprint} of key {channel.key!r} joined a "
            f"{type(left).__name__} with a {type(right).__name__}"
        )
        raise


def _written_twice(channel: Channel, first: Any, second: Any) -> InvalidUpdateError:
    if channel.kind == "untracked":
        remedy = "Annotate it with UntrackedValue(guard=False) if the last write may win."
    else:
        remedy = (
            f"Say how to join them with a reducer, for example {channel.key}: "
            f"Annotated[list, operator.add]."
        )
    return InvalidUpdateError(
        f"Key {channel.key!r} can receive only one value per superstep and was given two: "
        f"{_short(first)} and {_short(second)}. {remedy}"
    )


def _overwritten_twice(key: str) -> InvalidUpdateError:
    return InvalidUpdateError(
        f"Key {key!r} can receive only one Overwrite per superstep and was given two writes that "
        f"both replace it. Let one task of the superstep overwrite it."
    )


def tracked(state: StateSpec, writes: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """What of them goes into the log: keys that are never recorded live in memory only."""
    if not state.untracked:
        return list(writes)
    return [{k: v for k, v in write.items() if k not in state.untracked} for write in writes]


# ------------------------------------------------------------------------------------- reading
def _no_ids() -> str:
    raise Defect("An update needs a fresh id, and its reader was given no way to make one.")


def read_update(
    state: StateSpec,
    value: Any,
    where: str,
    *,
    new_id: Callable[[], str] = _no_ids,
    quietly: bool = False,
) -> dict[str, Any] | None:
    """What `where` (a node, `update_state`) gave, as a plain mapping that can be logged.

    None writes nothing. Keys that the state lacks are dropped: `quietly`, or with one warning per
    key; a strict state refuses them.
    """
    if value is None:
        return None
    if state.bare:
        update = {ROOT: value}
    elif type(value) is dict and value.keys() <= state.channels.keys():
        update = value.copy()
    else:
        given = _taken_apart(value, where)
        update = {key: held for key, held in given.items() if key in state.channels}
        if not quietly and len(update) < len(given):
            _speak_of_unknown(state, given.keys(), where)
    return _prepared(state, update, new_id) if state.preparing else update


def read_updates(
    state: StateSpec,
    value: Any,
    where: str,
    *,
    new_id: Callable[[], str] = _no_ids,
    quietly: bool = False,
) -> list[dict[str, Any]]:
    """The same for a command's update, whose pairs may write one key several times."""
    parts: list[Any] = [value]
    if not state.bare and isinstance(value, list | tuple) and not value:
        return []
    if not state.bare and _is_pairs(value) and len(dict(value)) < len(value):
        parts = [{key: held} for key, held in value]
    read = (read_update(state, part, where, new_id=new_id, quietly=quietly) for part in parts)
    return [update for update in read if update is not None]


def read_input(
    state: StateSpec,
    schema: Schema,
    value: Any,
    *,
    where: str = "the input",
    new_id: Callable[[], str] = _no_ids,
) -> dict[str, Any] | None:
    """What a caller gave; keys outside of the input schema are ignored."""
    if value is None:
        return None
    if state.bare:
        update = {schema.keys[0]: value}
    else:
        given = fields_present(value) if is_instance(value) else _taken_apart(value, where)
        update = {key: given[key] for key in schema.keys if key in given}
    return _prepared(state, update, new_id) if state.preparing else update


def check_input(schema: Schema, values: Mapping[str, Any]) -> None:
    """Raise pydantic's own error when the state with an input in it does not fit the schema.

    What is merely missing may still be written by a node; whoever needs it will say so.
    """
    if schema.form != "pydantic":
        return
    try:
        schema.build(values)
    except ValueError as error:
        problems: Any = getattr(error, "errors", list)()
        if not problems or any(problem["type"] != "missing" for problem in problems):
            raise


def _taken_apart(value: Any, where: str) -> Mapping[str, Any]:
    if isinstance(value, Mapping):
        return value
    if is_instance(value):
        return fields_written(value)
    if _is_pairs(value):
        return dict(value)
    raise InvalidUpdateError(
        f"Expected dict, got {_short(value)} from {where}. Return a mapping of state keys, an "
        f"instance of a schema, a Command, or None to write nothing."
    )


def _is_pairs(value: Any) -> bool:
    return (
        isinstance(value, list | tuple)
        and len(value) > 0
        and all(isinstance(p, tuple) and len(p) == 2 and isinstance(p[0], str) for p in value)
    )


def _prepared(
    state: StateSpec, update: dict[str, Any], new_id: Callable[[], str]
) -> dict[str, Any]:
    for key in state.preparing:
        if key in update:
            prepare = state.channels[key].prepare
            assert prepare is not None
            value = update[key]
            update[key] = (
                Overwrite(prepare(value.value, new_id))
                if type(value) is Overwrite
                else prepare(value, new_id)
            )
    return update


def _speak_of_unknown(state: StateSpec, keys: Iterable[Any], where: str) -> None:
    # A node that returns its whole view gives the managed values back; that is no mistake.
    for key in keys:
        if key in state.channels or key in state.managed:
            continue
        known = ", ".join(sorted(state.channels)) or "none"
        hint = nearest(str(key), state.channels.keys(), f"Its keys are: {known}.")
        if state.strict:
            raise InvalidUpdateError(
                f"{where} wrote key {key!r}, which the state does not have. {hint}"
            )
        if str(key) not in state.warned:
            state.warned.add(str(key))
            warnings.warn_explicit(
                f"{where} wrote key {key!r}, which the state does not have; it is dropped. {hint} "
                f"compile(strict=True) makes this an error.",
                DroppedKeyWarning,
                filename=f"<{where}>",
                lineno=1,
                module=where,
            )


def _short(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= 80 else f"{shown[:77]}..."


# ------------------------------------------------------------------------------------- showing
def view_for(schema: Schema, values: Mapping[str, Any], remaining_steps: int = 0) -> Any:
    """What a node or a conditional edge is called with."""
    if schema.managed:
        values = {**values}
        for key, kind in schema.managed:
            values[key] = remaining_steps if kind == "remaining_steps" else remaining_steps == 1
    return schema.build(values)


def output_for(schema: Schema, values: Mapping[str, Any]) -> Any:
    """What a caller gets: a plain mapping in the schema's order, or the bare value."""
    if schema.form == "bare":
        return values.get(schema.keys[0])
    return {key: values[key] for key in schema.keys if key in values}
