"""An answer is shown, checked and converted by its question's schema, whatever its form."""

from __future__ import annotations

import enum
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import (
    Annotated,
    Any,
    Generic,
    Literal,
    NamedTuple,
    NewType,
    NotRequired,
    Required,
    TypedDict,
    TypeVar,
)
from uuid import UUID

import msgspec
import pytest

from caesura.engine.answers_schema import Problems, check, convert, json_schema_of, plain
from caesura.errors import AuthoringError

T = TypeVar("T")


class Colour(enum.Enum):
    RED = "r"
    GREEN = "g"


@dataclass
class Verdict:
    ok: bool
    amount: int
    note: str = ""


class VerdictDict(TypedDict):
    ok: bool
    amount: int
    note: NotRequired[str]


class VerdictStruct(msgspec.Struct):
    ok: bool
    amount: int
    note: str = ""


class Partial(TypedDict, total=False):
    name: Required[str]
    age: int
    colour: NotRequired[Annotated[Colour, "how it is painted"]]


@dataclass
class Order:
    items: list[Verdict]
    by_name: dict[str, Partial] = field(default_factory=dict)
    day: date | None = None


@dataclass
class Box(Generic[T]):
    content: T
    size: int


class Pair(NamedTuple):
    left: int
    right: str


class Row(msgspec.Struct, array_like=True):
    number: int
    name: str


class Cat(msgspec.Struct, tag="cat"):
    lives: int
    name: str


class Dog(msgspec.Struct, tag="dog"):
    tricks: list[str]


