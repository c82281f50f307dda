"""What a call gives back, for every kind of input and every condition of a thread."""

from __future__ import annotations

import operator
from dataclasses import dataclass, field
from typing import Annotated, Any, TypedDict

import pytest

from caesura import START, StateGraph, interrupt
from caesura.errors import AuthoringError, EmptyInputError, NeedsCheckpointer
from tests.behaviour.both import App, Story


def add_one(state: Story) -> dict[str, Any]:
    return {"amount": state["amount"] + 1, "notes": ["one"]}


def add_ten(state: Story) -> dict[str, Any]:
    return {"amount": state["amount"] + 10, "notes": ["ten"]}


def test_a_call_returns_the_final_state_as_a_dict(app: App) -> None:
    result = app.run(app.chain(add_one, add_ten), {"amount": 1})
    assert result == {"amount": 12, "notes": ["one", "ten"]}
    assert isinstance(result, dict)


def test_a_finished_call_has_no_questions(app: App) -> None:
    result = app.run(app.chain(add_one), {"amount": 1})
    assert result.interrupts == ()
    assert "__interrupt__" not in result


def test_a_key_without_reducer_is_absent_until_it_is_written(app: App) -> None:
    def look(state: Story) -> dict[str, Any]:
        return {"notes": sorted(state)}

    assert app.run(app.chain(look), {"notes": []}) == {"notes": ["notes"]}


def test_the_short_form_of_a_thread_and_its_config_are_the_same_thread(app: App) -> None:
    graph = app.chain(add_one)
    app.run(graph, {"amount": 1}, thread="order-7")
    config = {"configurable": {"thread_id": "order-7"}}
    assert app.run(graph, {"amount": 5}, config=config)["notes"] == ["one", "one"]
    assert app.call(graph, "get_state", config) == app.state(graph, thread="order-7")


def test_a_thread_id_becomes_text(app: App) -> None:
    graph = app.chain(add_one)
    app.run(graph, {"amount": 1}, config={"configurable": {"thread_id": 7}})
    state = app.state(graph, thread="7")
    assert state.values["amount"] == 2
    assert state.config["configurable"]["thread_id"] == "7"


def test_a_second_input_goes_through_the_whole_graph_on_the_kept_state(app: App) -> None:
    graph = app.chain(add_one, add_ten)
    app.run(graph, {"amount": 1})
    result = app.run(graph, {"amount": 100})
    assert result == {"amount": 111, "notes": ["one", "ten", "one", "ten"]}


def test_threads_know_nothing_of_each_other(app: App) -> None:
    graph = app.chain(add_one)
    app.run(graph, {"amount": 1}, thread="a")
    assert app.run(graph, {"amount": 50}, thread="b") == {"amount": 51, "notes": ["one"]}


def test_none_on_a_thread_that_was_never_started_is_refused(app: App) -> None:
    with pytest.raises(EmptyInputError):
        app.go_on(app.chain(add_one))


def test_none_on_a_finished_thread_gives_its_final_values_and_writes_nothing(app: App) -> None:
    graph = app.chain(add_one)
    app.run(graph, {"amount": 1})
    before = app.history(graph)
    assert app.go_on(graph) == {"amount": 2, "notes": ["one"]}
    assert app.history(graph) == before


def test_none_on_a_failed_thread_runs_the_failed_task_and_not_its_finished_sibling(
    app: App,
) -> None:
    attempts: list[str] = []

    def good(state: Story) -> dict[str, Any]:
        attempts.append("good")
        return {"notes": ["good"]}

    def shaky(state: Story) -> dict[str, Any]:
        attempts.append("shaky")
        if attempts.count("shaky") == 1:
            raise ValueError("not today")
        return {"notes": ["shaky"]}

    graph = app.side_by_side(good, shaky)
    with pytest.raises(ValueError, match="not today"):
        app.run(graph, {"amount": 1})
    assert app.go_on(graph)["notes"] == ["good", "shaky"]
    assert sorted(attempts) == ["good", "shaky", "shaky"]


def test_none_on_a_waiting_thread_runs_nothing_and_shows_the_question(app: App) -> None:
    passes: list[int] = []

    def ask(state: Story) -> dict[str, Any]:
        passes.append(1)
        return {"notes": [interrupt("sure?")]}

    graph = app.chain(ask)
    first = app.run(graph, {"amount": 1})
    again = app.go_on(graph)
    assert len(passes) == 1
    assert again.interrupts == first.interrupts
    assert again["amount"] == 1


def test_a_call_raises_the_very_exception_of_the_node(app: App) -> None:
    trouble = ValueError("out of stock")

    def fail(state: Story) -> None:
        raise trouble

    with pytest.raises(ValueError, match="out of stock") as caught:
        app.run(app.chain(fail), {"amount": 1})
    assert caught.value is trouble


def test_a_failed_thread_shows_its_error_and_what_is_left_to_do(app: App) -> None:
    def fail(state: Story) -> None:
        raise ValueError("out of stock")

    graph = app.chain(add_one, fail)
    with pytest.raises(ValueError, match="out of stock"):
        app.run(graph, {"amount": 1})
    state = app.state(graph)
    assert state.next == ("fail",)
    assert state.values == {"amount": 2, "notes": ["one"]}
    assert "out of stock" in str(state.tasks[0].error)


