"""Answers in the form of a pydantic model, or of a type that pydantic reads and msgspec does not.

Promises: all that pydantic finds wrong, in one sentence for each field. What a model takes, and how
strictly, it decides for itself.
Called by `answers_schema`, which imports this module where a schema needs it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
import pydantic
from pydantic.errors import PydanticUserError

from caesura.engine.problems import UNSEEN, Problems, missing, wrong
from caesura.engine.refusal import attribute


class PydanticForm:
    """One schema, read by pydantic. Raises TypeError for a type that is beyond it too."""

    def __init__(self, schema: Any) -> None:
        try:
            is_adapter = isinstance(schema, pydantic.TypeAdapter)
            self._adapter: Any = schema if is_adapter else pydantic.TypeAdapter(schema)
            self.json_schema: dict[str, Any] = self._adapter.json_schema()
        except (PydanticUserError, NameError) as error:
            raise TypeError(str(error)) from error

    def convert(self, answer: Any) -> Any:
        try:
            return self._adapter.validate_python(answer)
        except pydantic.ValidationError as error:
            return self._from_json(answer, error)
        except Exception as error:  # a validator of the user's may raise anything
            raise Problems([wrong("", answer, f"{type(error).__name__}: {error}")]) from error

    def _from_json(self, answer: Any, error: pydantic.ValidationError) -> Any:
        """A strict model takes from JSON what JSON can only say as text, such as a date."""
        try:
            return self._adapter.validate_json(msgspec.json.encode(answer))
        except pydantic.ValidationError as again:
            least = min(error, again, key=lambda each: each.error_count())
            raise Problems(_said(least, answer)) from least
        except Exception:  # noqa: BLE001 - it is no JSON; the first error says more
            raise Problems(_said(error, answer)) from error


def _said(error: pydantic.ValidationError, answer: Any) -> list[str]:
    reasons: dict[str, list[str]] = {}  # the branches of a union all speak about one field
    shown: dict[str, Any] = {}
    for problem in error.errors(include_url=False, include_context=False):
        is_missing = problem["type"] == "missing"
        path = _path_in(answer, problem["loc"], is_missing=is_missing)
        reasons.setdefault(path, []).append(problem["msg"])
        shown[path] = UNSEEN if is_missing else problem["input"]
    return [
        missing(path) if shown[path] is UNSEEN else wrong(path, shown[path], " or ".join(said))
        for path, said in reasons.items()
    ]


def _path_in(answer: Any, places: Iterable[Any], *, is_missing: bool) -> str:
    """Where it is in the answer; pydantic also names the branches of unions on the way."""
    path, value, left = "", answer, list(places)
    while left:
        place = left.pop(0)
        if isinstance(value, Mapping) and (place in value or (is_missing and not left)):
            path, value = path + attribute(place), value.get(place)
        elif isinstance(value, list | tuple) and type(place) is int and place < len(value):
            path, value = f"{path}[{place}]", value[place]
    return path
