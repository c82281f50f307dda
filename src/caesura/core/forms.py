"""The forms in which people write a state: how each is built, read back and taken apart.

Promises: a node gets a value of its own (dict, dataclass, model); the state behind it is not that
object. Does not promise: a deep copy; a node that changes a list in place changes everybody's.
Called by `core.schemas` at compile; what it returns runs in every step.

pydantic is imported by whoever defines a model, never here: models are known by what they carry.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, get_type_hints

import msgspec

from caesura.errors import InvalidUpdateError

Form = Literal["dict", "dataclass", "pydantic", "bare"]
Build = Callable[[Mapping[str, Any]], Any]

ROOT = "__root__"


def form_of(schema: Any) -> Form:
    """In which form a schema's values come. Anything without fields of its own is a bare value."""
    if is_model(schema):
        return "pydantic"
    if isinstance(schema, type) and (
        dataclasses.is_dataclass(schema) or issubclass(schema, msgspec.Struct)
    ):
        return "dataclass"
    return "dict" if has_fields(schema) else "bare"


def is_model(schema: Any) -> bool:
    """Whether it is a pydantic model class."""
    return (
        isinstance(schema, type)
        and hasattr(schema, "__pydantic_validator__")
        and hasattr(schema, "model_fields")
    )


def has_fields(schema: Any) -> bool:
    """Whether a class annotates fields of its own or of a parent (a TypedDict may have none)."""
    if not isinstance(schema, type):
        return False
    return hasattr(schema, "__total__") or any(
        getattr(cls, "__annotations__", None) for cls in schema.__mro__
    )


def field_types(schema: Any) -> dict[str, Any]:
    """Field names and their annotations with all extras, in the order of the class."""
    hints = get_type_hints(schema, include_extras=True)
    if is_model(schema):
        return {name: hints.get(name, Any) for name in schema.model_fields}
    if dataclasses.is_dataclass(schema):
        return {f.name: hints.get(f.name, Any) for f in dataclasses.fields(schema)}
    if isinstance(schema, type) and issubclass(schema, msgspec.Struct):
        return {name: hints[name] for name in schema.__struct_fields__}
    return {name: hint for name, hint in hints.items() if name != "__slots__"}


# --------------------------------------------------------------------------------------- building
def builder(schema: Any, form: Form, keys: tuple[str, ...], *, covers_all: bool) -> Build:
    """What turns the state's values into what a node is called with."""
    if form == "bare":
        return _bare
    select = _copy if covers_all else _selection(keys)
    if form == "dict":
        return select
    if form == "pydantic":
        return _model_builder(schema, select)
    return _instance_builder(schema, keys)


def _bare(values: Mapping[str, Any]) -> Any:
    return values.get(ROOT)


def _copy(values: Mapping[str, Any]) -> dict[str, Any]:
    return {**values}


def _selection(keys: tuple[str, ...]) -> Build:
    def select(values: Mapping[str, Any]) -> dict[str, Any]:
        return {key: values[key] for key in keys if key in values}

    return select


def _instance_builder(schema: Any, keys: tuple[str, ...]) -> Build:
    if dataclasses.is_dataclass(schema):
        taken = {f.name for f in dataclasses.fields(schema) if f.init}
        keys = tuple(key for key in keys if key in taken)

    def build(values: Mapping[str, Any]) -> Any:
        try:
            return schema(**{key: values[key] for key in keys if key in values})
        except TypeError as error:
            missing = [key for key in keys if key not in values]
            if not missing:
                raise
            raise InvalidUpdateError(
                f"The state cannot be given as {schema.__qualname__}: {error}. Nothing has written "
                f"{_listed(missing)} yet. Give it with the input, or give the field a default."
            ) from error

    return build


def _model_builder(schema: Any, select: Build) -> Build:
    """Models are validated each time, so that a node never sees a value its schema refuses."""
    by_alias = {
        name: alias
        for name, info in schema.model_fields.items()
        if isinstance(alias := info.validation_alias or info.alias, str)
        and not schema.model_config.get("populate_by_name")
        and not schema.model_config.get("validate_by_name")
    }
    validate = schema.model_validate

    if not by_alias:
        return lambda values: validate(select(values))
    return lambda values: validate({by_alias.get(k, k): v for k, v in select(values).items()})


def _listed(names: Iterable[str]) -> str:
    return ", ".join(repr(name) for name in names)


# ---------------------------------------------------------------------------------- taking apart
def is_instance(value: Any) -> bool:
    """Whether a value carries fields that can be written to the state."""
    cls = type(value)
    return is_model(cls) or dataclasses.is_dataclass(cls) or isinstance(value, msgspec.Struct)


def fields_written(value: Any) -> dict[str, Any]:
    """What a returned instance writes.

    A model: the fields that were set or changed from their default. A dataclass cannot tell a field
    that was set to its default from one that was left alone: it writes them all.
    """
    cls = type(value)
    if is_model(cls):
        was_set = value.model_fields_set
        return {
            name: getattr(value, name)
            for name, info in cls.model_fields.items()
            if name in was_set or getattr(value, name) != _model_default(info)
        }
    return fields_present(value)


def fields_present(value: Any) -> dict[str, Any]:
    """What an instance given as an input writes: all that it holds, without fields left at None."""
    cls = type(value)
    if is_model(cls):
        was_set = value.model_fields_set
        return {
            name: held
            for name in cls.model_fields
            if (held := getattr(value, name)) is not None or name in was_set
        }
    if isinstance(value, msgspec.Struct):
        return {name: getattr(value, name) for name in value.__struct_fields__}
    return {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}


def _model_default(info: Any) -> Any:
    return info.get_default(call_default_factory=_takes_nothing(info.default_factory))


def _takes_nothing(factory: Any) -> bool:
    # A factory may ask for the data validated so far; that default cannot be worked out again.
    code = getattr(factory, "__code__", None)
    return factory is not None and (code is None or code.co_argcount == 0)
