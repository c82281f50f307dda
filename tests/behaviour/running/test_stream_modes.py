"""What each stream mode yields, chunk by chunk."""

from __future__ import annotations

from typing import Any

import pytest

from caesura import START, Command, Send, StateGraph, get_stream_writer, interrupt
from tests.behaviour.both import App, Story


def first(state: Story) -> dict[str, Any]:
    return {"notes": ["first"]}


def second(state: Story) -> dict[str, Any]:
    return {"notes": ["second"], "amount": state["amount"] + 1}


def silent(state: Story) -> None:
    return None


def ask(state: Story) -> dict[str, Any]:
    return {"notes": [interrupt("sure?")]}


def the_question(chunks: list[Any]) -> Any:
    """The one question in a stream of updates, asserted to be there once."""
    (asked,) = [chunk["__interrupt__"] for chunk in chunks if "__interrupt__" in chunk]
    assert isinstance(asked, tuple)
    (question,) = asked
    return question


class TestUpdates:
    def test_yields_what_each_node_returned(self, app: App) -> None:
        chunks = app.stream(app.chain(first, second), {"amount": 1}, stream_mode="updates")
        assert chunks == [
            {"first": {"notes": ["first"]}},
            {"second": {"notes": ["second"], "amount": 2}},
        ]

    def test_is_the_mode_of_a_stream_that_names_none(self, app: App) -> None:
        assert app.stream(app.chain(first), {"amount": 1}) == [{"first": {"notes": ["first"]}}]

    def test_shows_a_node_that_returned_nothing(self, app: App) -> None:
        chunks = app.stream(app.chain(silent), {"amount": 1}, stream_mode="updates")
        assert chunks == [{"silent": None}]

    def test_shows_several_writes_of_one_node_as_a_list(self, app: App) -> None:
        def several(state: Story) -> list[Any]:
            return [Command(update={"notes": ["x"]}), {"notes": ["y"]}]

        chunks = app.stream(app.chain(several), {"amount": 1}, stream_mode="updates")
        assert chunks == [{"several": [{"notes": ["x"]}, {"notes": ["y"]}]}]

    def test_shows_one_chunk_for_each_send(self, app: App) -> None:
        def fan(state: Story) -> list[Send]:
            return [Send("work", {"amount": number}) for number in range(3)]

        def work(state: Story) -> dict[str, Any]:
            return {"notes": [f"work {state['amount']}"]}

        graph = app.compile(
            StateGraph(Story).add_node(work).add_conditional_edges(START, fan, ["work"])
        )
        chunks = app.stream(graph, {"amount": 1}, stream_mode="updates")
        assert sorted(chunk["work"]["notes"] for chunk in chunks) == [
            ["work 0"],
            ["work 1"],
            ["work 2"],
        ]

    def test_ends_with_the_question_of_a_waiting_task(self, app: App) -> None:
        chunks = app.stream(app.chain(first, ask), {"amount": 1}, stream_mode="updates")
        assert chunks[0] == {"first": {"notes": ["first"]}}
        assert the_question(chunks).value == "sure?"
        assert len(chunks) == 2

    def test_shows_a_question_that_an_earlier_call_asked_and_that_is_still_open(
        self, app: App
    ) -> None:
        graph = app.chain(ask)
        asked = app.run(graph, {"amount": 1}).interrupts
        chunks = app.stream(graph, None, stream_mode="updates")
        assert (the_question(chunks),) == asked

    def test_marks_what_was_finished_before_the_pause_as_cached(self, app: App) -> None:
        graph = app.side_by_side(first, ask)
        app.run(graph, {"amount": 1})
        chunks = app.stream(graph, Command(resume="yes"), stream_mode="updates")
        assert chunks == [
            {"first": {"notes": ["first"]}, "__metadata__": {"cached": True}},
            {"ask": {"notes": ["yes"]}},
        ]

    def test_ends_with_an_empty_interrupt_at_a_breakpoint(self, app: App) -> None:
        graph = app.chain(first, second)
        chunks = app.stream(
            graph, {"amount": 1}, stream_mode="updates", interrupt_before=["second"]
        )
        assert chunks == [{"first": {"notes": ["first"]}}, {"__interrupt__": ()}]


