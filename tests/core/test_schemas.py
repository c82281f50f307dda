"""From the types that people write to channels and views."""

from __future__ import annotations

import collections.abc
import operator
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, Any, NamedTuple, NotRequired, Required, TypedDict

import msgspec
import pytest

from caesura.core.fingerprints import differs, fingerprint
from caesura.core.forms import field_types, fields_written, form_of
from caesura.core.reducers import empty_of, is_pure, reducer_in
from caesura.core.schemas import IsLastStep, Schemas, channel_of
from caesura.errors import InvalidGraph


@dataclass
class Data:
    n: int = 0
    notes: list[str] = field(default_factory=list)


class Typed(TypedDict):
    n: int


class Struct(msgspec.Struct):
    n: int


class Pair(NamedTuple):
    n: int


class Marker:
    """A class that somebody else reads in annotations."""

    def __init__(self, one: int) -> None: ...


# ------------------------------------------------------------------------------------------- forms
@pytest.mark.parametrize(
    ("schema", "form"),
    [(Typed, "dict"), (Data, "dataclass"), (Struct, "dataclass"),
     (list[str], "bare"), (int, "bare"), (Any, "bare"), (dict, "bare")],
    ids=repr,
)  # fmt: skip
def test_a_schema_has_a_form(schema: Any, form: str) -> None:
    assert form_of(schema) == form


@pytest.mark.parametrize("schema", [Typed, Data, Struct, Pair], ids=repr)
def test_every_form_tells_its_fields(schema: Any) -> None:
    assert field_types(schema)["n"] is int


def test_a_dataclass_cannot_tell_and_writes_all() -> None:
    assert fields_written(Data()) == {"n": 0, "notes": []}


# ---------------------------------------------------------------------------------------- channels
def test_the_last_piece_of_metadata_is_the_reducer() -> None:
    channel = channel_of("log", Annotated[list[str], "for people", operator.add])
    assert (channel.kind, channel.type) == ("reduce", list[str])
    assert channel.empty is not None
    assert channel.empty() == []


@pytest.mark.parametrize("annotation", [int, Annotated[int, "text"], Annotated[int, Marker]])
def test_other_metadata_is_no_reducer(annotation: Any) -> None:
    assert channel_of("n", annotation).kind == "last"


@pytest.mark.parametrize("wrapper", [Required, NotRequired])
def test_required_and_not_required_do_not_hide_a_reducer(wrapper: Any) -> None:
    assert channel_of("log", wrapper[Annotated[list, operator.add]]).kind == "reduce"
    assert channel_of("log", Annotated[wrapper[list], operator.add]).kind == "reduce"


def test_a_reducer_takes_two_values() -> None:
    def three(a: int, b: int, c: int) -> int:
        return a

    with pytest.raises(InvalidGraph, match=r"reducer of key 'n'.*three.*two values"):
        reducer_in("n", (three,))


@pytest.mark.parametrize("reducer", [max, operator.add, lambda a, b: a, partial(sorted, key=None)])
def test_anything_that_takes_two_values_is_a_reducer(reducer: Any) -> None:
    if isinstance(reducer, partial):
        reducer = partial(lambda a, b, c: a, c=1)
    assert reducer_in("n", (reducer,)) is reducer


@pytest.mark.parametrize(
    ("annotation", "empty"),
    [(list[str], []), (Sequence[str], []), (dict, {}), (collections.abc.Set, set()), (int, 0),
     (str, ""), (Data, Data())],
    ids=repr,
)  # fmt: skip
def test_a_reducer_starts_from_the_types_empty_value(annotation: Any, empty: Any) -> None:
    make = empty_of(annotation)
    assert make is not None
    assert make() == empty


@pytest.mark.parametrize("annotation", [Any, list | None, Marker, object], ids=repr)
def test_a_type_without_an_empty_value_has_none(annotation: Any) -> None:
    assert empty_of(annotation) is None


def test_only_known_reducers_are_trusted_with_what_others_hold() -> None:
    assert is_pure(operator.add)
    assert not is_pure(lambda a, b: a)


# ---------------------------------------------------------------------------------------- together
def test_the_schemas_of_a_graph_share_their_channels() -> None:
    class More(TypedDict):
        n: int
        extra: str

    schemas = Schemas(Typed)
    schemas.add(More)
    assert schemas.freeze().channels.keys() == {"n", "extra"}
    assert schemas.freeze().schema.build({"n": 1, "extra": "x"}) == {"n": 1}


def test_a_key_has_one_reducer_and_both_places_are_named() -> None:
    class Adds(TypedDict):
        n: Annotated[int, operator.add]

    class Multiplies(TypedDict):
        n: Annotated[int, operator.mul]

    schemas = Schemas(Adds)
    schemas.add(Typed)
    with pytest.raises(InvalidGraph, match=r"'n'.*operator.add in .*Adds and .*operator.mul in"):
        schemas.add(Multiplies)


def test_values_with_keys_and_values_without_do_not_mix() -> None:
    with pytest.raises(InvalidGraph, match="do not fit"):
        Schemas(Typed).add(list[str])


def test_nobody_can_give_or_receive_a_managed_value() -> None:
    class Managed(TypedDict):
        last: IsLastStep

    with pytest.raises(InvalidGraph, match="last is a managed value"):
        Schemas(Typed).add(Managed, may_be_managed=False)


def test_an_annotation_that_cannot_be_resolved_is_named_with_its_schema() -> None:
    class Broken(TypedDict):
        n: "Missing"  # type: ignore[name-defined]  # noqa: F821, UP037

    with pytest.raises(InvalidGraph, match=r"Broken cannot be resolved.*Missing"):
        Schemas(Broken)


# ------------------------------------------------------------------------------------- fingerprints
def add(a: int, b: int) -> int:
    return a + b


def test_a_named_function_is_its_path() -> None:
    assert fingerprint(add) == f"{__name__}.add"
    assert fingerprint(operator.add) == "operator.add"


def test_a_lambda_is_what_it_does() -> None:
    def make(n: int) -> Any:
        return lambda a, b: a + b + n

    assert fingerprint(make(1)) == fingerprint(make(1))
    assert fingerprint(make(1)) != fingerprint(make(2))
    assert fingerprint(partial(add, 1)) != fingerprint(partial(add, 2))


def test_hashes_of_another_python_are_not_compared() -> None:
    assert not differs("m.<lambda>#py3.11:aa", "m.<lambda>#py3.12:bb")
    assert differs("m.<lambda>#py3.11:aa", "m.<lambda>#py3.11:bb")
    assert differs("m.add", "m.mul")
