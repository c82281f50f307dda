"""Two values have one fingerprint when they are the same, in this process or in the next."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, strategies as st

from caesura.engine.fingerprint import Fingerprints, fingerprint, fingerprint_call, show
from caesura.engine.registry import Registry
from tests.engine.things import Box, Colour, Node, Point, Remembering

REGISTRY = Registry()


def of(value: Any) -> str:
    return fingerprint(value, REGISTRY)


def of_call(*args: Any, **kwargs: Any) -> str:
    return fingerprint_call(args, kwargs, REGISTRY)


def test_it_is_32_hexadecimal_characters():
    assert len(of("x")) == 32
    assert int(of("x"), 16) >= 0


def test_the_order_of_dicts_and_sets_does_not_count():
    assert of({"a": 1, "b": {2: "x", 1: "y"}}) == of({"b": {1: "y", 2: "x"}, "a": 1})
    assert of({"k": {"b", "a", (1, 2)}}) == of({"k": {(1, 2), "a", "b"}})


def test_the_order_of_a_list_counts():
    assert of([1, 2]) != of([2, 1])


DIFFERENT = [
    0, 1, 1.0, True, False, None, "1", b"1", "", [], (), {}, set(), frozenset(), [1], (1,), {1},
    {"1": 1}, {1: 1}, {1: "1"}, 2**70, Decimal(1), Decimal("1.0"), Colour.RED, "RED", "r",
    Point(1), Point(1, 2), Box(1), {"x": 1, "y": 0}, datetime(2024, 1, 1, tzinfo=UTC), "\ud800",
    [[1], 2], [[1, 2]], Point, Colour,
]  # fmt: skip


def test_values_of_different_types_or_contents_differ():
    prints = {of(value): value for value in DIFFERENT}
    assert len(prints) == len(DIFFERENT)


def test_a_changed_field_of_a_class_that_nobody_registered_is_seen():
    assert of([Point(1, 2)]) == of([Point(1, 2)])
    assert of([Point(1, 2)]) != of([Point(1, 3)])


def test_registering_a_type_changes_no_fingerprint():
    assert fingerprint(Box(Point(1)), Registry(types=[Point, Box])) == of(Box(Point(1)))


def test_moving_a_class_to_another_module_changes_no_fingerprint():
    here, there = (type("Order", (Point,), {"__module__": name}) for name in ("a", "b"))
    assert of(here(1)) == of(there(1))


def test_what_a_cache_holds_does_not_count():
    looked_at = Remembering(3)
    assert looked_at.square == 9
    assert of(looked_at) == of(Remembering(3))


def test_what_has_no_form_is_told_apart_by_its_type():
    assert of([print, object()]) == of([len, object()])
    assert of(object()) != of(print)


def test_what_has_no_form_does_not_hide_what_stands_beside_it():
    assert of({"client": object(), "amount": 1}) != of({"client": object(), "amount": 2})


def test_what_contains_itself_has_a_fingerprint():
    loop = Node()
    loop.next = loop
    assert of(loop) == of(loop)
    assert of(loop) != of([loop])


def test_it_is_the_same_in_another_process():
    program = (
        "from caesura.engine.fingerprint import fingerprint\n"
        "from caesura.engine.registry import Registry\n"
        "print(fingerprint({'names': {'b', 'a', 'c', ('d', 1)}, 'n': 1.5}, Registry()))\n"
    )
    for seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", program],
            capture_output=True,
            text=True,
            env={"PYTHONHASHSEED": seed},
        )
        expected = of({"n": 1.5, "names": {("d", 1), "c", "a", "b"}})
        assert done.stdout.strip() == expected, done.stderr


# ---------------------------------------------------------------------------------------- calls
def test_arguments_count_by_place_and_by_name():
    calls = [of_call(), of_call(1), of_call(1, 2), of_call(2, 1), of_call(a=1), of_call(b=1)]
    calls += [of_call(1, a=1), of_call([1, 2]), of_call((1, 2)), of_call({"a": 1})]
    assert len(set(calls)) == len(calls)


def test_the_order_of_named_arguments_does_not_count():
    assert of_call(a=1, b=2) == of_call(b=2, a=1)


def test_an_argument_without_a_form_does_not_hide_the_others():
    assert of_call(object(), 1) == of_call(object(), 1)
    assert of_call(object(), 1) != of_call(object(), 2)


def test_an_argument_that_contains_itself_does_not_hide_the_others():
    loop: list[Any] = []
    loop.append(loop)
    assert of_call(loop, 1) != of_call(loop, 2)


plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
PRINTS = Fingerprints(REGISTRY)


def turned_round(value: Any) -> Any:
    """The same value with its dicts in another order."""
    if isinstance(value, dict):
        return {key: turned_round(value[key]) for key in reversed(value)}
    return [turned_round(item) for item in value] if isinstance(value, list) else value


@given(plain)
def test_a_value_in_another_order_is_the_same_value(value):
    assert PRINTS.of(turned_round(value)) == PRINTS.of(value)


@given(plain, plain)
def test_two_values_share_a_fingerprint_only_when_they_are_written_alike(left, right):
    assert (PRINTS.of(left) == PRINTS.of(right)) == (in_order(left) == in_order(right))


def in_order(value: Any) -> str:
    if isinstance(value, dict):
        return repr(sorted((key, in_order(item)) for key, item in value.items())) + "dict"
    return repr([in_order(item) for item in value]) if isinstance(value, list) else repr(value)


# --------------------------------------------------------------------------------------- showing
class Unspeakable:
    def __repr__(self) -> str:
        raise RuntimeError("no")


def test_a_call_is_shown_as_it_was_written():
    assert show((5, "a"), {"currency": "EUR"}) == "(5, 'a', currency='EUR')"


@pytest.mark.parametrize("limit", [20, 200])
def test_a_long_call_is_shortened_to_the_limit(limit):
    shown = show(tuple("abcdefgh" * 9 for _ in range(30)), {}, limit)
    assert len(shown) == limit
    assert shown.endswith("...)")


def test_an_argument_that_cannot_be_shown_does_not_matter():
    assert "Unspeakable" in show((Unspeakable(), 1), {})


def test_what_is_shown_can_be_written_anywhere():
    assert show((Box("\ud800"),), {}).encode()
