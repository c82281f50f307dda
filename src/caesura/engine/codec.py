"""Turn events and views into bytes and back.

Promises: what is read is what was written, types included; plain data is not copied on the way.
Reading calls nothing that was not registered and imports nothing that a log names. A log of a newer
version is refused, one of an older version is brought up to date event by event (`UPCASTERS`), a
damaged one is called damaged. What cannot be written is refused with the place where it was found.
Does not promise: that a value is still valid for its type; see `kinds`.
Called by `ledger` for every record and snapshot, and by stores never.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import msgspec
from msgspec.msgpack import Decoder

from caesura.core.events import FORMAT, AnyEvent, Event
from caesura.core.view import ThreadView
from caesura.engine.plain import NEEDS_CARE, TOO_DEEP, Plainer, pack
from caesura.engine.reading import Reader
from caesura.engine.refusal import Refused
from caesura.engine.registry import Registry
from caesura.errors import (
    CaesuraError,
    CorruptRecord,
    RecordTooLarge,
    UnknownEvent,
    UnknownFormat,
    UnserializableValue,
)

# format -> how its events (as plain lists: tag, fields...) become those of the next format. Values
# of users inside of them are extension records, to be passed on untouched.
UPCASTERS: dict[int, Callable[[list[Any]], list[Any]]] = {}
VIEW_UPCASTERS: dict[int, Callable[[list[Any]], list[Any]]] = {}

KNOWN_TAGS = frozenset(cast(int, event.__struct_config__.tag) for event in AnyEvent.__args__)

# What a damaged body makes a decoder raise. `TypeError`: an unhashable key or member of a set.
_DAMAGE = (msgspec.MsgspecError, RecursionError, ValueError, TypeError)


_HEAD = b"\x93" + pack(FORMAT) + b"\xcf"  # a list of three: the format, a whole number of 8 bytes,
_LENGTHS = [bytes((0x90 | n,)) for n in range(16)]  # and a list of n


class _Record(msgspec.Struct, array_like=True):
    format: int
    at: int
    events: list[AnyEvent]


class _Snapshot(msgspec.Struct, array_like=True):
    format: int
    view: ThreadView


class Codec:
    """The form in which one graph's threads are kept.

    `strict` is for whoever runs the graph: a registered type that cannot take its own record back
    is an error. A reader that only looks passes `strict=False` and sees an `Opaque` there.
    """

    def __init__(
        self, registry: Registry, max_bytes: int | None = None, *, strict: bool = True
    ) -> None:
        self.registry, self._max_bytes = registry, max_bytes
        self._plain = Plainer(registry)
        self._carefully = Plainer(registry, careful=True)
        reader = Reader(registry, strict=strict)
        self._unpack = reader.unpack
        self._records = Decoder(_Record, ext_hook=reader.extension)
        self._snapshots = Decoder(_Snapshot, ext_hook=reader.extension)

    # -------------------------------------------------------------------------------- records
    def encode(self, at: int, events: Sequence[Event]) -> bytes:
        """One append: what happened, and when it was written down."""
        part = self._plain.part
        try:
            body = pack((FORMAT, at, [part(event) for event in events]))
        except (Refused, RecursionError, *NEEDS_CARE):
            part = self._carefully.part
            body = _packed(lambda: (FORMAT, at, [part(event) for event in events]))
        return self._sized(body, "One append to the log")

    def pack(self, event: Event) -> bytes:
        """One event by itself, to become part of a record; refuses what cannot be written."""
        try:
            return pack(self._plain.part(event))
        except (Refused, RecursionError, *NEEDS_CARE):
            return _packed(lambda: self._carefully.part(event))

    def record(self, at: int, packed: Sequence[bytes]) -> bytes:
        """One append of events that were packed before."""
        if len(packed) < 16:  # as msgpack would write it
            return b"".join((_HEAD, at.to_bytes(8), _LENGTHS[len(packed)], *packed))
        return pack((FORMAT, at, [msgspec.Raw(event) for event in packed]))

    def decode(self, body: bytes) -> tuple[int, list[AnyEvent]]:
        """When it was written, and the events."""
        try:
            record = self._records.decode(body)
        except CaesuraError:
            raise
        except _DAMAGE as damage:
            record = self._record_of_another_version(body, damage)
        else:
            if record.format != FORMAT:
                record = self._record_of_another_version(body, None)
        return record.at, record.events

    def _record_of_another_version(self, body: bytes, damage: Exception | None) -> _Record:
        raw = _raw(body, 3, damage)
        older = range(raw[0], FORMAT)
        if not older:
            tags = [event[0] for event in raw[2] if isinstance(event, list) and event]
            unknown = sorted({tag for tag in tags if type(tag) is int} - KNOWN_TAGS)
            if unknown:
                raise UnknownEvent(unknown[0], known=FORMAT) from damage
            raise _corrupt(body, damage) from damage
        for version in older:
            upcast = _upcast(UPCASTERS, version)
            raw[2] = [upcast(event) for event in raw[2]]
        try:
            return self._records.decode(pack([FORMAT, *raw[1:]]))
        except _DAMAGE as error:
            raise _corrupt(body, error) from error

    # ------------------------------------------------------------------------------ snapshots
    def encode_view(self, view: ThreadView) -> bytes:
        """A snapshot."""
        try:
            body = pack((FORMAT, self._plain.part(view)))
        except (Refused, RecursionError, *NEEDS_CARE):
            body = _packed(lambda: (FORMAT, self._carefully.part(view)))
        return self._sized(body, "The state of the thread")

    def decode_view(self, body: bytes) -> ThreadView:
        try:
            snapshot = self._snapshots.decode(body)
        except CaesuraError:
            raise
        except _DAMAGE as damage:
            return self._view_of_another_version(body, damage)
        if snapshot.format != FORMAT:
            return self._view_of_another_version(body, None)
        return snapshot.view

    def _view_of_another_version(self, body: bytes, damage: Exception | None) -> ThreadView:
        raw = _raw(body, 2, damage)
        if raw[0] >= FORMAT:
            raise _corrupt(body, damage) from damage
        for version in range(raw[0], FORMAT):
            raw[1] = _upcast(VIEW_UPCASTERS, version)(raw[1])
        try:
            return self._snapshots.decode(pack([FORMAT, raw[1]])).view
        except _DAMAGE as error:
            raise _corrupt(body, error) from error

    # --------------------------------------------------------------------------- single values
    def encode_value(self, value: Any, path: str = "") -> bytes:
        """A user's value by itself, such as the body of a question."""
        try:
            body = pack(self._plain.value(value))
        except (Refused, RecursionError, *NEEDS_CARE):
            body = _packed(lambda: self._carefully.value(value), path, value)
        return self._sized(body, path or "The value")

    def decode_value(self, body: bytes) -> Any:
        try:
            return self._unpack(body)
        except CaesuraError:
            raise
        except _DAMAGE as damage:
            raise _corrupt(body, damage) from damage

    def check(self, value: Any, path: str) -> None:
        """Refuse here and now what could not be written later."""
        self.encode_value(value, path)

    def revive(self, value: Any) -> Any:
        """Build again what was read before its type was registered (see `Registry.learn`)."""
        return self.decode_value(self.encode_value(value))

    def _sized(self, body: bytes, what: str) -> bytes:
        if self._max_bytes is not None and len(body) > self._max_bytes:
            raise RecordTooLarge(what, size=len(body), limit=self._max_bytes)
        return body


