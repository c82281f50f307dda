"""A name in a log stands for one class, and only for what the graph's author mentioned."""

from __future__ import annotations

import enum
import gc
import threading
import weakref
from dataclasses import dataclass, make_dataclass
from typing import Annotated, Any, Generic, Literal, NamedTuple, TypedDict, TypeVar

import msgspec
import pytest

from caesura.engine.codec import Codec
from caesura.engine.registry import MOST_REPLACED, Registry
from caesura.errors import AuthoringError
from tests.engine.things import Address, Colour, Pair, Point

T = TypeVar("T")


class Inner(msgspec.Struct):
    at: Point


@dataclass
class Outer:
    inners: dict[str, list[Inner]]
    colour: Colour | None = None


@dataclass
class Tree:
    kids: list[Tree]


class State(TypedDict):
    outer: Annotated[Outer, "a reducer may stand here"]
    choice: Literal[Colour.RED]
    pair: Pair


@dataclass
class Holder(Generic[T]):
    item: T


class Shouting:
    def __init__(self, text: str) -> None:
        self.text = text


def knows(registry: Registry, *classes: type) -> bool:
    return all(registry.kind_of(cls) is not None for cls in classes)


# --------------------------------------------------------------------------------- what is known
def test_everything_that_the_state_mentions_is_known():
    assert knows(Registry([State]), Outer, Inner, Point, Colour, Pair)


def test_what_nobody_mentioned_is_not_known():
    registry = Registry([Point])
    assert registry.kind_of(Outer) is None
    assert registry.named(f"{__name__}:Outer") is None


def test_a_type_is_found_by_its_module_and_qualified_name():
    kind = Registry([Point]).named("tests.engine.things:Point")
    assert kind is not None
    assert kind.cls is Point


@pytest.mark.parametrize(
    "annotation",
    [
        list[Point], dict[str, Point], Point | None, tuple[Point, ...], Annotated[Point, "x"],
        list[dict[int, set[Point]]], Holder[Point], Address, type("Sub", (Outer,), {}),
    ],
    ids=str,
)  # fmt: skip
def test_a_type_is_found_wherever_an_annotation_holds_it(annotation):
    assert knows(Registry([annotation]), Point)


def test_a_type_that_mentions_itself_is_learned_once():
    assert knows(Registry([Tree]), Tree)


def test_a_model_s_fields_are_learned_too():
    pydantic = pytest.importorskip("pydantic")
    basket = pydantic.create_model("Basket", at=(Point, ...), colours=(list[Colour], []))
    assert knows(Registry([basket]), basket, Point, Colour)


def test_a_field_whose_type_cannot_be_found_does_not_stop_the_others():
    torn = make_dataclass("Torn", [("at", Point), ("nowhere", "Nowhere")])
    assert knows(Registry([torn]), torn, Point)


def test_a_subclass_is_not_written_as_what_it_extends():
    assert Registry([Point]).kind_of(type("Sub", (Point,), {})) is None


# -------------------------------------------------------------------------------- what is refused
def test_a_class_without_a_form_is_refused_with_what_to_do():
    with pytest.raises(AuthoringError, match=r"types=\[Shouting\].*give \(Shouting, write, read\)"):
        Registry(types=[Shouting])


def test_a_class_without_a_form_in_an_annotation_is_left_out():
    assert Registry([list[Shouting]]).kind_of(Shouting) is None


@pytest.mark.parametrize("given", ["Point", 5, None, (Shouting, str), ("Shouting", str, str)])
def test_what_is_no_type_is_refused_and_shown(given):
    with pytest.raises(AuthoringError, match=r"types=\["):
        Registry(types=[given])


def test_a_typed_dict_is_taken_for_what_its_fields_mention():
    assert knows(Registry(types=[Address]), Point)


def test_two_classes_of_one_name_are_refused():
    one, other = (make_dataclass("Order", [("a", int)]) for _ in range(2))
    with pytest.raises(AuthoringError, match=r"Two different types.*Order.*rename one"):
        Registry(types=[one, other])


def test_the_same_class_twice_is_fine():
    assert knows(Registry([Point, Point], types=[Point]), Point)


# ---------------------------------------------------------------------------- types by their own
def test_a_triple_says_itself_how_it_is_written_and_read():
    codec = Codec(Registry(types=[(Shouting, lambda value: value.text.upper(), Shouting)]))
    back = codec.decode_value(codec.encode_value([Shouting("hello")]))
    assert (type(back[0]), back[0].text) == (Shouting, "HELLO")


