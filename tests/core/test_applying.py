"""How writes change a state, and what is read from what people give."""

from __future__ import annotations

import operator
import warnings
from dataclasses import dataclass, field
from typing import Annotated, Any, TypedDict

import pytest
from hypothesis import given, strategies as st

from caesura.core.control import Overwrite
from caesura.core.messages import add_messages
from caesura.core.plan import StateSpec
from caesura.core.schemas import IsLastStep, RemainingSteps, Schemas, UntrackedValue
from caesura.core.state import (
    apply_writes,
    known_values,
    output_for,
    read_input,
    read_update,
    read_updates,
    start_values,
    view_for,
)
from caesura.errors import DroppedKeyWarning, InvalidUpdateError
from tests.core.graphs import ids


class State(TypedDict):
    n: int
    log: Annotated[list[str], operator.add]


def join_in_place(left: list[str], right: list[str]) -> list[str]:
    left.extend(right)
    return left


class Careless(TypedDict):
    log: Annotated[list[str], join_in_place]


def spec(schema: Any, *, strict: bool = False) -> StateSpec:
    return Schemas(schema).freeze(strict=strict)


def after(schema: Any, *supersteps: list[dict[str, Any]]) -> dict[str, Any]:
    state = spec(schema)
    values = start_values(state)
    for writes in supersteps:
        apply_writes(state, values, writes)
    return values


# ----------------------------------------------------------------------------------------- applying
def test_a_key_with_a_reducer_starts_empty_and_a_plain_one_is_absent() -> None:
    assert start_values(spec(State)) == {"log": []}


def test_writes_are_joined_in_order() -> None:
    assert after(State, [{"log": ["a"]}], [{"log": ["b"]}, {"log": ["c"]}]) == {
        "log": ["a", "b", "c"]
    }


def test_a_plain_key_takes_the_latest_value() -> None:
    assert after(State, [{"n": 1}], [{"n": 2}])["n"] == 2


def test_a_plain_key_written_twice_in_one_superstep_is_refused_and_nothing_changes() -> None:
    state, values = spec(State), {"n": 0, "log": ["a"]}
    with pytest.raises(
        InvalidUpdateError, match=r"'n' can receive only one value.*1 and 2.*reducer"
    ):
        apply_writes(state, values, [{"log": ["b"], "n": 1}, {"n": 2}])
    assert values == {"n": 0, "log": ["a"]}


def test_a_reducer_that_fails_changes_nothing_and_is_named() -> None:
    state, values = spec(State), {"n": 0, "log": ["a"]}
    with pytest.raises(TypeError) as failed:
        apply_writes(state, values, [{"n": 1, "log": 5}])
    assert values == {"n": 0, "log": ["a"]}
    assert "operator.add of key 'log'" in failed.value.__notes__[0]


def test_an_overwrite_passes_the_reducer_and_wins_over_its_superstep() -> None:
    assert after(State, [{"log": ["a"]}], [{"log": Overwrite(["new"])}])["log"] == ["new"]
    writes = [{"log": ["x"]}, {"log": Overwrite(["new"])}, {"log": ["y"]}]
    assert after(State, writes)["log"] == ["new"]


def test_two_overwrites_of_one_key_in_a_superstep_are_refused() -> None:
    with pytest.raises(InvalidUpdateError, match="only one Overwrite"):
        after(State, [{"log": Overwrite(["a"])}, {"log": Overwrite(["b"])}])


def test_a_careless_reducer_does_not_change_what_others_hold() -> None:
    state = spec(Careless)
    held = ["a"]
    values = {"log": held}
    apply_writes(state, values, [{"log": ["b"]}, {"log": ["c"]}])
    assert (held, values["log"]) == (["a"], ["a", "b", "c"])


def test_lists_that_were_written_are_not_grown_in_place() -> None:
    first, second, third = ["a"], ["b"], ["c"]
    after(State, [{"log": first}], [{"log": second}, {"log": third}])
    assert (first, second, third) == (["a"], ["b"], ["c"])


def test_an_untracked_key_may_let_the_last_write_win() -> None:
    class Cache(TypedDict):
        any: Annotated[int, UntrackedValue(guard=False)]
        one: Annotated[int, UntrackedValue]

    assert after(Cache, [{"any": 1}, {"any": 2}]) == {"any": 2}
    with pytest.raises(InvalidUpdateError, match="guard=False"):
        after(Cache, [{"one": 1}, {"one": 2}])


def test_recorded_values_lose_the_keys_that_the_state_lost_and_gain_its_new_ones() -> None:
    assert known_values(spec(State), {"n": 1, "old": 2}) == {"n": 1, "log": []}


WRITE = st.fixed_dictionaries({}, optional={"log": st.lists(st.text(max_size=2), max_size=3)})