def _packed(make: Callable[[], Any], path: str | None = None, value: Any = None) -> bytes:
    """The careful pass: everything that can be written is, and the rest is named."""
    try:
        return pack(make())
    except Refused as refused:
        raise refused.as_error(path) from refused.__cause__
    except RecursionError:  # less stack is left than the limit supposes
        raise Refused(value, TOO_DEEP).as_error(path) from None
    except NEEDS_CARE as error:
        # Found in what the careful pass leaves alone, such as the JSON Schema of a question.
        found = 0 if isinstance(error, OverflowError) else ""
        raise UnserializableValue(
            path or "An event", found, f"msgpack has no form for it: {error}."
        ) from error


def _raw(body: bytes, length: int, damage: Exception | None) -> list[Any]:
    """The outermost list of a body that this version's types do not fit."""
    try:
        raw = Decoder(list).decode(body)
    except _DAMAGE as error:
        raise _corrupt(body, error) from error
    if len(raw) < length or type(raw[0]) is not int or type(raw[-1]) is not list:
        raise _corrupt(body, damage) from damage
    if raw[0] > FORMAT:
        raise UnknownFormat(raw[0], FORMAT) from damage
    return raw


def _upcast(
    table: dict[int, Callable[[list[Any]], list[Any]]], version: int
) -> Callable[[list[Any]], list[Any]]:
    if version not in table:
        raise CorruptRecord(
            f"A record claims to be of format {version}, which never was. It is damaged: restore "
            f"the store from a backup."
        )
    return table[version]


def _corrupt(body: bytes, damage: Exception | None) -> CorruptRecord:
    reason = str(damage) if damage is not None else "its outline is wrong"
    return CorruptRecord(
        f"A record of {len(body):,} bytes cannot be read: {reason}. It is damaged, encrypted, or "
        f"was not written by this library. Restore the store from a backup. Nothing was changed."
    )
