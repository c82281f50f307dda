"""The types of the standard library that a log can hold, under short codes.

Promises: values come back equal and of the same type. Codes are the wire format: never reuse one.
Does not promise: foreign `tzinfo` classes (pydantic's, dateutil's); a time that carries one keeps
its instant and its offset, under `datetime.timezone`.
Called by `registry`, `plain` and `reading`.
"""

from __future__ import annotations

import sys
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Any
from uuid import UUID

from caesura.core.control import UNSET
from caesura.engine.kinds import Kind

NAMED, BIG_INT, TEXT, TUPLE, SET, FROZENSET, ODD_DICT = 0, 1, 2, 3, 4, 5, 6
DATETIME, DATE, TIME, TIMEDELTA, TIMEZONE, ZONEINFO = 7, 8, 9, 10, 11, 12
DECIMAL, UUID_, PATH, BYTEARRAY, COMPLEX, DEQUE, UNSET_ = 13, 14, 15, 16, 17, 18, 19
ORDERED, COUNTER, DEFAULTDICT, FRACTION = 20, 21, 22, 23

UNORDERED = frozenset({SET, FROZENSET})

FACTORIES: dict[str, Callable[[], Any] | None] = {
    "": None, "list": list, "dict": dict, "set": set, "int": int, "float": float, "str": str,
    "bool": bool, "tuple": tuple,
}  # fmt: skip
_FACTORY_NAMES = {factory: name for name, factory in FACTORIES.items()}


# ------------------------------------------------------------------------------- times and zones
def _write_moment(value: datetime | time) -> Any:
    zone = value.tzinfo
    if zone is None or not _keeps_its_name(zone):
        text = value.isoformat()
        return text if zone is not None or not value.fold else [text, None, 1]
    return [value.replace(tzinfo=None).isoformat(), zone, value.fold]


def _keeps_its_name(zone: Any) -> bool:
    if type(zone) is timezone:
        return len(zone.__getinitargs__()) > 1  # type: ignore[attr-defined]
    return type(zone).__module__.partition(".")[0] == "zoneinfo" and zone.key is not None


def _read_datetime(data: Any) -> datetime:
    if isinstance(data, str):
        return datetime.fromisoformat(data)
    return datetime.fromisoformat(data[0]).replace(tzinfo=data[1], fold=data[2])


def _read_time(data: Any) -> time:
    if isinstance(data, str):
        return time.fromisoformat(data)
    return time.fromisoformat(data[0]).replace(tzinfo=data[1], fold=data[2])


def _write_timezone(value: Any) -> list[Any]:
    return list(value.__getinitargs__())


def _read_zoneinfo(key: str) -> Any:
    from zoneinfo import ZoneInfo

    return ZoneInfo(key)


# ------------------------------------------------------------------------------------ containers
def _read_odd_dict(data: list[Any]) -> dict[Any, Any]:
    return dict(zip(data[::2], data[1::2], strict=True))


def _write_defaultdict(value: defaultdict[Any, Any]) -> list[Any]:
    return [dict(value), _FACTORY_NAMES[value.default_factory]]


def has_plain_factory(value: defaultdict[Any, Any]) -> bool:
    """A default dict of anything else could not be made again from the log."""
    try:
        return value.default_factory in _FACTORY_NAMES
    except TypeError:
        return False


# ---------------------------------------------------------------------------- paths and fractions
def _write_path(value: Any) -> list[str]:
    return ["", str(value)]  # read as the path of whatever system reads it


def _write_pure_path(value: Any) -> list[str]:
    return [type(value).__name__, str(value)]


def _read_path(data: list[str]) -> Any:
    import pathlib

    form, text = data
    match form:
        case "":
            return pathlib.Path(text)
        case "PurePosixPath":
            return pathlib.PurePosixPath(text)
        case "PureWindowsPath":
            return pathlib.PureWindowsPath(text)
        case _:
            raise ValueError(f"unknown form of path {form!r}")


