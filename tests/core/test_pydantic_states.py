"""States written as pydantic models, where pydantic is installed."""

from __future__ import annotations

import operator
from typing import Annotated, Any

import pytest

from caesura.core.forms import field_types, fields_present, fields_written, form_of
from caesura.core.schemas import Schemas
from caesura.core.state import check_input, read_update

pydantic = pytest.importorskip("pydantic")


class Model(pydantic.BaseModel):  # type: ignore[misc, name-defined]
    n: int = 0
    notes: list[str] = pydantic.Field(default_factory=list)


def test_a_model_is_a_form_of_its_own() -> None:
    assert form_of(Model) == "pydantic"
    assert field_types(Model) == {"n": int, "notes": list[str]}


def test_a_reducer_in_a_model_is_seen() -> None:
    class Log(pydantic.BaseModel):  # type: ignore[misc, name-defined]
        log: Annotated[list[str], operator.add] = pydantic.Field(default_factory=list)

    assert Schemas(Log).freeze().channels["log"].kind == "reduce"


def test_a_model_writes_the_fields_that_were_set_or_changed() -> None:
    changed = Model()
    changed.notes.append("a")
    assert fields_written(Model()) == {}
    assert fields_written(Model(n=0)) == {"n": 0}
    assert fields_written(changed) == {"notes": ["a"]}


def test_a_model_as_an_input_gives_all_that_it_holds() -> None:
    assert fields_present(Model(n=1)) == {"n": 1, "notes": []}


def test_a_model_is_validated_for_every_node() -> None:
    schema = Schemas(Model).freeze().schema
    assert schema.build({"n": 1}) == Model(n=1)
    with pytest.raises(pydantic.ValidationError):
        schema.build({"n": "many"})


def test_a_returned_model_writes_what_was_set() -> None:
    assert read_update(Schemas(Model).freeze(), Model(n=3), "a") == {"n": 3}


def test_an_input_that_does_not_fit_is_refused_by_pydantic_itself() -> None:
    with pytest.raises(pydantic.ValidationError):
        check_input(Schemas(Model).freeze().schema, {"n": "many"})


def test_what_an_input_merely_lacks_may_still_be_written() -> None:
    class Order(pydantic.BaseModel):  # type: ignore[misc, name-defined]
        amount: int
        receipt: str

    check_input(Schemas(Order).freeze().schema, {"amount": 1})


def test_a_field_with_an_alias_is_kept_under_its_own_name() -> None:
    class Order(pydantic.BaseModel):  # type: ignore[misc, name-defined]
        amount: int = pydantic.Field(alias="theAmount")

    built: Any = Schemas(Order).freeze().schema.build({"amount": 5})
    assert built.amount == 5
