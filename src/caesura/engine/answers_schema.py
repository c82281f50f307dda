"""What an answer must look like: a question's `schema`, as JSON Schema and as a check.

Promises: `check` and `convert` name every field that is wrong, not only the first, each with its
path and its value. A schema is read by msgspec where that knows all of its types, by pydantic where
it mentions one of pydantic's or is beyond msgspec; a JSON Schema by `jsonschema`. msgspec converts
strictly (a bool is no int, "5" is no number; a date may be its ISO text, as JSON has nothing
better), a pydantic model decides for itself. Fields that a schema does not have are passed over,
unless it forbids them.
Does not promise: that a JSON Schema refuses all that its Python form refuses (a validator written
in Python has no place in it), nor to follow a `$ref` out of the schema.
Called by `interrupts` and by whoever records an answer. Imports none of the three before one of
them is needed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Protocol, get_args

import msgspec

from caesura.core.forms import field_types
from caesura.engine.refusal import attribute
from caesura.errors import AuthoringError, MissingExtra

JsonSchema = dict[str, Any]

MOST_SHOWN = 80  # characters of a wrong value
_ABSENT = object()


class Problems(Exception):
    """An answer does not fit: one sentence for each field that is wrong."""

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems = list(problems)
        super().__init__("; ".join(self.problems))


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
        return _lists(msgspec.to_builtins(answer, enc_hook=_dumped))
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
        return _JsonForm(dict(schema))
    try:
        hash(schema)
    except TypeError:
        return _make_form(schema)
    return _remembered_form(schema)


def _make_form(schema: Any) -> _Form:
    if _mentions_pydantic(schema):
        return _PydanticForm(schema)
    try:
        return _MsgspecForm(schema)
    except (TypeError, NameError) as beyond:
        try:
            return _PydanticForm(schema)
        except (ImportError, AuthoringError):
            raise _no_schema(schema, beyond) from beyond


# A question asks for its form on every pass; classes that nodes define anew must not pile up.
_remembered_form = lru_cache(maxsize=256)(_make_form)


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
        if home in ("pydantic", "annotated_types") or hasattr(owner, "__pydantic_validator__"):
            return True
        pending += get_args(part)
        pending += (getattr(part, name, None) for name in ("__supertype__", "__value__"))
        if isinstance(part, type):
            try:
                pending += field_types(part).values()
            except Exception:  # noqa: BLE001 - annotations may raise anything; the type is seen
                continue
    return False


# ---------------------------------------------------------------------------------------- msgspec
class _MsgspecForm:
    def __init__(self, schema: Any) -> None:
        self.schema = schema
        self.json_schema: JsonSchema = msgspec.json.schema(schema)

    def convert(self, answer: Any) -> Any:
        try:
            return _convert(self.schema, answer)
        except Exception as error:
            # msgspec stops at the first mistake; find the others part by part.
            raise Problems(_misfits(self.schema, answer, "")) from error


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
    for problem in _misfits_inside(_bare(schema), value, path):
        found = True
        yield problem
    if not found:  # the whole is wrong, or a part that cannot be reached from here
        reason, _, inside = said.partition(" - at `")
        path += inside.removesuffix("`").removeprefix("$") if inside.startswith("$") else ""
        yield _wrong(path, value if not inside else _ABSENT, reason)


def _misfits_inside(schema: Any, value: Any, path: str) -> Iterator[str]:
    origin = getattr(schema, "__origin__", schema)
    arguments = get_args(schema)
    if isinstance(value, Mapping):
        if origin is dict and arguments:
            for key, item in value.items():
                yield from _misfits(arguments[0], key, f"{path}{attribute(key)} (the key)")
                yield from _misfits(arguments[1], item, path + attribute(key))
        elif isinstance(origin, type):
            yield from _misfits_in_fields(origin, value, path)
    elif isinstance(value, list | tuple) and origin in (list, set, frozenset, tuple) and arguments:
        if origin is tuple and arguments[-1] is not Ellipsis:
            items = zip(arguments, value, strict=False)
        else:
            items = ((arguments[0], item) for item in value)
        for index, (item_type, item) in enumerate(items):
            yield from _misfits(item_type, item, f"{path}[{index}]")


def _misfits_in_fields(schema: type, value: Mapping[Any, Any], path: str) -> Iterator[str]:
    import msgspec.inspect

    fields = getattr(msgspec.inspect.type_info(schema), "fields", ())
    types = field_types(schema) if fields else {}
    for field in fields:
        if field.encode_name in value:
            place = path + attribute(field.encode_name)
            yield from _misfits(types[field.name], value[field.encode_name], place)
        elif field.required:
            yield _missing(path + attribute(field.encode_name))
    config = getattr(schema, "__struct_config__", None)
    if config is not None and config.forbid_unknown_fields:
        for key in value.keys() - {field.encode_name for field in fields} - {config.tag_field}:
            yield _wrong(path + attribute(key), value[key], "there is no such field")


def _bare(schema: Any) -> Any:
    """A type without what is around it: Annotated, NewType, aliases, `| None`."""
    while True:
        inner = getattr(schema, "__supertype__", None) or getattr(schema, "__value__", None)
        if inner is None and hasattr(schema, "__metadata__"):
            inner = schema.__origin__
        if inner is None and not isinstance(schema, type):
            arguments = get_args(schema)
            some = [a for a in arguments if a is not type(None)]
            # Of Required[X], X | None and the like there is one to look into.
            if len(some) == 1 and not isinstance(getattr(schema, "__origin__", None), type):
                inner = some[0]
        if inner is None or isinstance(schema, type):
            return schema
        schema = inner


# --------------------------------------------------------------------------------------- pydantic
class _PydanticForm:
    def __init__(self, schema: Any) -> None:
        import pydantic
        from pydantic.errors import PydanticUserError

        try:
            if isinstance(schema, pydantic.TypeAdapter):
                self.adapter: Any = schema
            else:
                self.adapter = pydantic.TypeAdapter(schema)
            self.json_schema: JsonSchema = self.adapter.json_schema()
        except (PydanticUserError, NameError) as error:
            raise _no_schema(schema, error) from error

    def convert(self, answer: Any) -> Any:
        from pydantic import ValidationError

        try:
            return self.adapter.validate_python(answer)
        except ValidationError as error:
            try:
                # A strict model takes from JSON what JSON can only say as text, such as a date.
                return self.adapter.validate_json(msgspec.json.encode(answer))
            except Exception:  # noqa: BLE001 - it is no JSON either; the first error says more
                raise Problems(_said_by_pydantic(error, answer)) from error
        except Exception as error:  # a validator of the user's may raise anything
            raise Problems([_wrong("", answer, f"{type(error).__name__}: {error}")]) from error


def _said_by_pydantic(error: Any, answer: Any) -> list[str]:
    reasons: dict[str, list[str]] = {}  # the branches of a union all speak about one field
    shown: dict[str, Any] = {}
    for problem in error.errors(include_url=False, include_context=False):
        path = _path_in(answer, problem["loc"], missing=problem["type"] == "missing")
        reasons.setdefault(path, []).append(problem["msg"])
        shown[path] = _ABSENT if problem["type"] == "missing" else problem["input"]
    return [
        _missing(path) if shown[path] is _ABSENT else _wrong(path, shown[path], " or ".join(said))
        for path, said in reasons.items()
    ]


def _path_in(answer: Any, places: Iterable[Any], *, missing: bool) -> str:
    """Where it is in the answer; pydantic also names the branches of unions on the way."""
    path, value, left = "", answer, list(places)
    while left:
        place = left.pop(0)
        if isinstance(value, Mapping) and (place in value or (missing and not left)):
            path, value = path + attribute(place), value.get(place)
        elif isinstance(value, list | tuple) and type(place) is int and place < len(value):
            path, value = f"{path}[{place}]", value[place]
    return path


# ------------------------------------------------------------------------------------ JSON Schema
class _JsonForm:
    """A JSON Schema that was given by hand, or that was recorded of a schema whose code is away."""

    def __init__(self, schema: JsonSchema) -> None:
        self._schema = schema

    @property
    def json_schema(self) -> JsonSchema:
        validator = _validator_of(self._schema)
        try:
            validator.check_schema(self._schema)
        except _jsonschema().SchemaError as error:
            raise AuthoringError(
                f"interrupt(schema={{...}}) is no valid JSON Schema: {error.message} at "
                f"{error.json_path}. Correct it there."
            ) from error
        return self._schema

    def convert(self, answer: Any) -> Any:
        from referencing.exceptions import Unresolvable

        try:
            errors = list(_validator_of(self._schema).iter_errors(answer))
        except Unresolvable as error:
            raise AuthoringError(
                f"The JSON Schema of a question refers to {error.ref!r}, which is not within it. "
                f"Copy what it refers to into its '$defs'."
            ) from error
        problems = list(dict.fromkeys(p for error in errors for p in _said_by_jsonschema(error)))
        if problems:
            raise Problems(problems)
        return answer


def _jsonschema() -> Any:
    try:
        import jsonschema
    except ImportError as error:
        raise MissingExtra(
            "Checking an answer against a JSON Schema", extra="schema", package="jsonschema"
        ) from error
    return jsonschema


def _validator_of(schema: JsonSchema) -> Any:
    jsonschema = _jsonschema()
    from referencing.jsonschema import EMPTY_REGISTRY  # without one, it would ask the network

    make = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
    return make(schema, registry=EMPTY_REGISTRY, format_checker=_formats())


@lru_cache(maxsize=1)
def _formats() -> Any:
    """Those formats that the schemas of Python types use; other ones are only shown."""
    from datetime import date, datetime, time
    from decimal import Decimal
    from uuid import UUID

    checker = _jsonschema().FormatChecker(formats=())
    makers: dict[str, Callable[[str], Any]] = {
        "date-time": datetime.fromisoformat, "date": date.fromisoformat,
        "time": time.fromisoformat, "uuid": UUID, "decimal": Decimal,
    }  # fmt: skip
    for name, make in makers.items():
        checker.checks(name, raises=(ValueError, ArithmeticError))(_takes(make))
    return checker


def _takes(make: Callable[[str], Any]) -> Callable[[Any], bool]:
    def fits(value: Any) -> bool:
        if isinstance(value, str):
            make(value)
        return True

    return fits


def _said_by_jsonschema(error: Any) -> Iterator[str]:
    path = "".join(
        f"[{place}]" if type(place) is int else attribute(place) for place in error.absolute_path
    )
    if error.validator == "required":
        # One error for each missing property, and none of them says which.
        for name in error.validator_value:
            if name not in error.instance:
                yield _missing(path + attribute(name))
        return
    if error.validator in ("anyOf", "oneOf") and error.context:
        branches: dict[int, list[Any]] = {}
        for inner in error.context:
            branches.setdefault(inner.schema_path[0], []).append(inner)
        likely = [b for b in branches.values() if b[0].validator_value != "null"]
        if len(likely) == 1:  # X or null: say what X does not like
            for inner in likely[0]:
                yield from _said_by_jsonschema(inner)
            return
    # The value stands at the front of each message.
    yield _wrong(path, error.instance, error.message.removeprefix(f"{error.instance!r} "))


# ------------------------------------------------------------------------------------- what is said
def _wrong(path: str, value: Any, reason: str) -> str:
    reason = reason.rstrip(".")
    place = path.removeprefix(".") or "the answer"
    if value is _ABSENT:
        return f"{place}: {reason}"
    shown = repr(value)
    shown = shown if len(shown) <= MOST_SHOWN else f"{shown[: MOST_SHOWN - 3]}..."
    return f"{place} is {shown}: {reason}"


def _missing(path: str) -> str:
    return f"{path.removeprefix('.')} is missing"


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
