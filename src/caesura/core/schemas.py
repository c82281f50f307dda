"""From the types that people write to channels and schemas, worked out once at compile.

Promises: one set of channels for all schemas of a graph; two reducers for one key are refused;
after `Schemas.freeze` nothing looks at a type again (pydantic states excepted: they are validated).
Called by `core.graph` while a graph is built.
"""

from __future__ import annotations

import operator
from typing import Annotated, Any, Final, Literal, get_args, get_origin

from caesura.core.fingerprints import fingerprint
from caesura.core.forms import (
    ROOT,
    Form,
    builder,
    field_types,
    fields_written,
    form_of,
)
from caesura.core.plan import Channel, Schema, StateSpec
from caesura.core.reducers import empty_of, is_pure, prepare_of, reducer_in
from caesura.errors import InvalidGraph

__all__ = ["ROOT", "IsLastStep", "RemainingSteps", "Schemas", "UntrackedValue"]


class ManagedValue:
    """Marks a key that the engine works out at each step; nobody writes it."""

    def __init__(self, kind: Literal["is_last_step", "remaining_steps"]) -> None:
        self.kind = kind


IsLastStep = Annotated[bool, ManagedValue("is_last_step")]
RemainingSteps = Annotated[int, ManagedValue("remaining_steps")]


class UntrackedValue:
    """`Annotated[T, UntrackedValue]`: a key that lives as long as the run and is never recorded.

    `guard=False`: of several writes in one superstep the last one wins, instead of an error.
    """

    def __init__(self, typ: Any = Any, guard: bool = True) -> None:
        self.typ, self.guard = typ, guard


class Schemas:
    """Collects the schemas of a graph while it is built, and freezes them into one `StateSpec`."""

    def __init__(self, state: Any) -> None:
        self.state = state
        self.channels: dict[str, Channel] = {}
        self.managed: dict[str, str] = {}
        self._homes: dict[str, str] = {}  # key -> the schema that brought its reducer, for errors
        self._known: dict[int, tuple[Any, Form, tuple[str, ...], tuple[tuple[str, str], ...]]] = {}
        self.add(state)

    def add(self, schema: Any, *, may_be_managed: bool = True) -> None:
        """Merge a schema's keys into the graph's channels."""
        if id(schema) in self._known:
            return
        form = form_of(schema)
        if self.channels and (form == "bare") != (ROOT in self.channels):
            raise InvalidGraph(
                f"{_name(schema)} and the state {_name(self.state)} do not fit: one is a value "
                f"without keys, the other has keys. Give all schemas of a graph the same form."
            )
        keys: list[str] = []
        managed: list[tuple[str, str]] = []
        for key, annotation in _annotations(schema, form).items():
            kind = _managed_kind(annotation)
            if kind is None:
                keys.append(key)
                self._merge(channel_of(key, annotation), _name(schema))
            elif not may_be_managed:
                raise InvalidGraph(
                    f"{_name(schema)}.{key} is a managed value, which nobody can give or receive. "
                    f"Remove it from the input and output schemas; nodes may ask for it."
                )
            else:
                managed.append((key, kind))
                self.managed[key] = kind
        self._known[id(schema)] = (schema, form, tuple(keys), tuple(managed))

    def _merge(self, channel: Channel, schema: str) -> None:
        known = self.channels.get(channel.key)
        if known is None:
            self.channels[channel.key] = channel
            self._homes[channel.key] = schema
        elif channel.kind != "last" and channel.fingerprint != known.fingerprint:
            raise InvalidGraph(
                f"Key {channel.key!r} is {_kind(known)} in {self._homes[channel.key]} and "
                f"{_kind(channel)} in {schema}. A key has one reducer in the whole graph: annotate "
                f"it the same way in both, or leave the annotation out of {schema}."
            )

    def freeze(self, *, strict: bool = False) -> StateSpec:
        """All channels and the state's own schema."""
        return StateSpec(
            channels=dict(self.channels),
            schema=self.schema(self.state),
            bare=self._known[id(self.state)][1] == "bare",
            strict=strict,
            managed=dict(self.managed),
            preparing=tuple(key for key, ch in self.channels.items() if ch.prepare is not None),
            untracked=frozenset(k for k, ch in self.channels.items() if ch.kind == "untracked"),
        )

    def schema(self, schema: Any, *, as_mapping: bool = False) -> Schema:
        """A schema's view of the state; `as_mapping` gives a child graph the plain values."""
        self.add(schema)
        _, form, keys, managed = self._known[id(schema)]
        if as_mapping and form != "bare":
            form, managed = "dict", ()
        covers_all = len(keys) == len(self.channels)
        return Schema(
            type=schema,
            keys=keys,
            form=form,
            build=builder(schema, form, keys + tuple(k for k, _ in managed), covers_all=covers_all),
            fields_set=fields_written,
            managed=managed,
        )

    def types(self) -> list[Any]:
        """Every schema that was added, in order."""
        return [entry[0] for entry in self._known.values()]


def channel_of(key: str, annotation: Any) -> Channel:
    """The channel of one key, from its annotation."""
    plain, metadata = _unwrapped(annotation)
    for mark in metadata:
        if mark is UntrackedValue or isinstance(mark, UntrackedValue):
            guard = mark.guard if isinstance(mark, UntrackedValue) else True
            return Channel(key, plain, kind="untracked", fingerprint="untracked", guard=guard)
    reducer = reducer_in(key, metadata)
    if reducer is None:
        return Channel(key, plain)
    return Channel(
        key,
        plain,
        kind="reduce",
        reducer=reducer,
        reducer_is_pure=is_pure(reducer),
        empty=empty_of(plain),
        prepare=prepare_of(reducer),
        fingerprint=fingerprint(reducer),
        joins_lists=reducer is operator.add or reducer is operator.concat,
    )


_QUALIFIERS: Final = frozenset({"Required", "NotRequired", "ReadOnly"})


def _unwrapped(annotation: Any) -> tuple[Any, tuple[Any, ...]]:
    """The type without its wrappers, and all metadata around it, innermost first."""
    metadata: tuple[Any, ...] = ()
    while True:
        if get_origin(annotation) is Annotated:
            metadata = annotation.__metadata__ + metadata
            annotation = annotation.__origin__
        elif getattr(get_origin(annotation), "_name", None) in _QUALIFIERS:
            annotation = get_args(annotation)[0]
        else:
            return annotation, metadata


def _managed_kind(annotation: Any) -> str | None:
    _, metadata = _unwrapped(annotation)
    return next((m.kind for m in metadata if isinstance(m, ManagedValue)), None)


def _annotations(schema: Any, form: Form) -> dict[str, Any]:
    if form == "bare":
        return {ROOT: schema}
    try:
        return field_types(schema)
    except NameError as error:
        raise InvalidGraph(
            f"The annotations of {_name(schema)} cannot be resolved: {error}. Define what they "
            f"name at the top of its module, or drop `from __future__ import annotations` there."
        ) from error


def _name(schema: Any) -> str:
    return str(getattr(schema, "__qualname__", None) or schema)


def _kind(channel: Channel) -> str:
    match channel.kind:
        case "last":
            return "a plain key"
        case "untracked":
            return "untracked"
        case "reduce":
            return f"reduced by {channel.fingerprint}"