def _read_fraction(data: list[int]) -> Any:
    from fractions import Fraction

    return Fraction(*data)


def _kind(
    code: int, cls: type, write: Callable[[Any], Any], read: Callable[[Any], Any], **more: Any
) -> Kind:
    return Kind(f"{cls.__module__}:{cls.__qualname__}", code, cls, write, read, **more)


_KINDS = (
    _kind(TUPLE, tuple, list, tuple),
    _kind(SET, set, list, set),
    _kind(FROZENSET, frozenset, list, frozenset),
    _kind(DATETIME, datetime, _write_moment, _read_datetime),
    _kind(DATE, date, date.isoformat, date.fromisoformat),
    _kind(TIME, time, _write_moment, _read_time),
    _kind(
        TIMEDELTA, timedelta, lambda d: [d.days, d.seconds, d.microseconds], lambda d: timedelta(*d)
    ),
    _kind(TIMEZONE, timezone, _write_timezone, lambda data: timezone(*data)),
    _kind(DECIMAL, Decimal, str, Decimal),
    _kind(UUID_, UUID, lambda value: value.bytes, lambda data: UUID(bytes=data)),
    _kind(BYTEARRAY, bytearray, bytes, bytearray),
    _kind(COMPLEX, complex, lambda value: [value.real, value.imag], lambda data: complex(*data)),
    _kind(DEQUE, deque, lambda d: [*d, d.maxlen], lambda data: deque(data[:-1], data[-1])),
    _kind(UNSET_, type(UNSET), lambda _: None, lambda _: UNSET),
    _kind(ORDERED, OrderedDict, dict, OrderedDict),
    _kind(COUNTER, Counter, dict, Counter),
    _kind(
        DEFAULTDICT,
        defaultdict,
        _write_defaultdict,
        lambda data: defaultdict(FACTORIES[data[1]], data[0]),
        wrapped=True,
    ),
)
STANDARD: dict[type, Kind] = {kind.cls: kind for kind in _KINDS}

# Kept out of the import until a program uses them: (module, class) -> how to write it.
_LATER: dict[tuple[str, str], tuple[int, Callable[[Any], Any], Callable[[Any], Any]]] = {
    ("zoneinfo", "ZoneInfo"): (ZONEINFO, lambda zone: zone.key, _read_zoneinfo),
    ("pathlib", "PosixPath"): (PATH, _write_path, _read_path),
    ("pathlib", "WindowsPath"): (PATH, _write_path, _read_path),
    ("pathlib", "PurePosixPath"): (PATH, _write_pure_path, _read_path),
    ("pathlib", "PureWindowsPath"): (PATH, _write_pure_path, _read_path),
    ("fractions", "Fraction"): (FRACTION, lambda f: [f.numerator, f.denominator], _read_fraction),
}

READERS: dict[int, Callable[[Any], Any]] = {
    **{kind.code: kind.read for kind in _KINDS if kind.code is not None},
    **{code: read for code, _, read in _LATER.values()},
    BIG_INT: lambda digits: int(digits, 16),
    TEXT: lambda data: data.decode("utf-8", "surrogatepass"),
    ODD_DICT: _read_odd_dict,
}

# How a value of each code is called in messages and by readers without the type.
STANDARD_NAMES: dict[int, str] = {
    **{kind.code: kind.cls.__name__ for kind in _KINDS if kind.code is not None},
    ZONEINFO: "ZoneInfo", PATH: "Path", FRACTION: "Fraction", BIG_INT: "int", TEXT: "str",
    ODD_DICT: "dict",
}  # fmt: skip


def standard_kind(cls: type) -> Kind | None:
    """The kind of a standard class that is imported only where a program uses it."""
    module = cls.__module__.partition(".")[0]
    entry = _LATER.get((module, cls.__name__))
    if entry is None or getattr(sys.modules.get(module), cls.__name__, None) is not cls:
        return None
    return _kind(entry[0], cls, entry[1], entry[2])