class Camel(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    first_name: str
    last_name: str = ""


class Tree(msgspec.Struct):
    value: int
    kids: list[Tree] = []


@dataclass
class Positive:
    n: int

    def __post_init__(self) -> None:
        if self.n <= 0:
            raise ValueError("n must be positive")


Price = NewType("Price", int)
Small = Annotated[int, msgspec.Meta(ge=0, le=9)]

BY_HAND = {
    "type": "object",
    "properties": {"ok": {"type": "boolean"}, "amount": {"type": "integer"}},
    "required": ["ok", "amount"],
}


def a_model(**fields: Any) -> Any:
    pydantic = pytest.importorskip("pydantic")
    return pydantic.create_model("Model", **fields)


@pytest.fixture(params=["dataclass", "TypedDict", "msgspec", "pydantic", "JSON Schema", "recorded"])
def verdict(request: pytest.FixtureRequest) -> Any:
    """The same schema in every form; `recorded` is what a reader without the class has of it."""
    if request.param == "pydantic":
        return a_model(ok=(bool, ...), amount=(int, ...), note=(str, ""))
    if request.param in ("JSON Schema", "recorded"):
        pytest.importorskip("jsonschema")
    return {
        "dataclass": Verdict,
        "TypedDict": VerdictDict,
        "msgspec": VerdictStruct,
        "JSON Schema": BY_HAND,
        "recorded": json_schema_of(Verdict),
    }[request.param]


@pytest.fixture(params=[Verdict, VerdictDict, VerdictStruct, "pydantic"])
def verdict_class(request: pytest.FixtureRequest) -> Any:
    """The same schema in the forms that have instances."""
    if request.param == "pydantic":
        return a_model(ok=(bool, ...), amount=(int, ...), note=(str, ""))
    return request.param


# ---------------------------------------------------------------------------------- in all forms
def test_a_fitting_answer_has_no_problems(verdict):
    assert check(verdict, {"ok": True, "amount": 5}) == []


def test_a_fitting_answer_takes_the_form_of_the_schema(verdict):
    converted = convert(verdict, {"ok": True, "amount": 5})
    if isinstance(verdict, dict) or verdict is VerdictDict:
        assert converted == {"ok": True, "amount": 5}
    else:
        assert converted == verdict(ok=True, amount=5)


def test_every_wrong_field_is_named_with_its_value(verdict):
    problems = check(verdict, {"ok": "perhaps", "amount": "a lot"})
    assert [problem.partition(":")[0] for problem in sorted(problems)] == [
        "amount is 'a lot'",
        "ok is 'perhaps'",
    ]


def test_every_missing_field_is_named(verdict):
    assert sorted(check(verdict, {})) == ["amount is missing", "ok is missing"]


def test_a_missing_and_a_wrong_field_are_both_named(verdict):
    assert len(check(verdict, {"amount": "a lot"})) == 2


@pytest.mark.parametrize("answer", ["yes", 5, None, ["ok"]])
def test_an_answer_of_quite_another_kind_is_one_problem(verdict, answer):
    (problem,) = check(verdict, answer)
    assert problem.startswith(f"the answer is {answer!r}: ")


def test_fields_that_the_schema_does_not_have_are_passed_over(verdict):
    assert check(verdict, {"ok": True, "amount": 5, "more": 1}) == []


def test_the_json_schema_describes_the_fields(verdict):
    shown = json_schema_of(verdict)
    if "$ref" in shown:
        shown = shown["$defs"][shown["$ref"].rpartition("/")[2]]
    assert shown["properties"]["amount"]["type"] == "integer"
    assert sorted(shown["required"]) == ["amount", "ok"]


def test_an_instance_passes_through(verdict_class):
    given = verdict_class(ok=True, amount=5)
    assert convert(verdict_class, given) == given
    assert check(verdict_class, given) == []


def test_what_is_recorded_of_an_instance_makes_an_equal_one(verdict_class):
    given = verdict_class(ok=True, amount=5, note="n")
    recorded = plain(given)
    assert recorded == {"ok": True, "amount": 5, "note": "n"}
    assert convert(verdict_class, recorded) == given
    pytest.importorskip("jsonschema")
    assert check(json_schema_of(verdict_class), recorded) == []


# ------------------------------------------------------------------------- where the problems are
@pytest.mark.parametrize(
    ("schema", "answer", "places"),
    [
        (Order, {"items": [{"ok": 1, "amount": 1}, {"ok": True}]},
         ["items[0].ok", "items[1].amount"]),
        (Order, {"items": [], "by_name": {"a b": {"age": "x"}}, "day": "soon"},
         ["by_name['a b'].age", "by_name['a b'].name", "day"]),
        (Partial, {"age": "old", "colour": "blue"}, ["age", "colour", "name"]),
        (Partial, {"name": "a", "age": "old", "colour": "r"}, ["age"]),
        (list[int], [1, "x", True, 2.5], ["[1]", "[2]", "[3]"]),
        (Sequence[int], ["x", "y"], ["[0]", "[1]"]),
        (set[int], ["x", 1], ["[0]"]),
        (tuple[int, str], ["x", 2], ["[0]", "[1]"]),
        (tuple[int, ...], ["x", 2, "y"], ["[0]", "[2]"]),
        (dict[str, int], {"a": "x", "b": 1, "c": None}, ["a", "c"]),
        (Mapping[str, int], {"a": "x", "b": "y"}, ["a", "b"]),
        (dict[int, str], {"1": "one", "two": 2}, ["two", "two (the key)"]),
        (Pair, ["x", 2], ["[0]", "[1]"]),
        (Row, ["x", 2], ["[0]", "[1]"]),
        (Box[int], {"content": "x", "size": "y"}, ["content", "size"]),
        (Box[list[str]], {"content": ["a", 1], "size": "y"}, ["content[1]", "size"]),
        (Tree, {"value": 1, "kids": [{"value": "x"}, {"value": 1, "kids": [{"value": "y"}]}]},
         ["kids[0].value", "kids[1].kids[0].value"]),
        (Cat | Dog, {"type": "cat", "lives": "nine", "name": 1}, ["lives", "name"]),
        (Cat | Dog, {"type": "cow"}, ["type"]),
        (list[Cat | Dog], [{"type": "dog", "tricks": [1, 2]}], ["[0].tricks[0]", "[0].tricks[1]"]),
        (Verdict | None, {"ok": 1, "amount": "x"}, ["amount", "ok"]),
        (str | list[int], ["x", "y"], ["[0]", "[1]"]),
        (Annotated[Verdict, "said"], {"ok": 1, "amount": "x"}, ["amount", "ok"]),
        (list[Price], ["x", 1], ["[0]"]),
        (list[Small], [10, 5, -1], ["[0]", "[2]"]),
        (list[Colour], ["r", "x"], ["[1]"]),
        (list[Literal["a", "b"]], ["a", "c"], ["[1]"]),
        (list[Positive], [{"n": 0}, {"n": 1}, {"n": "x"}], ["[0]", "[2].n"]),
        (Camel, {"firstName": 1, "middle": 2}, ["firstName", "middle"]),
    ],
    ids=str,
)  # fmt: skip
def test_each_problem_says_where_it_is(schema, answer, places):
    said = [problem.partition(" is ")[0].partition(": ")[0] for problem in check(schema, answer)]
    assert sorted(said) == places


@pytest.mark.parametrize(
    ("schema", "answer", "expected"),
    [
        (Partial, {"name": "a", "age": 5}, {"name": "a", "age": 5}),
        (bool, True, True), (str, "", ""), (Colour, "g", Colour.GREEN), (float, 5, 5.0),
        (Literal["a", "b"], "b", "b"), (Any, {"x": [1]}, {"x": [1]}), (None, None, None),
        (date, "2024-02-29", date(2024, 2, 29)), (Decimal, "1.10", Decimal("1.10")),
        (UUID, str(UUID(int=7)), UUID(int=7)), (set[int], [1, 2], {1, 2}), (bytes, "aGk=", b"hi"),
        (tuple[int, str], [1, "x"], (1, "x")), (dict[int, str], {"1": "x"}, {1: "x"}),
        (Pair, [1, "x"], Pair(1, "x")), (Box[int], {"content": 1, "size": 2}, Box(1, 2)),
        (Cat | Dog, {"type": "dog", "tricks": []}, Dog([])),
        (Order, {"items": [{"ok": True, "amount": 1}], "day": "2024-01-01"},
         Order([Verdict(True, 1)], {}, date(2024, 1, 1))),
    ],
    ids=str,
)  # fmt: skip
def test_plain_data_becomes_what_the_schema_says(schema, answer, expected):
    converted = convert(schema, answer)
    assert (type(converted), converted) == (type(expected), expected)
    assert convert(schema, plain(expected)) == expected


@pytest.mark.parametrize(
    ("schema", "answer"), [(int, True), (int, "5"), (str, 5), (bool, 1), (bool, "yes"), (list, {})]
)
def test_nothing_is_guessed(schema, answer):
    assert len(check(schema, answer)) == 1


def test_a_long_value_is_shortened():
    (problem,) = check(int, "x" * 10_000)
    assert len(problem) < 200


def test_what_a_constructor_raises_is_a_problem():
    assert check(Positive, {"n": -1}) == ["the answer is {'n': -1}: n must be positive"]


def test_problems_are_raised_together():
    with pytest.raises(Problems) as raised:
        convert(Verdict, {"ok": 1, "amount": "x"})
    assert len(raised.value.problems) == 2
    assert str(raised.value) == "; ".join(raised.value.problems)


# ------------------------------------------------------------------------------------- plain data
@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (Order([Verdict(True, 1)], day=date(2024, 1, 1)),
         {"items": [{"ok": True, "amount": 1, "note": ""}], "by_name": {}, "day": "2024-01-01"}),
        ({1: (2, (3,))}, {"1": [2, [3]]}),
        (Colour.RED, "r"),
        (Camel("a"), {"firstName": "a", "lastName": ""}),
        ([Cat(9, "Tom")], [{"type": "cat", "lives": 9, "name": "Tom"}]),
        ([datetime(2024, 1, 1, 12, tzinfo=UTC), Decimal("1.1")], ["2024-01-01T12:00:00Z", "1.1"]),
    ],
    ids=str,
)  # fmt: skip
def test_an_answer_is_recorded_as_json_would_say_it(answer, expected):
    assert plain(answer) == expected