@given(st.lists(st.lists(WRITE, max_size=4), max_size=4))
def test_a_superstep_of_several_is_as_good_as_several_supersteps(
    supersteps: list[list[dict[str, Any]]],
) -> None:
    alone = [[write] for writes in supersteps for write in writes]
    assert after(State, *supersteps) == after(State, *alone)


@given(st.lists(st.lists(WRITE, max_size=4), max_size=4))
def test_applying_never_changes_what_was_given(supersteps: list[list[dict[str, Any]]]) -> None:
    before = repr(supersteps)
    after(Careless, *supersteps)
    after(State, *supersteps)
    assert repr(supersteps) == before


# ------------------------------------------------------------------------------------------ reading
@dataclass
class Settings:
    n: int = 0
    log: Annotated[list[str], operator.add] = field(default_factory=list)


def test_none_writes_nothing() -> None:
    assert read_update(spec(State), None, "a") is None


@pytest.mark.parametrize("given", [{"n": 1}, [("n", 1)], (("n", 1),)])
def test_a_mapping_or_pairs_are_an_update(given: Any) -> None:
    assert read_update(spec(State), given, "a") == {"n": 1}


def test_an_update_is_nobody_elses_mapping() -> None:
    given = {"n": 1}
    assert read_update(spec(State), given, "a") is not given


def test_a_returned_instance_writes_its_fields() -> None:
    assert read_update(spec(Settings), Settings(n=3), "a") == {"n": 3, "log": []}


@pytest.mark.parametrize("given", [5, "text", [1, 2], [("n", 1, 2)]])
def test_what_is_no_update_is_refused_with_its_node(given: Any) -> None:
    with pytest.raises(InvalidUpdateError, match=r"Expected dict, got .* from node 'a'"):
        read_update(spec(State), given, "node 'a'")


def test_an_unknown_key_is_dropped_with_one_warning_that_suggests() -> None:
    state = spec(State)
    with pytest.warns(DroppedKeyWarning, match="'a' wrote key 'lgo'.*Did you mean 'log'"):
        assert read_update(state, {"lgo": [], "n": 1}, "'a'") == {"n": 1}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_update(state, {"lgo": []}, "'a'")
        read_update(spec(State), {"lgo": []}, "'a'", quietly=True)


def test_a_strict_state_refuses_unknown_keys() -> None:
    with pytest.raises(InvalidUpdateError, match=r"'lgo', which the state does not have.*'log'"):
        read_update(spec(State, strict=True), {"lgo": []}, "'a'")


def test_pairs_may_write_a_key_several_times() -> None:
    pairs = [("log", ["a"]), ("log", ["b"])]
    assert read_updates(spec(State), pairs, "a") == [{"log": ["a"]}, {"log": ["b"]}]
    assert read_updates(spec(State), [], "a") == []


def test_an_input_keeps_the_keys_of_its_schema_and_ignores_the_others() -> None:
    class Given(TypedDict):
        n: int

    schemas = Schemas(State)
    given = {"n": 1, "log": ["x"], "other": 2}
    assert read_input(schemas.freeze(), schemas.schema(Given), given) == {"n": 1}


def test_message_ids_are_made_before_anything_is_written() -> None:
    class Chat(TypedDict):
        messages: Annotated[list[Any], add_messages]

    state = spec(Chat)
    update = read_update(state, {"messages": ["hi", "there"]}, "a", new_id=ids())
    assert update is not None
    values = start_values(state)
    apply_writes(state, values, [update])
    assert [_id(message) for message in values["messages"]] == ["id-1", "id-2"]


def _id(message: Any) -> Any:
    return message["id"] if isinstance(message, dict) else message.id


# ------------------------------------------------------------------------------------------ showing
def test_a_bare_state_is_given_and_taken_as_it_is() -> None:
    state = spec(Annotated[list[str], operator.add])
    values = start_values(state)
    update = read_update(state, ["a"], "a")
    assert update is not None
    apply_writes(state, values, [update])
    assert view_for(state.schema, values) == output_for(state.schema, values) == ["a"]


def test_managed_values_are_worked_out_and_never_written() -> None:
    class Counting(TypedDict):
        n: int
        last: IsLastStep
        left: RemainingSteps

    state = spec(Counting)
    assert state.channels.keys() == {"n"}
    assert view_for(state.schema, {"n": 1}, 3) == {"n": 1, "last": False, "left": 3}
    assert view_for(state.schema, {"n": 1}, 1) == {"n": 1, "last": True, "left": 1}
    assert output_for(state.schema, {"n": 1}) == {"n": 1}


def test_a_node_gets_a_mapping_of_its_own() -> None:
    state, values = spec(State), {"n": 1, "log": []}
    view_for(state.schema, values)["n"] = 5
    assert values["n"] == 1


def test_a_field_that_nothing_wrote_is_named_when_an_instance_cannot_be_built() -> None:
    @dataclass
    class Order:
        amount: int
        note: str

    with pytest.raises(InvalidUpdateError, match=r"'note' yet"):
        view_for(spec(Order).schema, {"amount": 1})
