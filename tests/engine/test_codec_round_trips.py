"""What is read from a log is what was written, types included."""

from __future__ import annotations

import math
from collections import Counter, OrderedDict, defaultdict, deque
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import msgspec
import pytest
from hypothesis import given, strategies as st

from caesura.core.events import Answered, Asked, Done, Started
from caesura.core.parts import Question, Sent
from caesura.core.view import RunView, ThreadView
from caesura.engine.codec import Codec
from caesura.engine.opaque import Opaque
from caesura.engine.registry import Registry
from tests.engine.things import (
    Address,
    Box,
    Checked,
    Colour,
    Counted,
    Frozen,
    Late,
    Level,
    Money,
    Pair,
    Point,
    Remembering,
    Right,
    Shop,
    Switch,
)

TYPES = [
    Colour, Level, Right, Point, Frozen, Checked, Late, Remembering, Box, Pair, Shop, Money,
    Address, Switch, Counted,
]  # fmt: skip

NAIVE = datetime(2024, 1, 1, 12)  # noqa: DTZ001 - programs keep such ones too


def codec(*types: Any, **options: Any) -> Codec:
    return Codec(Registry(types=types), **options)


def again(value: Any, *types: Any) -> Any:
    """The value as the next program reads it, which has registered its types anew."""
    return codec(*types).decode_value(codec(*types).encode_value(value))


def same(left: Any, right: Any) -> bool:
    """Equal and of equal types all the way down; a NaN is a NaN."""
    if type(left) is not type(right):
        return False
    if isinstance(left, float):
        return left == right or (math.isnan(left) and math.isnan(right))
    if isinstance(left, dict):
        pairs = zip(left.items(), right.items(), strict=False)
        return len(left) == len(right) and all(
            same(a, b) and same(x, y) for (a, x), (b, y) in pairs
        )
    if isinstance(left, list | tuple):
        return len(left) == len(right) and all(map(same, left, right))
    return bool(left == right)


@pytest.mark.parametrize(
    "value",
    [
        None, True, 0, -1, 2**63, -(2**63), 2**200, -(2**200), 1.5, math.inf, math.nan, "",
        "text", "\x00", "\ud800 is half a character", b"", b"\x00\xff", bytearray(b"ab"), 1j,
        (), (1,), (1, (2, [3])), set(), {1, 2}, {(1, "a")}, frozenset({1, 2}), {1: "a", None: "b"},
        {(1, 2): "pair"}, {"nested": {1: {2.5: {b"b": True}}}}, {True: 1, "True": 2},
        {2**70: "big", "\ud800": "half"},
        deque([1, 2], maxlen=3), deque([1]), OrderedDict(b=1, a=2), Counter("abba"),
        date(2024, 2, 29), time(12, 30, 1, 5), timedelta(days=-1, microseconds=3),
        NAIVE, datetime(2024, 1, 1, 12, tzinfo=UTC), time(1, tzinfo=UTC),
        datetime(2024, 1, 1, tzinfo=timezone(timedelta(hours=5, minutes=30))),
        datetime(2024, 1, 1, tzinfo=timezone(timedelta(hours=-3), "BRT")),
        timezone(timedelta(hours=1), "CET"), UTC,
        Decimal("1.10"), Decimal("-Infinity"), Fraction(1, 3), UUID(int=7),
        Path("a/b"), PurePosixPath("/x"), PureWindowsPath("c:/x"),
    ],
    ids=repr,
)  # fmt: skip
def test_a_value_of_a_standard_type_comes_back_as_it_was(value):
    assert same(again(value), value)


def test_a_datetime_keeps_the_name_of_its_zone_and_which_of_two_hours_it_is():
    moment = datetime(2024, 10, 27, 2, 30, fold=1, tzinfo=ZoneInfo("Europe/Berlin"))
    back = again(moment)
    assert (back, back.tzinfo, back.fold) == (moment, moment.tzinfo, 1)
    assert back.utcoffset() == timedelta(hours=1)


def test_a_naive_datetime_keeps_its_fold():
    assert again(NAIVE.replace(fold=1)).fold == 1


def test_a_default_dict_goes_on_making_its_defaults():
    back = again(defaultdict(list, {"a": [1]}))
    back["b"].append(2)
    assert back == {"a": [1], "b": [2]}


def test_the_sign_of_zero_and_of_a_decimal_s_digits_is_kept():
    assert math.copysign(1, again(-0.0)) == -1
    assert str(again(Decimal("1.10"))) == "1.10"


