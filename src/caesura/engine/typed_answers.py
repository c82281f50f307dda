"""Answers in the form of a type that msgspec knows: dataclass, TypedDict, Struct, enum, builtin.

Promises: an answer that does not fit is told all that is wrong with it: msgspec stops at the first
mistake, so the others are looked for part by part. Conversion is strict (a bool is no int, "5" is
no number; a date may be its ISO text, as JSON has nothing better).
Does not promise: to look into a union whose branch cannot be told from the answer; there the first
mistake is the one that is named.
Called by `answers_schema`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Annotated, Any, TypeVar, get_args, get_origin

import msgspec

from caesura.core.forms import field_types
from caesura.engine.problems import UNSEEN, Problems, missing, wrong
from caesura.engine.refusal import attribute

_QUALIFIERS = frozenset({"Required", "NotRequired", "ReadOnly", "Final"})


class TypedForm:
    """One schema, read by msgspec. Raises TypeError or NameError for a type that is beyond it."""

    def __init__(self, schema: Any) -> None:
        self._schema = schema
        self.json_schema: dict[str, Any] = msgspec.json.schema(schema)

    def convert(self, answer: Any) -> Any:
        try:
            return _convert(self._schema, answer)
        except Exception as error:
            raise Problems(_misfits(self._schema, answer, "")) from error


def _convert(schema: Any, answer: Any) -> Any:
    return msgspec.convert(answer, schema, str_keys=True)


def _misfits(schema: Any, value: Any, path: str) -> Iterator[str]:
    """One sentence for each innermost part that does not fit."""
    try:
        _convert(schema, value)
        return
    except msgspec.ValidationError as error:
        said = str(error)
    except Exception as error:  # noqa: BLE001 - a __post_init__ of the user's may raise anything
        said = f"{type(error).__name__}: {error}"
    found = False
    for problem in _misfits_inside(_chosen(schema, value), value, path):
        found = True
        yield problem
    if not found:  # the whole is wrong, or a part that cannot be reached from here
        reason, _, inside = said.partition(" - at `")
        path += inside.removesuffix("`").removeprefix("$") if inside.startswith("$") else ""
        yield wrong(path, value if not inside else UNSEEN, reason)


def _misfits_inside(schema: Any, value: Any, path: str) -> Iterator[str]:
    origin, arguments = get_origin(schema) or schema, get_args(schema)
    if not isinstance(origin, type):
        return
    if isinstance(value, Mapping):
        if issubclass(origin, Mapping) and arguments:
            for key, item in value.items():
                yield from _misfits_in_key(arguments[0], key, path + attribute(key))
                yield from _misfits(arguments[1], item, path + attribute(key))
        else:
            yield from _misfits_in_fields(origin, arguments, value, path)
    elif isinstance(value, list | tuple):
        for index, (part, item) in enumerate(_items(origin, arguments, value)):
            yield from _misfits(part, item, f"{path}[{index}]")


def _misfits_in_key(schema: Any, key: Any, path: str) -> Iterator[str]:
    try:
        _convert(dict[schema, Any], {key: None})  # as a key: text may stand for a number
    except Exception as error:  # noqa: BLE001 - as in `_misfits`
        yield wrong(f"{path} (the key)", key, str(error).partition(" - at `")[0])


def _items(origin: type, arguments: Any, value: Collection[Any]) -> Iterator[tuple[Any, Any]]:
    """The items of an array, each with the type that it should have."""
    if origin is tuple and arguments and arguments[-1] is not Ellipsis:
        yield from zip(arguments, value, strict=False)
    elif arguments and issubclass(origin, Collection):
        yield from ((arguments[0], item) for item in value)
    elif _is_array_of_fields(origin):
        types = _types_of_fields(origin, arguments)
        yield from zip(types.values(), value, strict=False)


def _is_array_of_fields(cls: type) -> bool:
    config = getattr(cls, "__struct_config__", None)
    if config is None:
        return hasattr(cls, "_field_defaults")  # a NamedTuple
    return config.array_like and config.tag is None


def _misfits_in_fields(
    cls: type, arguments: Any, value: Mapping[Any, Any], path: str
) -> Iterator[str]:
    import msgspec.inspect

    fields = getattr(msgspec.inspect.type_info(cls), "fields", ())
    types = _types_of_fields(cls, arguments) if fields else {}
    for field in fields:
        place = path + attribute(field.encode_name)
        if field.encode_name in value:
            yield from _misfits(types[field.name], value[field.encode_name], place)
        elif field.required:
            yield missing(place)
    config = getattr(cls, "__struct_config__", None)
    if config is not None and config.forbid_unknown_fields:
        known = {*(field.encode_name for field in fields), config.tag_field}
        for key in value:
            if key not in known:
                yield wrong(path + attribute(key), value[key], "there is no such field")


def _types_of_fields(cls: Any, arguments: Any) -> dict[str, Any]:
    """Fields and their types, with the parameters of a generic class filled in."""
    given = dict(zip(getattr(cls, "__parameters__", ()), arguments, strict=False))
    return {name: _filled(_unqualified(hint), given) for name, hint in field_types(cls).items()}


def _filled(hint: Any, given: Mapping[Any, Any]) -> Any:
    if isinstance(hint, TypeVar):
        return given.get(hint, hint)
    parameters = getattr(hint, "__parameters__", ())
    if not given or not parameters or isinstance(hint, type):
        return hint
    return hint[tuple(given.get(parameter, parameter) for parameter in parameters)]


def _unqualified(hint: Any) -> Any:
    """A field's type without what is only said of fields, such as `NotRequired`."""
    while getattr(get_origin(hint), "_name", None) in _QUALIFIERS:
        hint = get_args(hint)[0]
    return hint


# -------------------------------------------------------------------------------------- branches
def _chosen(schema: Any, value: Any) -> Any:
    """The type that an answer is meant to be, without what is around it; of a union its branch."""
    schema = _bare(schema)
    if isinstance(schema, type):
        return schema
    if isinstance(get_origin(schema), type) and not _is_union(schema):
        return schema
    likely = [branch for branch in map(_bare, get_args(schema)) if _is_meant(branch, value)]
    return likely[0] if len(likely) == 1 else schema


def _bare(schema: Any) -> Any:
    """A type without Annotated, NewType and the names of aliases."""
    while not isinstance(schema, type):
        inner = getattr(schema, "__supertype__", None) or getattr(schema, "__value__", None)
        if inner is None and get_origin(schema) is Annotated:
            inner = schema.__origin__
        if inner is None:
            return schema
        schema = inner
    return schema


def _is_union(schema: Any) -> bool:
    from types import UnionType

    return get_origin(schema) is UnionType


def _is_meant(branch: Any, value: Any) -> bool:
    """Whether a value of this outline (object, array, other) would be read as this branch."""
    origin = get_origin(branch) or branch
    if not isinstance(origin, type):
        return False
    is_array = _is_array_of_fields(origin) or (
        issubclass(origin, Collection) and not issubclass(origin, Mapping | str | bytes)
    )
    if isinstance(value, list | tuple):
        return is_array
    if not isinstance(value, Mapping) or is_array:
        return False
    config = getattr(origin, "__struct_config__", None)
    if config is not None and config.tag_field is not None:
        return bool(value.get(config.tag_field, config.tag) == config.tag)
    return issubclass(origin, Mapping) or bool(getattr(origin, "__annotations__", None))