class TestValues:
    def test_yields_the_input_first_and_then_every_committed_state(self, app: App) -> None:
        chunks = app.stream(app.chain(first, second), {"amount": 1}, stream_mode="values")
        assert chunks == [
            {"amount": 1, "notes": []},
            {"amount": 1, "notes": ["first"]},
            {"amount": 2, "notes": ["first", "second"]},
        ]

    def test_yields_one_chunk_for_a_superstep_of_several_tasks(self, app: App) -> None:
        chunks = app.stream(app.side_by_side(first, second), {"amount": 1}, stream_mode="values")
        assert chunks == [
            {"amount": 1, "notes": []},
            {"amount": 2, "notes": ["first", "second"]},
        ]

    def test_yields_one_more_chunk_with_the_question_at_a_pause(self, app: App) -> None:
        chunks = app.stream(app.chain(first, ask), {"amount": 1}, stream_mode="values")
        assert chunks[:2] == [
            {"amount": 1, "notes": []},
            {"amount": 1, "notes": ["first"]},
        ]
        (last,) = chunks[2:]
        assert isinstance(last["__interrupt__"], tuple)
        assert [question.value for question in last["__interrupt__"]] == ["sure?"]
        assert last["notes"] == ["first"]

    def test_yields_only_the_keys_that_were_asked_for(self, app: App) -> None:
        chunks = app.stream(
            app.chain(second), {"amount": 1}, stream_mode="values", output_keys=["amount"]
        )
        assert chunks == [{"amount": 1}, {"amount": 2}]

    def test_chunks_are_the_readers_own(self, app: App) -> None:
        graph = app.chain(first, second)
        for chunk in app.stream(graph, {"amount": 1}, stream_mode="values"):
            chunk["notes"].append("scribbled by the reader")
        assert app.state(graph).values["notes"] == ["first", "second"]


class TestTasks:
    def test_yields_each_task_as_it_starts_and_as_it_ends(self, app: App) -> None:
        begun, ended = app.stream(app.chain(first), {"amount": 1}, stream_mode="tasks")
        assert set(begun) == {"id", "name", "input", "triggers"}
        assert (begun["name"], begun["input"]) == ("first", {"amount": 1, "notes": []})
        assert set(ended) == {"id", "name", "error", "result", "interrupts"}
        assert ended["id"] == begun["id"]
        assert (ended["name"], ended["error"]) == ("first", None)
        assert (ended["result"], list(ended["interrupts"])) == ({"notes": ["first"]}, [])

    def test_shows_the_question_of_a_task_that_waits(self, app: App) -> None:
        *_, ended = app.stream(app.chain(ask), {"amount": 1}, stream_mode="tasks")
        assert ended["name"] == "ask"
        (question,) = ended["interrupts"]
        shown = question["value"] if isinstance(question, dict) else question.value
        assert shown == "sure?"

    def test_shows_the_error_of_a_task_that_fails_for_an_error_handler(self, app: App) -> None:
        def fail(state: Story) -> None:
            raise ValueError("broken")

        def mend(state: Story) -> dict[str, Any]:
            return {"notes": ["mended"]}

        builder = StateGraph(Story).add_node(fail, error_handler=mend).add_edge(START, "fail")
        chunks = app.stream(app.compile(builder), {"amount": 1}, stream_mode="tasks")
        errors = [chunk["error"] for chunk in chunks if chunk.get("error") is not None]
        assert len(errors) == 1
        assert "broken" in str(errors[0])

    def test_a_task_has_the_same_id_in_the_stream_and_in_the_state(self, app: App) -> None:
        graph = app.chain(ask)
        begun, *_ = app.stream(graph, {"amount": 1}, stream_mode="tasks")
        assert app.state(graph).tasks[0].id == begun["id"]

    def test_several_writes_of_one_key_are_shown_as_writes(self, app: App) -> None:
        def several(state: Story) -> list[Any]:
            return [Command(update={"notes": ["x"]}), {"notes": ["y"]}]

        *_, ended = app.stream(app.chain(several), {"amount": 1}, stream_mode="tasks")
        assert ended["result"] == {"notes": {"$writes": [["x"], ["y"]]}}