def test_a_triple_goes_before_the_general_way():
    point = (Point, lambda p: [p.x, p.y], lambda data: Point(data[0] + 100, data[1]))
    codec = Codec(Registry([State], types=[point]))
    assert codec.decode_value(codec.encode_value(Point(1, 2))) == Point(101, 2)


# --------------------------------------------------------------------------- programs that changed
def in_module(module: str, **fields: Any) -> Any:
    return make_dataclass("Order", [("amount", int)], namespace={"__module__": module}, **fields)


@pytest.mark.parametrize(("was", "now"), [("__main__", "app"), ("app", "__main__")])
def test_a_program_that_was_run_may_be_imported_and_the_other_way_round(was, now):
    before, after = in_module(was), in_module(now)
    before.__module__, after.__module__ = was, now
    body = Codec(Registry([before])).encode_value(before(5))
    assert Codec(Registry([after])).decode_value(body) == after(5)


def test_a_type_of_another_module_is_not_taken_for_one_of_that_name():
    one, other = in_module("shop"), in_module("app")
    one.__module__, other.__module__ = "shop", "app"
    assert Registry([other]).named("shop:Order") is None


# ---------------------------------------------------------------- types that nodes define anew
def a_class_of_its_own() -> Any:
    @dataclass
    class Verdict:
        ok: bool

    return Verdict


def test_a_class_that_is_defined_anew_takes_the_place_of_the_one_before():
    registry, (first, second) = Registry(), (a_class_of_its_own(), a_class_of_its_own())
    registry.learn(first, replace=True)
    registry.learn(second, replace=True)
    codec = Codec(registry)
    assert codec.decode_value(codec.encode_value(first(True))) == second(True)


def test_classes_that_are_defined_anew_do_not_pile_up():
    registry, first = Registry(), a_class_of_its_own()
    gone = weakref.ref(first)
    registry.learn(first, replace=True)
    del first
    for _ in range(MOST_REPLACED + 1):
        registry.learn(a_class_of_its_own(), replace=True)
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize(
    "make",
    [
        lambda: list[Point],
        lambda: type("Plain", (), {}),
        lambda: TypedDict("Reply", {"at": Point}),
    ],
    ids=["a generic alias", "a plain class", "a TypedDict"],
)
def test_annotations_that_are_made_anew_do_not_pile_up(make):
    registry, annotation = Registry(), make()
    gone = weakref.ref(annotation)
    registry.learn(annotation, replace=True)
    del annotation
    gc.collect()
    assert gone() is None


def test_a_json_schema_mentions_no_types():
    schema = {"properties": {"at": Point}}
    registry = Registry()
    registry.learn(schema, replace=True)
    assert registry.kind_of(Point) is None


def test_names_can_be_looked_up_while_others_learn():
    registry, wrong, done = Registry(), [], threading.Event()

    def look() -> None:
        try:
            while not done.is_set():
                registry.named("__main__:Nobody")
        except Exception as error:
            wrong.append(error)

    looking = threading.Thread(target=look)
    looking.start()
    for number in range(2000):
        registry.learn(make_dataclass(f"C{number}", []))
    done.set()
    looking.join()
    assert wrong == []


# ---------------------------------------------------------------------------------- kinds of enum
class Size(enum.Enum):
    S = 1
    SMALL = 1  # noqa: PIE796 - an alias


class Empty(enum.Enum):
    pass


class Untyped(NamedTuple):
    a: Any


def test_an_alias_of_a_member_is_the_member():
    codec = Codec(Registry(types=[Size]))
    assert codec.decode_value(codec.encode_value(Size.SMALL)) is Size.S


def test_a_changed_value_of_a_member_is_still_that_member():
    before = enum.Enum("State", {"OPEN": 1, "SHUT": 2}, module="app")
    after = enum.Enum("State", {"SHUT": 1, "OPEN": 2}, module="app")
    body = Codec(Registry([before])).encode_value(before["OPEN"])
    assert Codec(Registry([after])).decode_value(body) is after["OPEN"]


def test_an_enum_without_members_cannot_be_registered():
    with pytest.raises(AuthoringError, match="Empty"):
        Registry(types=[Empty])