@pytest.mark.parametrize("answer", [object(), {"f": print}, {(1, 2): 3}, [ValueError("x")]])
def test_what_has_no_plain_form_is_given_back_as_it_is(answer):
    assert plain(answer) is answer


# ----------------------------------------------------------------------- what is no schema at all
@pytest.mark.parametrize("schema", [5, "Verdict", object(), print, True, ["a"], type("X", (), {})])
def test_what_is_no_schema_is_refused_and_shown(schema):
    shown = getattr(schema, "__qualname__", None) or repr(schema)
    with pytest.raises(AuthoringError) as refused:
        json_schema_of(schema)
    assert f"schema={shown}) does not say what an answer looks like" in str(refused.value)


# --------------------------------------------------------------------------------------- pydantic
def test_a_field_of_pydantic_s_makes_the_whole_schema_pydantic_s():
    model = a_model(n=(int, ...))
    holder = dataclass(type("Holder", (), {"__annotations__": {"inner": model, "more": list[int]}}))
    assert convert(holder, {"inner": {"n": "5"}, "more": []}).inner == model(n=5)
    assert len(check(holder, {"inner": {"n": "x"}, "more": ["y"]})) == 2


def test_the_bounds_of_pydantic_s_fields_are_checked_and_shown():
    pydantic = pytest.importorskip("pydantic")
    small = Annotated[int, pydantic.Field(ge=0, le=9)]
    assert json_schema_of(small) == {"maximum": 9, "minimum": 0, "type": "integer"}
    assert check(small, 10)[0].startswith("the answer is 10: ")
    holder = dataclass(type("Holder", (), {"__annotations__": {"small": small}}))
    assert check(holder, {"small": 10})[0].startswith("small is 10: ")


