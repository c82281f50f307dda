"""How instances of a user's classes are taken apart for the log and put together again.

Promises: what is read back has the fields that were written, exactly. Reading restores state as
`copy` and `pickle` do: no `__init__`, no `__post_init__` and no validator runs (only a
msgspec.Struct's `__post_init__` does, msgspec offers no other way), so a replay cannot be changed
by code that checks or completes values. A field that the class gained since gets its default, one
that it lost is dropped; a gained field without a default makes the value unreadable.
Does not promise: pydantic's private attributes, which are no data and start again from their
defaults.
Called by `registry`.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable
from enum import Enum, Flag
from functools import cached_property
from typing import Any, NamedTuple

import msgspec

BUILTIN_BASES = (dict, list, tuple, set, frozenset, str, bytes, bytearray, int, float, complex)


# Beside the fields of a record: those that had no value, not even a default. No field is called so.
ABSENT = "__absent__"


class Kind(NamedTuple):
    """One type that can be written: `write` gives data that may hold further values."""

    name: str
    code: int | None  # of the types that this library itself knows; None: written by name
    cls: type
    write: Callable[[Any], Any]
    read: Callable[[Any], Any]
    wrapped: bool = False  # `write` puts a list around the content, which paths leave out


def kind_for(cls: Any, name: str | None = None) -> Kind | None:
    """How to write a class; None when there is no general way."""
    if not is_supported(cls):
        return None
    name = name or f"{cls.__module__}:{cls.__qualname__}"
    if issubclass(cls, Enum):
        return _enum_kind(cls, name)
    if _is_pydantic_model(cls):
        return _pydantic_kind(cls, name)
    if issubclass(cls, msgspec.Struct):
        return _struct_kind(cls, name)
    if issubclass(cls, tuple):
        return _namedtuple_kind(cls, name)
    return dataclass_kind(cls, name)


def is_supported(cls: Any) -> bool:
    """Whether there is a general way to write this class."""
    if not isinstance(cls, type) or issubclass(cls, BaseException):
        return False
    if issubclass(cls, Enum):
        return cls not in (Enum, Flag) and bool(cls.__members__)
    if issubclass(cls, tuple):
        return hasattr(cls, "_fields") and hasattr(cls, "_field_defaults")
    if _is_pydantic_model(cls):
        return not cls.__module__.startswith("pydantic.")
    if issubclass(cls, msgspec.Struct):
        return cls is not msgspec.Struct
    return dataclasses.is_dataclass(cls) and not issubclass(cls, BUILTIN_BASES)


def _is_pydantic_model(cls: type) -> bool:
    pydantic = sys.modules.get("pydantic.main")
    return pydantic is not None and issubclass(cls, pydantic.BaseModel)


def _missing(name: str) -> ValueError:
    return ValueError(f"its field {name!r} was not recorded and has no default")


# ------------------------------------------------------------------------------------ enumerations
def _enum_kind(cls: type[Enum], name: str) -> Kind:
    """By member name: a changed value or order is then no other member. Flags by their bits."""
    if issubclass(cls, Flag):
        return Kind(name, None, cls, lambda member: member.value, cls)
    return Kind(name, None, cls, lambda member: member.name, cls.__getitem__)


# ------------------------------------------------------------------------------------- dataclasses
def dataclass_kind(cls: Any, name: str) -> Kind:
    names = frozenset(field.name for field in dataclasses.fields(cls))
    defaults = {f.name: _default_of(f) for f in dataclasses.fields(cls)}
    has_dict = cls.__dictoffset__ != 0
    set_field = object.__setattr__

    def write(value: Any) -> dict[str, Any]:
        data = {field: getattr(value, field) for field in defaults if hasattr(value, field)}
        if len(data) < len(defaults):
            data[ABSENT] = [field for field in defaults if field not in data]
        if has_dict and not value.__dict__.keys() <= names:
            # What a constructor put beside the fields belongs to the state; what a cache holds not.
            data |= {
                key: item
                for key, item in value.__dict__.items()
                if key not in names and not isinstance(getattr(cls, key, None), cached_property)
            }
        return data

    def read(data: dict[str, Any]) -> Any:
        value = object.__new__(cls)
        absent = data.pop(ABSENT, ())
        for field, default in defaults.items():
            if field not in absent:
                set_field(value, field, data[field] if field in data else default())
        for key in data.keys() - names if has_dict else ():
            value.__dict__[key] = data[key]
        return value

    return Kind(name, None, cls, write, read)


def _default_of(field: dataclasses.Field[Any]) -> Callable[[], Any]:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory
    if field.default is dataclasses.MISSING:
        return lambda: _raise(_missing(field.name))
    default: Any = field.default
    if hasattr(default, "get_default"):  # pydantic's Field(...) in a pydantic dataclass
        return lambda: default.get_default(call_default_factory=True)
    return lambda: default


def _raise(error: Exception) -> Any:
    raise error


# ----------------------------------------------------------------------------------- named tuples
def _namedtuple_kind(cls: Any, name: str) -> Kind:
    defaults: dict[str, Any] = cls._field_defaults

    def write(value: Any) -> dict[str, Any]:
        return dict(zip(cls._fields, value, strict=True))

    def read(data: dict[str, Any]) -> Any:
        for field in cls._fields:
            if field not in data and field not in defaults:
                raise _missing(field)
        return tuple.__new__(cls, [data[f] if f in data else defaults[f] for f in cls._fields])

    return Kind(name, None, cls, write, read)


# --------------------------------------------------------------------------------- msgspec structs
def _struct_kind(cls: type[msgspec.Struct], name: str) -> Kind:
    fields = cls.__struct_fields__

    def write(value: Any) -> dict[str, Any]:
        data = {field: getattr(value, field) for field in fields}
        absent = [field for field, item in data.items() if item is msgspec.UNSET]
        for field in absent:
            del data[field]
        return {**data, ABSENT: absent} if absent else data

    def read(data: dict[str, Any]) -> Any:
        known = {field: data[field] for field in fields if field in data}
        known |= dict.fromkeys(data.get(ABSENT, ()), msgspec.UNSET)
        value = cls(**known)
        for field, item in known.items():  # as recorded, whatever __post_init__ made of it
            msgspec.structs.force_setattr(value, field, item)
        return value

    return Kind(name, None, cls, write, read)


# ------------------------------------------------------------------------------- pydantic's models
SET, EXTRA = "__set__", "__extra__"  # no field's name begins with an underscore


def _pydantic_kind(cls: Any, name: str) -> Kind:
    def write(value: Any) -> dict[str, Any]:
        fields = cls.__pydantic_fields__
        data = {key: item for key, item in value.__dict__.items() if key in fields}
        if value.__pydantic_fields_set__ != data.keys():
            data[SET] = sorted(value.__pydantic_fields_set__)
        if not fields.keys() <= value.__dict__.keys():  # `model_construct` may leave some out
            data[ABSENT] = sorted(fields.keys() - value.__dict__.keys())
        if value.__pydantic_extra__:
            data[EXTRA] = value.__pydantic_extra__
        return data

    def read(data: dict[str, Any]) -> Any:
        fields_set, extra = data.pop(SET, None), data.pop(EXTRA, None)
        absent = data.pop(ABSENT, ())
        values: dict[str, Any] = {}
        for key, field in cls.__pydantic_fields__.items():
            if key not in absent:
                values[key] = data[key] if key in data else _model_default(key, field, values)
        value = cls.__new__(cls)
        kept = (extra or {}) if cls.model_config.get("extra") == "allow" else None
        was_set = set(data if fields_set is None else fields_set)
        private = {
            key: attribute.get_default()
            for key, attribute in cls.__private_attributes__.items()
            if attribute.default_factory is not None or not _is_undefined(attribute.default)
        }
        restored = {
            "__dict__": values,
            "__pydantic_fields_set__": was_set & {*values, *(kept or ())},
            "__pydantic_extra__": kept,
            "__pydantic_private__": private if cls.__private_attributes__ else None,
        }
        for slot, item in restored.items():
            object.__setattr__(value, slot, item)
        return value

    return Kind(name, None, cls, write, read)


def _model_default(key: str, field: Any, values: dict[str, Any]) -> Any:
    if field.is_required():
        raise _missing(key)
    if getattr(field, "default_factory_takes_validated_data", False):
        return field.default_factory(values)
    return field.get_default(call_default_factory=True)


def _is_undefined(default: Any) -> bool:
    return type(default).__name__ == "PydanticUndefinedType"
