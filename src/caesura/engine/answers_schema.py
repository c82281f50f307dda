"""What an answer must look like: a question's `schema`, as JSON Schema and as a check.

Promises: `check` and `convert` name every field that is wrong, not only the first, each with its
path and its value. A schema is read by msgspec where that knows all of its types (`typed_answers`),
by pydantic where it mentions one of pydantic's or is beyond msgspec (`pydantic_answers`); a JSON
Schema by `jsonschema` (`json_schema`). Fields that a schema does not have are passed over, unless
it forbids them.
Does not promise: that a JSON Schema refuses all that its Python form refuses (a validator written
in Python has no place in it), nor to follow a `$ref` out of the schema.
Called by `interrupts` and by whoever records an answer. Imports neither pydantic nor jsonschema
before one of them is needed.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Protocol, get_args

import msgspec

from caesura.core.forms import field_types
from caesura.engine.problems import Problems
from caesura.engine.typed_answers import TypedForm
from caesura.errors import AuthoringError

__all__ = ["Problems", "check", "convert", "json_schema_of", "plain"]

JsonSchema = dict[str, Any]

_OF_PYDANTIC = frozenset({"pydantic", "pydantic_core", "annotated_types"})


def json_schema_of(schema: Any) -> JsonSchema:
    """The schema for people without the code: JSON Schema 2020-12. Do not change what is given."""
    return _form_of(schema).json_schema


def convert(schema: Any, answer: Any) -> Any:
    """The answer in the schema's own form; an instance of it passes through. Raises `Problems`."""
    return _form_of(schema).convert(answer)


def check(schema: Any, answer: Any) -> list[str]:
    """What is wrong with an answer, field by field; `schema` is the one that was given to
    `interrupt`, or the JSON Schema that was recorded of it."""
    try:
        convert(schema, plain(answer))
    except Problems as problems:
        return problems.problems
    return []


def plain(answer: Any) -> Any:
    """An answer to a question with a schema, as JSON would say it: what every reader of the log
    can show and check, whether it knows the class or not. `convert` makes an equal value of it.

    What has no such form (a secret, a class of which nobody knows the fields) is given back as it
    is: the codec writes it or says why not.
    """
    try:
        return _lists(msgspec.to_builtins(answer, str_keys=True, enc_hook=_dumped))
    except (TypeError, ValueError, RecursionError):
        return answer


# ------------------------------------------------------------------------------- forms of schemas
class _Form(Protocol):
    """One schema, read by one of the three libraries."""

    @property
    def json_schema(self) -> JsonSchema: ...

    def convert(self, answer: Any) -> Any: ...


def _form_of(schema: Any) -> _Form:
    if isinstance(schema, Mapping):
        from caesura.engine.json_schema import json_form

        return json_form(schema)
    try:
        hash(schema)
    except TypeError:
        return _make_form(schema)
    return _remembered_form(schema)


def _make_form(schema: Any) -> _Form:
    if _mentions_pydantic(schema):
        try:
            return _pydantic_form(schema)
        except TypeError as error:
            raise _no_schema(schema, error) from error
    try:
        return TypedForm(schema)
    except (TypeError, NameError) as beyond:
        try:
            return _pydantic_form(schema)
        except (ImportError, TypeError):
            raise _no_schema(schema, beyond) from beyond


# A question asks for its form on every pass; classes that nodes define anew must not pile up.
_remembered_form = lru_cache(maxsize=256)(_make_form)


def _pydantic_form(schema: Any) -> _Form:
    from caesura.engine.pydantic_answers import PydanticForm

    return PydanticForm(schema)


def _no_schema(schema: Any, error: Exception) -> AuthoringError:
    name = getattr(schema, "__qualname__", None) or repr(schema)
    return AuthoringError(
        f"interrupt(schema={name}) does not say what an answer looks like: {error}. Give a "
        f"dataclass, TypedDict, pydantic model, msgspec.Struct, enum, a builtin type such as "
        f"list[int], or a JSON Schema as a dict."
    )


def _mentions_pydantic(schema: Any) -> bool:
    """Whether a type, or the type of one of its fields, is pydantic's or has metadata for it."""
    if "pydantic" not in sys.modules:
        return False
    pending, seen, kept = [schema], set(), []
    while pending:
        part = pending.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        kept.append(part)  # or its id could come again
        owner = part if isinstance(part, type) else type(part)
        home = (owner.__module__ or "").partition(".")[0]
        if home in _OF_PYDANTIC or hasattr(owner, "__pydantic_validator__"):
            return True
        pending += get_args(part)
        pending += (getattr(part, name, None) for name in ("__supertype__", "__value__"))
        if isinstance(part, type):
            try:
                pending += field_types(part).values()
            except Exception:  # noqa: BLE001 - annotations may raise anything; the type is seen
                continue
    return False


# ----------------------------------------------------------------------------------- plain answers
def _dumped(value: Any) -> Any:
    """A pydantic model as the data that makes an equal one."""
    if not hasattr(type(value), "__pydantic_serializer__"):
        raise TypeError(f"{type(value).__qualname__} has no plain form")
    import pydantic

    adapter = pydantic.TypeAdapter(type(value))
    for by_alias in (True, False):
        data = adapter.dump_python(value, mode="json", by_alias=by_alias)
        try:
            if adapter.validate_json(msgspec.json.encode(data)) == value:
                return data
        except ValueError:  # a secret, an alias for one direction only, a field left out
            continue
    raise TypeError(f"{type(value).__qualname__} cannot be made again from what it serializes to")


def _lists(data: Any) -> Any:
    """Tuples as the lists that JSON knows."""
    if isinstance(data, dict):
        return {key: _lists(item) for key, item in data.items()}
    if isinstance(data, list | tuple):
        return [_lists(item) for item in data]
    return data