def test_nested_models_say_where_each_problem_is():
    line = a_model(price=(int, ...), name=(str | None, None))
    order = a_model(lines=(list[line], ...), extra=(dict[str, int], {}))
    problems = check(order, {"lines": [{"price": "x"}, {"name": 5}], "extra": {"a": "b"}})
    assert [problem.partition(" is ")[0] for problem in problems] == [
        "lines[0].price", "lines[1].price", "lines[1].name", "extra.a",
    ]  # fmt: skip


def test_the_branches_of_a_union_speak_about_one_field():
    (problem,) = check(a_model(value=(int | bool, ...)), {"value": "x"})
    assert problem.startswith("value is 'x': ")
    assert " or " in problem


def test_a_strict_model_takes_a_date_as_its_text_and_names_only_what_is_wrong():
    pydantic = pytest.importorskip("pydantic")
    strict = pydantic.create_model(
        "Strict", __config__=pydantic.ConfigDict(strict=True), day=(date, ...), n=(int, ...)
    )
    assert convert(strict, {"day": "2024-01-01", "n": 1}).day == date(2024, 1, 1)
    (problem,) = check(strict, {"day": "2024-01-01", "n": "1"})
    assert problem.startswith("n is '1': ")


def test_aliases_are_the_names_that_people_answer_with():
    pydantic = pytest.importorskip("pydantic")
    aliased = pydantic.create_model("Aliased", ok=(bool, pydantic.Field(alias="isOk")))
    given = convert(aliased, {"isOk": True})
    assert plain(given) == {"isOk": True}
    assert check(aliased, {}) == ["isOk is missing"]


def test_a_validator_that_fails_oddly_is_a_problem():
    pydantic = pytest.importorskip("pydantic")

    def explode(value: Any) -> Any:
        raise ZeroDivisionError("oops")

    odd = Annotated[int, pydantic.AfterValidator(explode)]
    assert check(odd, 5) == ["the answer is 5: ZeroDivisionError: oops"]


def test_a_secret_is_not_recorded_as_stars():
    pydantic = pytest.importorskip("pydantic")
    login = a_model(password=(pydantic.SecretStr, ...))
    given = login(password="hush")
    assert plain(given) is given


def test_a_type_adapter_is_a_schema():
    pydantic = pytest.importorskip("pydantic")
    assert convert(pydantic.TypeAdapter(list[int]), ["5"]) == [5]


def test_a_model_that_cannot_be_shown_is_refused():
    pydantic = pytest.importorskip("pydantic")
    strange = pydantic.create_model(
        "Strange", __config__=pydantic.ConfigDict(arbitrary_types_allowed=True), x=(object, ...),
        f=(type(print), ...),
    )  # fmt: skip
    with pytest.raises(AuthoringError, match="Strange"):
        json_schema_of(strange)


# ------------------------------------------------------------------------------------ JSON Schema
@pytest.fixture
def needs_jsonschema() -> None:
    pytest.importorskip("jsonschema")