class TestCheckpointsAndDebug:
    def test_checkpoints_yields_every_entry_of_the_history_as_it_is_made(self, app: App) -> None:
        graph = app.chain(first, second)
        chunks = app.stream(graph, {"amount": 1}, stream_mode="checkpoints")
        history = app.history(graph)[::-1]
        assert [chunk["values"] for chunk in chunks] == [entry.values for entry in history]
        assert [chunk["metadata"]["step"] for chunk in chunks] == [-1, 0, 1, 2]
        assert [tuple(chunk["next"]) for chunk in chunks] == [entry.next for entry in history]
        assert [chunk["config"]["configurable"]["checkpoint_id"] for chunk in chunks] == [
            entry.config["configurable"]["checkpoint_id"] for entry in history
        ]

    def test_debug_yields_checkpoints_and_tasks_with_their_step(self, app: App) -> None:
        chunks = app.stream(app.chain(first), {"amount": 1}, stream_mode="debug")
        assert [(chunk["step"], chunk["type"]) for chunk in chunks] == [
            (-1, "checkpoint"),
            (0, "checkpoint"),
            (1, "task"),
            (1, "task_result"),
            (1, "checkpoint"),
        ]
        assert chunks[2]["payload"]["name"] == chunks[3]["payload"]["name"] == "first"


class TestCustom:
    def test_yields_what_nodes_write_by_either_way(self, app: App) -> None:
        def by_call(state: Story) -> None:
            get_stream_writer()({"progress": 50})

        def by_parameter(state: Story, writer) -> None:
            writer("any value")

        chunks = app.stream(app.chain(by_call, by_parameter), {"amount": 1}, stream_mode="custom")
        assert chunks == [{"progress": 50}, "any value"]

    def test_writing_in_a_call_that_streams_something_else_is_harmless(self, app: App) -> None:
        def by_call(state: Story) -> dict[str, Any]:
            get_stream_writer()("nobody listens")
            return {"notes": ["went on"]}

        assert app.run(app.chain(by_call), {"amount": 1})["notes"] == ["went on"]


class TestMessages:
    def test_yields_the_tokens_of_a_chat_model_with_the_node_that_called_it(self, app: App) -> None:
        pytest.importorskip("langchain_core")
        from langchain_core.language_models import GenericFakeChatModel
        from langchain_core.messages import AIMessage

        def chat(state: Story) -> dict[str, Any]:
            model = GenericFakeChatModel(messages=iter([AIMessage("to be or not")]))
            return {"notes": [model.invoke("speak").content]}

        chunks = app.stream(app.chain(chat), {"amount": 1}, stream_mode="messages")
        assert "".join(message.content for message, _ in chunks) == "to be or not"
        assert {metadata["langgraph_node"] for _, metadata in chunks} == {"chat"}


class TestSeveralModes:
    def test_a_list_of_modes_yields_pairs(self, app: App) -> None:
        chunks = app.stream(app.chain(first), {"amount": 1}, stream_mode=["values", "updates"])
        assert chunks == [
            ("values", {"amount": 1, "notes": []}),
            ("updates", {"first": {"notes": ["first"]}}),
            ("values", {"amount": 1, "notes": ["first"]}),
        ]

    def test_a_list_of_one_mode_still_yields_pairs(self, app: App) -> None:
        chunks = app.stream(app.chain(first), {"amount": 1}, stream_mode=["updates"])
        assert chunks == [("updates", {"first": {"notes": ["first"]}})]

    @pytest.mark.parametrize("modes", [["updates", "values"], ["values", "updates"]])
    def test_updates_come_before_values_in_whatever_order_the_modes_are_named(
        self, app: App, modes: list[str]
    ) -> None:
        chunks = app.stream(app.chain(first, ask), {"amount": 1}, stream_mode=modes)
        assert [mode for mode, _ in chunks] == [
            "values",
            "updates",
            "values",
            "updates",
            "values",
        ]

    def test_custom_chunks_of_a_node_come_before_its_update(self, app: App) -> None:
        def talk(state: Story) -> dict[str, Any]:
            get_stream_writer()("half way")
            return {"notes": ["talked"]}

        chunks = app.stream(app.chain(talk), {"amount": 1}, stream_mode=["updates", "custom"])
        assert chunks == [("custom", "half way"), ("updates", {"talk": {"notes": ["talked"]}})]


def test_a_mode_that_does_not_exist_is_refused(app: App) -> None:
    with pytest.raises(ValueError, match="update"):
        app.stream(app.chain(first), {"amount": 1}, stream_mode="update")


def test_a_stream_raises_the_error_of_a_node_after_what_came_before(app: App) -> None:
    def fail(state: Story) -> None:
        raise ValueError("broken")

    graph = app.chain(first, fail)
    with pytest.raises(ValueError, match="broken"):
        app.stream(graph, {"amount": 1}, stream_mode="updates")
    assert app.state(graph).values["notes"] == ["first"]