def test_the_order_of_a_dict_is_kept():
    assert list(again({"b": 1, "a": 2, 3: 4})) == ["b", "a", 3]


@pytest.mark.parametrize(
    "value",
    [
        Colour.GREEN, Level.HIGH, Right.READ, Right.READ | Right.WRITE, Right(0), Point(1, 2),
        Frozen("f", Point(3)), Checked(4), Remembering(3), Box(Point(5)), Pair(Point(1), (2,)),
        Shop("s", True), Shop("unset"), Switch(msgspec.UNSET), Counted(), Money(5),
        {Colour.RED: [Point(1)], Level.LOW: {Money(1)}},
        [(Pair(1), {"deep": Box({Frozen("x", Point(1)).name: Colour.RED})})],
    ],
    ids=repr,
)  # fmt: skip
def test_a_value_of_a_registered_type_comes_back_as_it_was(value):
    assert same(again(value, *TYPES), value)


def test_a_typed_dict_is_a_dict_whose_fields_are_known():
    home: Address = {"street": "Lane", "at": Point(1)}
    assert same(again(home, Address), home)


def test_reading_does_not_construct_anew():
    order = Checked(4)
    order.amount = -5  # the constructor would refuse it
    back = again(order, Checked)
    assert (back.amount, back.doubled) == (-5, 8)


def test_a_field_that_was_never_set_is_still_unset():
    back = again(Late("x"), Late)
    assert back.name == "x"
    assert not hasattr(back, "result")


def test_attributes_beside_the_fields_are_kept_and_caches_are_not():
    thing = Remembering(3)
    thing.comment = "by hand"
    assert thing.square == 9
    assert again(thing, Remembering).__dict__ == {"n": 3, "comment": "by hand"}


def test_attributes_beside_the_fields_are_kept_when_a_field_is_unset():
    thing = Late("x")
    thing.comment = "by hand"
    assert again(thing, Late).__dict__ == {"name": "x", "comment": "by hand"}


def test_a_field_gained_since_gets_its_default_and_a_lost_one_is_dropped():
    before = msgspec.defstruct("Order", [("a", int), ("b", int)], module="app")
    after = msgspec.defstruct("Order", [("a", int), ("c", str, "new")], module="app")
    body = codec(before).encode_value(before(1, 2))
    assert codec(after).decode_value(body) == after(1, "new")


# -------------------------------------------------------------------------------------- pydantic
def test_a_pydantic_model_comes_back_with_what_was_set():
    pydantic = pytest.importorskip("pydantic")
    item_type = pydantic.create_model("Item", name=(str, ...), tags=(list[str], []))
    back = again(item_type(name="x"), item_type)
    assert (back, back.model_fields_set) == (item_type(name="x"), {"name"})


def test_a_pydantic_model_keeps_extra_fields():
    pydantic = pytest.importorskip("pydantic")
    anything = pydantic.create_model(
        "Anything", __config__=pydantic.ConfigDict(extra="allow"), name=(str, "nobody")
    )
    back = again(anything(colour="red"), anything)
    assert (back.colour, back.model_extra) == ("red", {"colour": "red"})
    assert back.model_fields_set == {"colour"}


def test_a_pydantic_model_is_not_validated_when_it_is_read():
    pydantic = pytest.importorskip("pydantic")
    positive = pydantic.create_model("Positive", n=(int, pydantic.Field(gt=0)))
    assert again(positive.model_construct(n=-1), positive).n == -1


def test_a_pydantic_model_made_without_a_required_field_comes_back_without_it():
    pydantic = pytest.importorskip("pydantic")
    item_type = pydantic.create_model("Item", name=(str, ...), price=(int, ...))
    back = again(item_type.model_construct(name="x"), item_type)
    assert back.__dict__ == {"name": "x"}


def test_a_field_that_a_pydantic_model_lost_no_longer_counts_as_set():
    pydantic = pytest.importorskip("pydantic")
    before = pydantic.create_model("Item", __module__="app", a=(int, ...), b=(int, ...))
    after = pydantic.create_model("Item", __module__="app", a=(int, ...))
    back = codec(after).decode_value(codec(before).encode_value(before(a=1, b=2)))
    assert (back, back.model_fields_set) == (after(a=1), {"a"})


