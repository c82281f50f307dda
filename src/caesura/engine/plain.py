"""Replace, in what is about to be written, every value that msgpack would lose or refuse.

Promises: plain data (text, whole numbers, floats, booleans, None, bytes, lists, dicts) is handed
on as it is, uncopied; whatever else is registered becomes an extension record; the rest is refused
with the exact place where it was found. A user's object is never changed.
Does not promise: to look at text and numbers on the way. Whole numbers beyond 64 bits and text that
is no valid Unicode are found by the encoder, and then written by a second, careful pass.
Called by `codec` and `fingerprint`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from operator import countOf
from typing import Any, get_args, get_type_hints

import msgspec
from msgspec.msgpack import Ext

from caesura.core.parts import Part
from caesura.engine import standard
from caesura.engine.kinds import Kind
from caesura.engine.opaque import Opaque
from caesura.engine.refusal import Refused, attribute, remedy_for
from caesura.engine.registry import Registry

ATOMS = frozenset({str, int, float, bool, type(None), bytes})

# Far below the interpreter's limit on recursion, so that what could be written can be read again,
# also by a reader that is itself called from deep inside of a program.
MAX_DEPTH = 300
EXTENSION_DEPTH = 3  # reading one extension takes as much stack as three plain containers

TOO_DEEP = f"It is nested more than {MAX_DEPTH} levels deep. Store it flat."

# What the encoder raises about plain data that msgpack has no form for.
NEEDS_CARE = (OverflowError, UnicodeEncodeError)

pack: Callable[[Any], bytes] = msgspec.msgpack.Encoder().encode
pack_sorted: Callable[[Any], bytes] = msgspec.msgpack.Encoder(order="deterministic").encode


class Plainer:
    """One way of making values plain: quick or careful, in given or in canonical order."""

    def __init__(
        self, registry: Registry, *, careful: bool = False, canonical: bool = False
    ) -> None:
        self._kind_of = registry.kind_of
        self._careful, self._canonical = careful, canonical
        self._pack = pack_sorted if canonical else pack

    def part(self, part: Part, depth: int = 0) -> Part:
        """An event or a piece of a view, with plain values in it."""
        changed: dict[str, Any] | None = None
        for name in _WALKED.get(type(part)) or _walked(type(part)):
            value = getattr(part, name)
            if value is None:
                continue
            try:
                plain = self.value(value, depth + 1)
            except Refused as refused:
                refused.inside(part, name)
                raise
            except RecursionError as error:  # less stack is left than MAX_DEPTH supposes
                too_deep = Refused(value, TOO_DEEP)
                too_deep.inside(part, name)
                raise too_deep from error
            if plain is not value:
                changed = {name: plain} if changed is None else {**changed, name: plain}
        if self._careful:
            changed = {**_mended(part), **(changed or {})}
        return msgspec.structs.replace(part, **changed) if changed else part

    def value(self, value: Any, depth: int = 0) -> Any:
        """The value itself when it is plain, else what stands for it."""
        cls = type(value)
        if cls in ATOMS:
            return self._atom(value) if self._careful else value
        if depth > MAX_DEPTH:
            raise Refused(value, TOO_DEEP)
        if cls is dict:
            return self._dict(value, depth)
        if cls is list:
            return self._list(value, depth)
        if cls is Opaque:
            return Ext(value.code, value.raw)
        if issubclass(cls, Part):
            return self.part(value, depth)
        return self._other(value, cls, depth)

    def _dict(self, value: dict[Any, Any], depth: int) -> Any:
        out = None
        careful, keys = self._careful, STR if self._canonical else ATOMS
        for key, item in value.items():
            if type(key) not in keys or (careful and self._atom(key) is not key):
                return self._odd_dict(value, depth)
            if type(item) in ATOMS and not careful:
                continue
            try:
                plain = self.value(item, depth + 1)
            except Refused as refused:
                refused.through(attribute(key), value)
                raise
            if plain is not item:
                if out is None:
                    out = value.copy()
                out[key] = plain
        return value if out is None else out

    def _list(self, value: list[Any], depth: int) -> list[Any]:
        if not value:
            return value
        careful, first = self._careful, type(value[0])
        if (
            not careful
            and first in ATOMS
            and (
                countOf(map(type, value), first) == len(value) or ATOMS.issuperset(map(type, value))
            )
        ):
            return value
        out = None
        for index, item in enumerate(value):
            if type(item) in ATOMS and not careful:
                continue
            try:
                plain = self.value(item, depth + 1)
            except Refused as refused:
                if refused.root is None:  # else this is a list of ours, which holds parts
                    refused.through(f"[{index}]", value)
                raise
            if plain is not item:
                if out is None:
                    out = value.copy()
                out[index] = plain
        return value if out is None else out

    def _odd_dict(self, value: dict[Any, Any], depth: int) -> Ext:
        """A dict whose keys msgpack could not give back: its pairs, one after the other."""
        pairs = []
        for key, item in value.items():
            try:
                pairs.append((self.value(key, depth + 3), self.value(item, depth + 3)))
            except Refused as refused:
                refused.through(attribute(key), value)
                raise
        if self._canonical:
            pairs.sort(key=lambda pair: self._pack(pair[0]))
        return Ext(standard.ODD_DICT, self._pack([part for pair in pairs for part in pair]))

    def _other(self, value: Any, cls: type, depth: int) -> Any:
        kind = self._kind_of(cls)
        if kind is None or (cls is defaultdict and not standard.has_plain_factory(value)):
            return self._unknown(value, depth)
        return self._extension(value, kind, depth)

    def _extension(self, value: Any, kind: Kind, depth: int) -> Ext:
        try:
            written = kind.write(value)
        except RecursionError:
            raise
        except Exception as error:  # what a foreign class or a given function does
            raise Refused(value, f"Writing it raised {type(error).__name__}: {error}") from error
        if depth + EXTENSION_DEPTH > MAX_DEPTH and type(written) not in ATOMS:
            # Said of the value and not of what was just made of it, so that a value which
            # contains itself is recognised on the way out.
            raise Refused(value, TOO_DEEP)
        try:
            data = self.value(written, depth + EXTENSION_DEPTH)
        except Refused as refused:
            if kind.wrapped:
                refused.unwrap()
            refused.through("", value)
            raise
        if kind.code is None:
            # A fingerprint leaves the module out: moving a class changes nothing that was done.
            name = kind.name.partition(":")[2] if self._canonical else kind.name
            return Ext(standard.NAMED, self._pack([name, data]))
        if kind.code in standard.UNORDERED:
            data = sorted(data, key=self._pack)
        return Ext(kind.code, self._pack(data))

    def _unknown(self, value: Any, depth: int) -> Any:
        """What to do about a value of no registered type."""
        raise Refused(value, remedy_for(value))

    # -------------------------------------------------------------------------- the careful pass
    def _atom(self, value: Any) -> Any:
        if type(value) is int and not -(1 << 63) <= value < (1 << 64):
            return Ext(standard.BIG_INT, pack(hex(value)))
        if type(value) is str and not _is_unicode(value):
            return Ext(standard.TEXT, pack(value.encode("utf-8", "surrogatepass")))
        return value


STR = frozenset({str})


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _mended(part: Part) -> dict[str, Any]:
    """Fields of our own (an error's message, say) that hold text which is no valid Unicode."""
    mended: dict[str, Any] = {}
    for name in part.__struct_fields__:
        value = getattr(part, name)
        if name not in part.VALUES and type(value) is str and not _is_unicode(value):
            mended[name] = value.encode("utf-8", "backslashreplace").decode()
    return mended


# Which fields of a part have to be looked through: its values, and the parts that hold some.
_WALKED: dict[type[Part], tuple[str, ...]] = {}


def _walked(cls: type[Part]) -> tuple[str, ...]:
    if cls not in _WALKED:
        hints = get_type_hints(cls)
        names = (n for n in cls.__struct_fields__ if n in cls.VALUES or _mentions_a_part(hints[n]))
        _WALKED[cls] = tuple(names)
    return _WALKED[cls]


def _mentions_a_part(hint: Any) -> bool:
    if isinstance(hint, type) and issubclass(hint, Part):
        return bool(_walked(hint))
    return any(_mentions_a_part(argument) for argument in get_args(hint))