@pytest.mark.usefixtures("needs_jsonschema")
class TestJsonSchema:
    def test_it_is_shown_as_it_was_given(self):
        assert json_schema_of(BY_HAND) == BY_HAND

    def test_a_change_to_what_was_given_changes_no_question(self):
        given = {"type": "object", "required": ["a"]}
        shown = json_schema_of(given)
        given["required"].append("b")
        assert shown["required"] == ["a"]
        assert check(given, {}) == ["a is missing", "b is missing"]

    @pytest.mark.parametrize(
        ("schema", "answer", "problems"),
        [
            ({"items": {"type": "integer"}}, [1, "x", "y"], ["[1] is 'x'", "[2] is 'y'"]),
            ({"properties": {"a b": {"minimum": 3}}}, {"a b": 1}, ["['a b'] is 1"]),
            ({"additionalProperties": False}, {"x": 1}, ["the answer is {'x': 1}"]),
            ({"enum": ["a", "b"]}, "c", ["the answer is 'c'"]),
            ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "x", ["the answer is 'x'"]),
            ({"anyOf": [{"properties": {"a": {"type": "integer"}}}, {"type": "null"}]}, {"a": "x"},
             ["a is 'x'"]),
            ({"type": "string", "pattern": "^a"}, "b", ["the answer is 'b'"]),
            ({"$ref": "#/$defs/n", "$defs": {"n": {"type": "integer"}}}, "x",
             ["the answer is 'x'"]),
        ],
        ids=str,
    )  # fmt: skip
    def test_each_problem_says_where_it_is(self, schema, answer, problems):
        said = check(schema, answer)
        assert len(said) == len(problems)
        assert all(one.startswith(f"{other}: ") for one, other in zip(said, problems, strict=True))

    @pytest.mark.parametrize(
        ("name", "right", "wrong"),
        [
            ("date", "2024-02-29", "2024-02-30"), ("date-time", "2024-01-01T12:00:00Z", "noon"),
            ("uuid", str(UUID(int=1)), "one"), ("decimal", "1.10", "a lot"), ("time", "12:30", "x"),
        ],
    )  # fmt: skip
    def test_formats_of_python_s_types_are_checked(self, name, right, wrong):
        schema = {"type": "string", "format": name}
        assert check(schema, right) == []
        assert check(schema, wrong)[0].startswith(f"the answer is {wrong!r}: ")

    @pytest.mark.parametrize(
        "schema",
        [
            {"type": "nothing"}, {"required": "a"}, {"properties": {"a": {"minimum": "x"}}},
            {"pattern": "("}, {"properties": {"a": {"pattern": "["}}}, {"enum": [print]},
            {"default": {(1, 2): 3}}, {"title": "\ud800"},
        ],
        ids=str,
    )  # fmt: skip
    def test_an_invalid_one_is_refused_when_it_is_asked_with(self, schema):
        with pytest.raises(AuthoringError, match="no valid JSON Schema"):
            json_schema_of(schema)

    @pytest.mark.parametrize(
        "reference", ["#/$defs/nowhere", "https://example.com/s.json", "file:///etc/passwd"]
    )
    def test_one_that_leads_out_of_itself_is_refused_when_it_is_asked_with(self, reference):
        with pytest.raises(AuthoringError, match="not within it") as refused:
            json_schema_of({"properties": {"a": {"items": {"$ref": reference}}}})
        assert reference in str(refused.value)

    def test_data_that_looks_like_a_reference_is_data(self):
        schema = {"const": {"$ref": "#/nowhere"}}
        assert check(schema, {"$ref": "#/nowhere"}) == []

    def test_a_property_may_be_called_like_a_keyword(self):
        schema = {"properties": {"pattern": {"type": "string"}, "$ref": {"type": "string"}}}
        assert check(schema, {"pattern": "(", "$ref": "#/x"}) == []

    def test_one_with_an_identifier_may_refer_to_its_own_parts(self):
        schema = {
            "$id": "https://example.com/order",
            "$ref": "number",
            "$defs": {"n": {"$id": "number", "type": "integer"}},
        }
        assert check(schema, 5) == []
        assert len(check(schema, "x")) == 1

    def test_an_answer_that_is_no_json_is_a_problem(self):
        schema = {"patternProperties": {"^a": {"type": "integer"}}}
        (problem,) = check(schema, {(1, 2): 3})
        assert "it is no JSON" in problem

    def test_keys_that_are_numbers_count_as_their_text(self):
        assert check({"patternProperties": {"^1": {"type": "string"}}}, {1: 2}) != []


# -------------------------------------------------------------------------- what has to be there
def test_neither_library_is_imported_before_it_is_needed():
    program = (
        "import sys, dataclasses\n"
        "from caesura.engine.answers_schema import check\n"
        "@dataclasses.dataclass\n"
        "class V:\n"
        "    ok: bool\n"
        "print(check(V, {'ok': 1}), [m for m in ('pydantic', 'jsonschema') if m in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.strip() == "['ok is 1: Expected `bool`, got `int`'] []", done.stderr


def test_a_missing_extra_is_named_with_the_command_that_installs_it():
    program = (
        "import sys\n"
        "sys.modules['jsonschema'] = None\n"
        "from caesura.engine.answers_schema import json_schema_of\n"
        "from caesura.errors import MissingExtra\n"
        "try:\n"
        "    json_schema_of({'type': 'object'})\n"
        "except MissingExtra as missing:\n"
        "    print(missing)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "pip install 'caesura[schema]'" in done.stdout, done.stderr


def test_without_pydantic_a_type_that_only_it_could_read_is_refused():
    program = (
        "import sys\n"
        "sys.modules['pydantic'] = None\n"
        "from caesura.engine.answers_schema import json_schema_of\n"
        "from caesura.errors import AuthoringError\n"
        "try:\n"
        "    json_schema_of(complex)\n"
        "except AuthoringError as refused:\n"
        "    print(refused)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "schema=complex) does not say what an answer looks like" in done.stdout, done.stderr
