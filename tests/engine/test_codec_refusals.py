"""What cannot be written is refused when it is written, and the author is told where it is."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from caesura.core.events import Answered, Asked, Done, Recorded, Started
from caesura.core.parts import Question, Sent
from caesura.engine.codec import Codec
from caesura.engine.plain import MAX_DEPTH
from caesura.engine.registry import Registry
from caesura.errors import RecordTooLarge, UnserializableValue
from tests.engine.things import Box, Node, Pair, Point

CODEC = Codec(Registry(types=[Node, Box, Pair]))


def refusal_of(value: Any, path: str = "") -> UnserializableValue:
    with pytest.raises(UnserializableValue) as refused:
        CODEC.encode_value(value, path)
    return refused.value


def refusal_of_event(event: Any) -> UnserializableValue:
    with pytest.raises(UnserializableValue) as refused:
        CODEC.encode(1, [event])
    with pytest.raises(UnserializableValue) as alone:
        CODEC.pack(event)
    assert str(alone.value) == str(refused.value)
    return refused.value


def nested(levels: int, wrap: Any = lambda inner: [inner], around: Any = 1) -> Any:
    value = around
    for _ in range(levels):
        value = wrap(value)
    return value


# ------------------------------------------------------------------------------------- the place
@pytest.mark.parametrize(
    ("value", "path"),
    [
        ({"notes": [0, 1, 2, {"callback": print}]}, "notes[3].callback"),
        ({"a b": [print]}, "['a b'][0]"),
        ({7: print}, "[7]"),
        ({(1, 2): {"x": print}}, "[(1, 2)].x"),
        ((1, print), "[1]"),
        ({"pair": Pair(1, [print])}, "pair.right[0]"),
        ({"box": Box({"k": print})}, "box.content.k"),
        (print, "The value"),
    ],
    ids=lambda given: given if isinstance(given, str) else "",
)
def test_the_path_is_as_its_author_would_write_it(value, path):
    refused = refusal_of(value)
    assert refused.path == path
    assert str(refused).startswith(f"{path} holds a builtin_function_or_method, which cannot be")


def test_the_path_goes_on_from_where_the_caller_is():
    assert refusal_of([{"f": print}], "interrupt(verdict)").path == "interrupt(verdict)[0].f"


@pytest.mark.parametrize(
    ("event", "path"),
    [
        (Started(0, [{"notes": [print]}], None), "notes[0]"),
        (Done(0, 0, [{"a": 1}, {"b": {"c": print}}], None), "b.c"),
        (Done(0, 0, [], [Sent("ship", [print])]), "Send('ship')[0]"),
        (Recorded(0, 0, "charge", "f", 0, {"receipt": print}), "once(charge).receipt"),
        (Asked(0, 0, Question("i", "verdict", "f", 0, [print])), "interrupt(verdict)[0]"),
        (Answered("q", {"ok": print}, "ana"), "answer.ok"),
    ],
    ids=lambda given: given if isinstance(given, str) else "",
)
def test_the_path_begins_with_what_the_value_was_for(event, path):
    assert refusal_of_event(event).path == path


# ------------------------------------------------------------------------------------ the remedy
@pytest.mark.parametrize(
    ("value", "remedy"),
    [
        (Point(1), "compile(types=[Point])"),
        (Point, "Store its name"),
        (ValueError("x"), "Store str(error)"),
        ((n for n in "ab"), "Store list(...) of it"),
        (range(3), "Store list(...) of it"),
        (type("Text", (str,), {})("x"), "Store str(...) of it"),
        (threading.Lock(), "Store plain data"),
    ],
    ids=lambda given: given if isinstance(given, str) else "",
)
def test_what_to_do_about_it_is_said(value, remedy):
    assert remedy in str(refusal_of({"k": value}))


def test_the_type_is_named_in_full():
    assert refusal_of(Point(1)).type_name == "tests.engine.things.Point"


# -------------------------------------------------------------------------------- loops and depth
def a_list_in_itself() -> Any:
    loop: list[Any] = []
    loop.append((loop,))
    return loop


def a_dict_in_itself() -> Any:
    loop: dict[str, Any] = {}
    loop["self"] = [loop]
    return loop


def an_object_in_itself() -> Any:
    loop = Node()
    loop.next = loop
    return loop


def two_objects_that_know_each_other() -> Any:
    one, other = Node(), Node()
    one.next, other.next = {"other": other}, (one,)
    return one


LOOPS = [
    a_list_in_itself,
    a_dict_in_itself,
    an_object_in_itself,
    two_objects_that_know_each_other,
]


@pytest.mark.parametrize("depth", range(5))
@pytest.mark.parametrize("loop", LOOPS)
def test_what_contains_itself_is_called_so_wherever_it_is(loop, depth):
    assert "It contains itself" in str(refusal_of(nested(depth, around=loop())))


def test_what_contains_itself_is_shown_where_it_begins():
    assert refusal_of({"a": [an_object_in_itself()]}).path == "a[0]"


@pytest.mark.parametrize("wrap", [lambda v: [v], lambda v: {"k": v}, lambda v: (v,), Box])
def test_what_is_nested_too_deep_is_called_so(wrap):
    assert f"more than {MAX_DEPTH} levels" in str(refusal_of(nested(MAX_DEPTH + 2, wrap)))


@pytest.mark.parametrize("wrap", [lambda v: [v], lambda v: {"k": v}])
def test_the_deepest_plain_value_that_can_be_written_can_be_read(wrap):
    deepest = nested(MAX_DEPTH, wrap)
    assert CODEC.decode_value(CODEC.encode_value(deepest)) == deepest


@pytest.mark.parametrize("wrap", [lambda v: (v,), Box, lambda v: {1.5: (v,)}])
def test_the_deepest_typed_value_that_can_be_written_can_be_read(wrap):
    levels = next(n for n in range(MAX_DEPTH, 0, -1) if can_be_written(nested(n, wrap)))
    assert levels >= 40
    deepest = nested(levels, wrap)
    assert CODEC.decode_value(CODEC.encode_value(deepest)) == deepest


def can_be_written(value: Any) -> bool:
    try:
        CODEC.encode_value(value)
    except UnserializableValue:
        return False
    return True


@pytest.mark.parametrize(
    "write",
    [
        lambda value: CODEC.encode_value({"notes": value}),
        lambda value: CODEC.encode(1, [Started(0, [{"notes": value}], None)]),
    ],
    ids=["a value", "an event"],
)
def test_a_caller_with_little_stack_left_is_told_that_it_is_too_deep(write):
    value = nested(MAX_DEPTH - 5)

    def far_down(frames: int) -> None:
        if frames:
            far_down(frames - 1)
        else:
            write(value)

    with pytest.raises(UnserializableValue, match="nested more than") as refused:
        far_down(700)
    assert refused.value.type_name in ("dict", "list")


# ------------------------------------------------------------------------------------------ size
def test_what_is_larger_than_the_limit_is_refused_with_both_sizes():
    small = Codec(Registry(), max_bytes=100)
    assert small.encode_value("x" * 90)
    with pytest.raises(RecordTooLarge) as refused:
        small.encode_value("x" * 200, "notes")
    assert (refused.value.what, refused.value.size, refused.value.limit) == ("notes", 202, 100)


def test_one_append_is_measured_as_a_whole():
    small = Codec(Registry(), max_bytes=100)
    event = Started(0, [{"notes": "x" * 60}], None)
    assert small.encode(1, [event])
    with pytest.raises(RecordTooLarge, match="One append"):
        small.encode(1, [event, event])


# --------------------------------------------------------------------- functions given by the user
class Temperature:
    def __init__(self, degrees: float) -> None:
        self.degrees = degrees


def refuse(value: Any) -> Any:
    raise ValueError("it is too hot")


def test_a_write_function_that_fails_is_named_with_the_place_and_its_error():
    custom = Codec(Registry(types=[(Temperature, refuse, Temperature)]))
    with pytest.raises(UnserializableValue, match=r"room\.t holds .*it is too hot") as refused:
        custom.encode_value({"room": {"t": Temperature(99)}})
    assert isinstance(refused.value.__cause__, ValueError)


def test_a_write_function_that_overflows_is_not_taken_for_a_large_number():
    def overflow(value: Any) -> Any:
        raise OverflowError("no room")

    custom = Codec(Registry(types=[(Temperature, overflow, Temperature)]))
    with pytest.raises(UnserializableValue, match="OverflowError: no room"):
        custom.encode_value(Temperature(1))


def test_a_number_in_a_json_schema_that_msgpack_cannot_hold_is_refused():
    question = Question("i", "k", "f", 0, None, schema={"maximum": 2**70})
    assert "int" in str(refusal_of_event(Asked(0, 0, question)))


def test_check_refuses_what_encoding_would_refuse():
    with pytest.raises(UnserializableValue, match=r"payload\.f"):
        CODEC.check({"f": print}, "payload")
    assert CODEC.check({"f": 1}, "payload") is None
