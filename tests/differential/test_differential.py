"""The same scripts on LangGraph and on Caesura: what a user sees is the same, or listed as intended.

Look at one case by eye with `python -m differential CASE` from `tests/`.
"""

from __future__ import annotations

from functools import cache

import pytest

from . import corpus  # noqa: F401
from .__main__ import difference
from .driver import Flavour, Record, play
from .intended import INTENDED, Intended
from .registry import CASES, Case

pytestmark = [pytest.mark.differential, pytest.mark.timeout(60)]
pytest.importorskip("langgraph", reason="the differential tests need langgraph beside us")

FLAVOURS = [
    (case, Flavour(store, style))
    for case in CASES.values()
    for style in case.styles
    for store in ("memory", "sqlite")
]


@cache
def theirs(case: Case, flavour: Flavour) -> Record:
    return play(case, "langgraph", flavour)


@pytest.mark.parametrize(
    ("case", "flavour"), FLAVOURS, ids=[f"{case.name}-{flavour}" for case, flavour in FLAVOURS]
)
def test_both_libraries_tell_the_same_story(case: Case, flavour: Flavour) -> None:
    expected = theirs(case, flavour)
    if case.name in INTENDED:
        expected = INTENDED[case.name].apply(expected)
    ours = play(case, "caesura", flavour)
    assert ours == expected, "\n" + difference(expected, ours)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_script_tells_the_same_story_twice(case: Case) -> None:
    flavour = Flavour(style=case.styles[0])
    assert play(case, "langgraph", flavour) == theirs(case, flavour)


@pytest.mark.parametrize("name", INTENDED)
def test_an_intended_difference_still_differs(name: str) -> None:
    case, intended = CASES[name], INTENDED[name]
    record = theirs(case, Flavour(style=case.styles[0]))
    assert not unchanged(intended, record), (
        f"LangGraph now does what {name} lists as ours. Take these out of intended.py."
    )


def unchanged(intended: Intended, record: Record) -> list[str]:
    """The observations that are listed although both libraries agree about them."""
    seen = dict(record)
    return [
        what
        for what in intended.changes
        if what in seen and intended.ours(what, seen[what]) == seen[what]
    ]