# ------------------------------------------------------------------------------------- langchain
def test_langchain_messages_come_back_without_being_registered():
    messages = pytest.importorskip("langchain_core.messages")
    talk = [
        messages.SystemMessage("be kind", id="1"),
        messages.HumanMessage([{"type": "text", "text": "hello"}], name="ana"),
        messages.AIMessage(
            "hi",
            tool_calls=[{"name": "f", "args": {"x": 1}, "id": "c", "type": "tool_call"}],
            usage_metadata={"input_tokens": 1, "output_tokens": 2, "total_tokens": 3},
        ),
        messages.ToolMessage("42", tool_call_id="c", artifact={"raw": (1, 2)}),
        messages.AIMessageChunk("h"),
        messages.RemoveMessage("1"),
    ]
    assert same(again(talk), talk)


# --------------------------------------------------------------------------- records and snapshots
def test_events_come_back_with_the_users_values_in_them():
    question = Question("id", "key", "f", 0, {"at": Point(1)}, schema={"type": "object"})
    events = [
        Started(0, [{"order": Point(1, 2)}], ["review", Sent("ship", (1, 2))]),
        Asked(0, 0, question),
        Done(1, 0, [{"notes": {Colour.RED}}], ["a", Sent("b", Money(1))]),
    ]
    writer, reader = codec(*TYPES), codec(*TYPES)
    assert reader.decode(writer.encode(17, events)) == (17, events)


def test_events_packed_one_by_one_read_as_the_same_record():
    events = [Started(0, [{"a": (1,)}], ["n"]), Done(0, 0, [{"a": 2**70}], None)]
    one = codec()
    packed = one.record(5, [one.pack(event) for event in events])
    assert one.decode(packed) == one.decode(one.encode(5, events))


def test_a_snapshot_comes_back_as_it_was():
    view = ThreadView(birth="b", graph="g", runs={0: RunView(0, "g", values={"p": Point(1)})})
    assert codec(Point).decode_view(codec(Point).encode_view(view)) == view


def test_writing_changes_nothing_of_what_is_written():
    value = {"list": [1, (2,)], "dict": {3: Point(4)}}
    codec(Point).encode_value(value)
    assert value == {"list": [1, (2,)], "dict": {3: Point(4)}}
    assert isinstance(value["list"][1], tuple)


def test_text_of_ours_that_is_no_unicode_is_escaped_and_does_not_stop_the_append():
    _, (event,) = codec().decode(codec().encode(1, [Answered("q", "yes", "ana \ud800")]))
    assert event.by == "ana \\ud800"


# ------------------------------------------------------------------------------------- hypothesis
texts = st.text(alphabet=st.characters())  # halves of characters too
whole = st.integers() | st.integers(-(2**70), 2**70)
zones = st.none() | st.just(UTC) | st.timezones()
hashable = st.recursive(
    st.none()
    | st.booleans()
    | whole
    | st.floats(allow_nan=False)
    | texts
    | st.binary()
    | st.uuids()
    | st.dates()
    | st.decimals(allow_nan=False)
    | st.sampled_from([*Colour, *Level]),
    lambda inner: st.tuples(inner, inner) | st.frozensets(inner, max_size=3) | inner.map(Pair),
    max_leaves=4,
)
values = st.recursive(
    hashable
    | st.datetimes(timezones=zones)
    | st.times()
    | st.timedeltas()
    | st.fractions()
    | st.complex_numbers(allow_nan=False),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(texts, inner, max_size=4)
        | st.dictionaries(hashable, inner, max_size=3)
        | st.sets(hashable, max_size=3)
        | st.tuples(inner, inner).map(lambda xy: Point(*xy))
        | inner.map(Box)
        | inner.map(Shop)
        | st.lists(inner, max_size=2).map(deque)
    ),
    max_leaves=12,
)
WRITER, READER = codec(*TYPES), codec(*TYPES)
STRANGER = codec(strict=False)


@given(values)
def test_whatever_can_be_built_of_these_types_comes_back(value):
    assert same(READER.decode_value(WRITER.encode_value(value)), value)


@given(st.dictionaries(st.sampled_from(["notes", "amount", "größe"]), values))
def test_whatever_a_node_writes_comes_back(writes):
    _, (event,) = READER.decode(WRITER.encode(1, [Done(0, 0, [writes], None)]))
    assert same(event.writes, [writes])


@given(values)
def test_a_reader_that_knows_no_type_passes_every_byte_on(value):
    body = WRITER.encode_value(value)
    assert STRANGER.encode_value(STRANGER.decode_value(body)) == body


def test_the_reader_that_knows_no_type_does_see_the_parts():
    seen = STRANGER.decode_value(WRITER.encode_value({"at": Point(1, 2)}))["at"]
    assert isinstance(seen, Opaque)
    assert (seen.name.rpartition(":")[2], seen.data) == ("Point", {"x": 1, "y": 2})
