"""An answer is checked against its question's schema before it is recorded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypedDict

import msgspec
import pytest

from caesura import interrupt
from caesura.errors import InvalidAnswer


@dataclass
class DataclassVerdict:
    ok: bool
    amount: int


class TypedDictVerdict(TypedDict):
    ok: bool
    amount: int


class StructVerdict(msgspec.Struct):
    ok: bool
    amount: int


JSON_SCHEMA = {
    "type": "object",
    "properties": {"ok": {"type": "boolean"}, "amount": {"type": "integer"}},
    "required": ["ok", "amount"],
}

SCHEMAS = ["dataclass", "TypedDict", "msgspec", "pydantic", "JSON schema"]


@pytest.fixture(params=SCHEMAS)
def schema(request):
    if request.param == "pydantic":
        return a_pydantic_verdict()
    if request.param == "JSON schema":
        pytest.importorskip("jsonschema")
    return {
        "dataclass": DataclassVerdict,
        "TypedDict": TypedDictVerdict,
        "msgspec": StructVerdict,
        "JSON schema": JSON_SCHEMA,
    }[request.param]


def a_pydantic_verdict():
    pydantic = pytest.importorskip("pydantic")
    return pydantic.create_model("PydanticVerdict", ok=(bool, ...), amount=(int, ...))


@pytest.fixture
def heard():
    return []


@pytest.fixture
def graph(app, schema, heard):
    def confirm(state):
        heard.append(interrupt("sure?", schema=schema))

    return app.chain(confirm)


def ok_and_amount(verdict):
    if isinstance(verdict, dict):
        return verdict["ok"], verdict["amount"]
    return verdict.ok, verdict.amount


def test_a_fitting_answer_arrives_in_the_schema_s_own_form(app, graph, schema, heard):
    app.run(graph, {})
    app.answer(graph, {"ok": True, "amount": 5})

    assert ok_and_amount(heard[0]) == (True, 5)
    assert isinstance(heard[0], dict if schema in (TypedDictVerdict, JSON_SCHEMA) else schema)


def test_an_answer_has_the_same_form_on_a_later_pass(app, schema, heard):
    def confirm(state):
        heard.append(interrupt("sure?", schema=schema))
        interrupt("really?")

    graph = app.chain(confirm)
    app.run(graph, {})
    app.answer(graph, {"ok": True, "amount": 5})
    app.answer(graph, "yes")

    assert type(heard[1]) is type(heard[0])
    assert ok_and_amount(heard[1]) == ok_and_amount(heard[0])


def test_a_recorded_answer_is_checked_too(app, graph):
    (question,) = app.run(graph, {}).interrupts
    with pytest.raises(InvalidAnswer):
        app.record_answer(graph, question.id, {"ok": "perhaps", "amount": 5})


def test_every_wrong_field_is_named(app, graph):
    app.run(graph, {})
    with pytest.raises(InvalidAnswer, match=r"(?s)ok.*amount|amount.*ok") as refused:
        app.answer(graph, {"ok": "perhaps", "amount": "a lot"})
    assert len(refused.value.problems) == 2


def test_a_missing_field_is_named(app, graph):
    app.run(graph, {})
    with pytest.raises(InvalidAnswer, match="amount"):
        app.answer(graph, {"ok": True})


def test_a_bad_answer_leaves_the_question_open(app, graph):
    asked = app.run(graph, {}).interrupts
    with pytest.raises(InvalidAnswer):
        app.answer(graph, {"ok": "perhaps", "amount": 5})
    assert app.state(graph).interrupts == asked


def test_a_bad_answer_does_not_run_the_node(app, graph, heard):
    app.run(graph, {})
    with pytest.raises(InvalidAnswer):
        app.answer(graph, "perhaps")
    assert heard == []


def test_a_good_answer_after_a_bad_one_is_taken(app, graph, heard):
    app.run(graph, {})
    with pytest.raises(InvalidAnswer):
        app.answer(graph, {"ok": "perhaps", "amount": 5})
    app.answer(graph, {"ok": False, "amount": 5})

    assert ok_and_amount(heard[0]) == (False, 5)


def test_a_bad_answer_among_good_ones_records_none(app, schema):
    def left(state):
        interrupt("left?", key="left", schema=schema)

    def right(state):
        interrupt("right?", key="right", schema=schema)

    graph = app.side_by_side(left, right)
    asked = app.run(graph, {}).interrupts
    with pytest.raises(InvalidAnswer):
        app.answer(graph, {"left": {"ok": True, "amount": 5}, "right": {"ok": True}})
    assert app.state(graph).interrupts == asked


def test_a_question_shows_what_fits(app, graph):
    (question,) = app.run(graph, {}).interrupts
    assert question.response_schema is not None


def test_the_schema_may_be_given_under_langgraph_s_name(app, schema):
    def confirm(state):
        interrupt("sure?", response_schema=schema)

    graph = app.chain(confirm)
    app.run(graph, {})
    with pytest.raises(InvalidAnswer):
        app.answer(graph, {"ok": "perhaps", "amount": 5})
