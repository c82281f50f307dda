"""What is said of an answer that does not fit: one sentence for each field that is wrong.

Promises: a sentence begins with the place of the field as its author would write it, and shows the
value that was found there, shortened.
Raised by `typed_answers`, `pydantic_answers` and `json_schema`; caught by whoever records answers.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

MOST_SHOWN = 80  # characters of a wrong value

UNSEEN: Final = object()  # in place of a value that cannot be shown


class Problems(Exception):
    """An answer does not fit: one sentence for each field that is wrong."""

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems = list(problems)
        super().__init__("; ".join(self.problems))


def wrong(path: str, value: Any, reason: str) -> str:
    """`items[2].price is 'a lot': ...`; `value` is `UNSEEN` when only the reason is known."""
    place, reason = path.removeprefix(".") or "the answer", reason.rstrip(".")
    if value is UNSEEN:
        return f"{place}: {reason}"
    shown = repr(value)
    shown = shown if len(shown) <= MOST_SHOWN else f"{shown[: MOST_SHOWN - 3]}..."
    return f"{place} is {shown}: {reason}"


def missing(path: str) -> str:
    """For a field that is required and not there."""
    return f"{path.removeprefix('.')} is missing"