def test_one_output_key_gives_its_bare_value_and_a_list_a_selection(app: App) -> None:
    graph = app.chain(add_one)
    assert app.run(graph, {"amount": 1}, thread="a", output_keys="amount") == 2
    assert app.run(graph, {"amount": 1}, thread="b", output_keys=["amount"]) == {"amount": 2}


def test_another_stream_mode_makes_a_call_return_its_chunks(app: App) -> None:
    chunks = app.run(app.chain(add_one), {"amount": 1}, stream_mode="updates")
    assert chunks == [{"add_one": {"amount": 2, "notes": ["one"]}}]


def test_keys_of_an_input_that_the_state_lacks_are_ignored(app: App) -> None:
    assert app.run(app.chain(add_one), {"amount": 1, "colour": "red"}) == {
        "amount": 2,
        "notes": ["one"],
    }


def test_what_a_caller_does_to_a_result_does_not_change_the_thread(app: App) -> None:
    graph = app.chain(add_one)
    result = app.run(graph, {"amount": 1})
    result["notes"].append("scribbled by the caller")
    result["amount"] = -1
    assert app.state(graph).values == {"amount": 2, "notes": ["one"]}


def test_what_a_caller_does_to_an_input_afterwards_does_not_change_the_thread(app: App) -> None:
    notes = ["from outside"]
    graph = app.chain(add_one)
    app.run(graph, {"amount": 1, "notes": notes})
    notes.append("scribbled by the caller")
    assert app.state(graph).values["notes"] == ["from outside", "one"]


def test_a_graph_without_a_checkpointer_runs_and_remembers_nothing(app: App) -> None:
    graph = app.chain(add_one, checkpointer=None)
    assert app.call(graph, "invoke", {"amount": 1}) == {"amount": 2, "notes": ["one"]}
    with pytest.raises(NeedsCheckpointer):
        app.state(graph)


def test_a_graph_with_a_checkpointer_needs_the_name_of_a_thread(app: App) -> None:
    with pytest.raises(AuthoringError, match="thread"):
        app.call(app.chain(add_one), "invoke", {"amount": 1})


class Ticket(TypedDict):
    title: str
    log: Annotated[list[str], operator.add]


class Asked(TypedDict):
    title: str


class Shown(TypedDict):
    log: list[str]


def test_input_and_output_schemas_filter_what_goes_in_and_out(app: App) -> None:
    def work(state: Ticket) -> dict[str, Any]:
        return {"log": [state["title"]], "title": "done"}

    builder = StateGraph(Ticket, input_schema=Asked, output_schema=Shown)
    graph = app.compile(builder.add_node(work).add_edge(START, "work"))
    result = app.run(graph, {"title": "leak", "log": ["not an input"]})
    assert result == {"log": ["leak"]}
    assert app.state(graph).values["title"] == "done"


@dataclass
class Basket:
    amount: int = 0
    notes: Annotated[list[str], operator.add] = field(default_factory=list)


def test_a_dataclass_state_is_given_to_nodes_and_a_plain_mapping_to_callers(app: App) -> None:
    seen: list[type] = []

    def work(state: Basket) -> dict[str, Any]:
        seen.append(type(state))
        return {"amount": state.amount + 1, "notes": ["worked"]}

    result = app.run(app.chain(work, state=Basket), Basket(amount=4))
    assert seen == [Basket]
    assert result == {"amount": 5, "notes": ["worked"]}


def test_a_pydantic_state_is_validated_and_its_own_error_comes_through(app: App) -> None:
    pydantic = pytest.importorskip("pydantic")

    class Checked(pydantic.BaseModel):
        amount: int

    def work(state: Checked) -> dict[str, Any]:
        return {"amount": state.amount + 1}

    work.__annotations__["state"] = Checked
    graph = app.chain(work, state=Checked)
    assert app.run(graph, {"amount": 1}) == {"amount": 2}
    with pytest.raises(pydantic.ValidationError):
        app.run(graph, {"amount": "many"}, thread="other")


def test_a_batch_gives_results_in_the_order_of_its_inputs(app: App) -> None:
    graph = app.chain(add_one)
    configs = [{"configurable": {"thread_id": name}} for name in ("a", "b", "c")]
    results = app.call(graph, "batch", [{"amount": n} for n in (10, 20, 30)], configs)
    assert [result["amount"] for result in results] == [11, 21, 31]
    assert app.state(graph, thread="b").values["amount"] == 21


def test_a_failing_member_of_a_batch_raises_and_the_others_are_kept(app: App) -> None:
    def work(state: Story) -> dict[str, Any]:
        if state["amount"] == 20:
            raise ValueError("twenty")
        return {"notes": ["done"]}

    graph = app.chain(work)
    configs = [{"configurable": {"thread_id": name}} for name in ("a", "b")]
    with pytest.raises(ValueError, match="twenty"):
        app.call(graph, "batch", [{"amount": 10}, {"amount": 20}], configs)
    assert app.state(graph, thread="a").values["notes"] == ["done"]
    assert app.state(graph, thread="b").next == ("work",)


def test_a_graph_with_a_config_of_its_own_uses_it_on_every_call(app: App) -> None:
    graph = app.chain(add_one).with_config({"configurable": {"thread_id": "mine"}})
    app.call(graph, "invoke", {"amount": 1})
    assert app.state(graph, thread="mine").values["amount"] == 2
