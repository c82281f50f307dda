"""Tell whether two values are the same, in this process or in the next one, by 32 characters.

Promises: the same for equal values of the same types, whatever the order of a dict or a set, and in
every process; different for `1`, `1.0` and `True`, for a list and a tuple. A class need not be
registered for its instances to be told apart by their fields. What cannot be taken apart at all (a
function, a client, something that contains itself) is told apart by its type only.
Does not promise: secrecy. A fingerprint of a short value can be guessed.
Called by `journal` and `interrupts`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from reprlib import Repr
from typing import Any

from msgspec.msgpack import Ext

from caesura.engine.kinds import kind_for
from caesura.engine.plain import NEEDS_CARE, Plainer, pack_sorted
from caesura.engine.refusal import Refused
from caesura.engine.registry import Registry

BY_TYPE = 127  # an extension code that never reaches a log

_SHORT = Repr()
_SHORT.maxlevel, _SHORT.maxstring, _SHORT.maxother, _SHORT.maxlong = 4, 80, 120, 60
_SHORT.maxlist = _SHORT.maxtuple = _SHORT.maxdict = _SHORT.maxset = 8


class Fingerprints:
    """Fingerprints as one graph's types define them."""

    def __init__(self, registry: Registry) -> None:
        self._quick = _Canonical(registry, canonical=True)
        self._careful = _Canonical(registry, canonical=True, careful=True)

    def of(self, value: Any) -> str:
        """Of one value, such as a question's payload."""
        return blake2b(self._canonical(value), digest_size=16).hexdigest()

    def of_call(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
        """Of the arguments of a call. Each counts by itself: one that has no form of its own does
        not hide a change of the others."""
        named = [(name, self._canonical(kwargs[name])) for name in sorted(kwargs)]
        parts = [[self._canonical(arg) for arg in args], named]
        return blake2b(pack_sorted(parts), digest_size=16).hexdigest()

    def _canonical(self, value: Any) -> bytes:
        try:
            return pack_sorted(self._quick.value(value))
        except NEEDS_CARE:
            pass
        except (Refused, RecursionError):
            return pack_sorted(_by_type(value))
        try:
            return pack_sorted(self._careful.value(value))
        except (Refused, RecursionError):
            return pack_sorted(_by_type(value))


class _Canonical(Plainer):
    """Takes apart also what is not registered: nobody will have to read it back."""

    def _unknown(self, value: Any, depth: int) -> Any:
        kind = kind_for(type(value))
        return _by_type(value) if kind is None else self._extension(value, kind, depth)


def _by_type(value: Any) -> Ext:
    return Ext(BY_TYPE, pack_sorted(type(value).__qualname__))


def fingerprint(value: Any, registry: Registry) -> str:
    """32 hexadecimal characters that are the same for the same value in every process."""
    return _of(registry).of(value)


def fingerprint_call(args: Sequence[Any], kwargs: Mapping[str, Any], registry: Registry) -> str:
    """The fingerprint of the arguments of a call."""
    return _of(registry).of_call(args, kwargs)


def _of(registry: Registry) -> Fingerprints:
    if registry.fingerprints is None:
        registry.fingerprints = Fingerprints(registry)
    return registry.fingerprints  # type: ignore[no-any-return]


def show(args: Sequence[Any], kwargs: Mapping[str, Any], limit: int = 200) -> str:
    """The arguments of a call as people read them: `(5, currency='EUR')`, shortened."""
    shown = [_shown(arg) for arg in args]
    shown += [f"{name}={_shown(value)}" for name, value in kwargs.items()]
    text = f"({', '.join(shown)})"
    text = text.encode("utf-8", "backslashreplace").decode()
    return text if len(text) <= limit else text[: limit - 4] + "...)"


def _shown(value: Any) -> str:
    try:
        return _SHORT.repr(value)
    except Exception:  # noqa: BLE001 - a value whose own repr fails is still an argument
        return f"<{type(value).__qualname__}>"
