"""Answers in the form of a JSON Schema: one given by hand, or recorded of a class that is away.

Promises: every mistake that `jsonschema` finds; a schema that is not valid, or refers to what is
not within it, is refused when the question is asked, not when somebody answers. Nothing is fetched.
Does not promise: formats other than those that the schemas of Python types use; the rest are for
whoever shows the question.
Called by `answers_schema`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any

import msgspec

from caesura.engine.problems import Problems, missing, wrong
from caesura.engine.refusal import attribute
from caesura.errors import AuthoringError, MissingExtra

# What stands under these is data, whatever it looks like.
_DATA = frozenset({"const", "default", "enum", "examples"})


class JsonForm:
    """One JSON Schema, checked by `jsonschema`."""

    def __init__(self, schema: dict[str, Any]) -> None:
        self.json_schema = schema
        self._validator = _validator_of(schema)
        try:
            self._validator.check_schema(schema)
        except _jsonschema().SchemaError as error:
            raise _invalid(f"{error.message} at {error.json_path}") from error
        _refuse_what_leads_out(schema)

    def convert(self, answer: Any) -> Any:
        from referencing.exceptions import Unresolvable

        try:
            errors = list(self._validator.iter_errors(answer))
        except Unresolvable as error:
            raise _leads_out(error.ref) from error
        except TypeError as error:  # keys that are no text
            raise Problems([wrong("", answer, f"it is no JSON ({error})")]) from error
        problems = list(dict.fromkeys(p for error in errors for p in _said(error)))
        if problems:
            raise Problems(problems)
        return answer


def json_form(schema: Mapping[str, Any]) -> JsonForm:
    """The form of a schema; equal ones share it, as a question is asked anew on each pass."""
    try:
        text = msgspec.json.encode(schema)
    except (TypeError, ValueError, RecursionError) as error:
        raise _invalid(f"it is no JSON ({error})") from error
    return _remembered(text)


@lru_cache(maxsize=256)
def _remembered(text: bytes) -> JsonForm:
    return JsonForm(msgspec.json.decode(text))


def _invalid(why: str) -> AuthoringError:
    return AuthoringError(
        f"interrupt(schema={{...}}) is no valid JSON Schema: {why}. Correct it there."
    )


# ----------------------------------------------------------------------------------- the validator
def _jsonschema() -> Any:
    try:
        import jsonschema
    except ImportError as error:
        raise MissingExtra(
            "Checking an answer against a JSON Schema", extra="schema", package="jsonschema"
        ) from error
    return jsonschema


def _validator_of(schema: dict[str, Any]) -> Any:
    jsonschema = _jsonschema()
    from referencing.jsonschema import EMPTY_REGISTRY  # without one, it would ask the network

    make = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
    return make(schema, registry=EMPTY_REGISTRY, format_checker=_formats())


@lru_cache(maxsize=1)
def _formats() -> Any:
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


# -------------------------------------------------------------------------------------- references
def _refuse_what_leads_out(schema: dict[str, Any]) -> None:
    from referencing import Registry, Resource
    from referencing.exceptions import Unresolvable
    from referencing.jsonschema import DRAFT202012

    if next(_under("$id", schema), None) is not None:
        return  # its references are relative to names that only the validator follows
    resource = Resource.from_contents(schema, default_specification=DRAFT202012)
    resolver = Registry().with_resource("", resource).resolver()
    for reference in _under("$ref", schema):
        try:
            resolver.lookup(reference)
        except Unresolvable as error:
            raise _leads_out(reference) from error


def _leads_out(reference: str) -> AuthoringError:
    return AuthoringError(
        f"The JSON Schema of a question refers to {reference!r}, which is not within it. Copy what "
        f"it refers to into its '$defs'."
    )


def _under(keyword: str, schema: Any) -> Iterator[str]:
    """The texts that stand under a keyword, wherever that is in the schema."""
    if isinstance(schema, dict):
        for key, value in schema.items():
            if key == keyword and isinstance(value, str):
                yield value
            elif key not in _DATA:
                yield from _under(keyword, value)
    elif isinstance(schema, list):
        for item in schema:
            yield from _under(keyword, item)


# ------------------------------------------------------------------------------------ what is said
def _said(error: Any) -> Iterator[str]:
    path = "".join(
        f"[{place}]" if type(place) is int else attribute(place) for place in error.absolute_path
    )
    if error.validator == "required":
        # One error for each missing property, and none of them says which.
        for name in error.validator_value:
            if name not in error.instance:
                yield missing(path + attribute(name))
        return
    if error.validator in ("anyOf", "oneOf") and error.context:
        branches: dict[int, list[Any]] = {}
        for inner in error.context:
            branches.setdefault(inner.schema_path[0], []).append(inner)
        likely = [b for b in branches.values() if b[0].validator_value != "null"]
        if len(likely) == 1:  # X or null: say what X does not like
            for inner in likely[0]:
                yield from _said(inner)
            return
    # The value stands at the front of each message.
    yield wrong(path, error.instance, error.message.removeprefix(f"{error.instance!r} "))
