"""One thread, one run: a second call is told at once, or waits, and a repeated request runs once."""

from __future__ import annotations

from typing import Any

import pytest

from caesura import interrupt
from caesura.errors import RequestMismatch, ThreadBusy
from tests.behaviour.both import PATIENCE_S, THREAD, App, Story
from tests.behaviour.running.live import Gate, LiveStream, in_background


def standing(gate: Gate) -> Any:
    def work(state: Story) -> dict[str, Any]:
        gate.stand()
        return {"notes": [f"worked on {state['amount']}"]}

    return work


def quiet(state: Story) -> None:
    return None


class TestASecondCall:
    def test_is_refused_at_once_and_told_which_thread_is_busy(self, app: App) -> None:
        gate = Gate()
        graph = app.chain(standing(gate))
        with in_background(app, graph, {"amount": 1}) as first:
            gate.await_arrival()
            with pytest.raises(ThreadBusy, match=f"{THREAD!r}.*on_busy='wait'") as refused:
                app.run(graph, {"amount": 2})
            gate.open()
            assert first.result(PATIENCE_S)["notes"] == ["worked on 1"]
        assert refused.value.thread == THREAD

    def test_leaves_no_trace_of_the_refused_input(self, app: App) -> None:
        gate = Gate()
        graph = app.chain(standing(gate))
        with in_background(app, graph, {"amount": 1}) as first:
            gate.await_arrival()
            with pytest.raises(ThreadBusy):
                app.run(graph, {"amount": 2})
            gate.open()
            first.result(PATIENCE_S)
        sources = [entry.metadata["source"] for entry in app.history(graph)]
        assert sources == ["loop", "loop", "input"]

    def test_may_go_through_another_graph_object_and_is_refused_there_too(self, app: App) -> None:
        gate = Gate()
        graph, twin = app.chain(standing(gate)), app.chain(standing(gate))
        with in_background(app, graph, {"amount": 1}) as first:
            gate.await_arrival()
            with pytest.raises(ThreadBusy):
                app.run(twin, {"amount": 2})
            gate.open()
            first.result(PATIENCE_S)

    def test_on_another_thread_is_not_hindered(self, app: App) -> None:
        gate = Gate()

        def work(state: Story) -> dict[str, Any]:
            if state["amount"] == 1:
                gate.stand()
            return {"notes": ["worked"]}

        graph = app.chain(work)
        with in_background(app, graph, {"amount": 1}) as first:
            gate.await_arrival()
            assert app.run(graph, {"amount": 2}, thread="other")["notes"] == ["worked"]
            gate.open()
            first.result(PATIENCE_S)

    def test_that_waits_runs_after_the_first_on_what_it_left(self, app: App) -> None:
        gate = Gate()
        graph = app.chain(standing(gate))
        with in_background(app, graph, {"amount": 1}) as first:
            gate.await_arrival()
            with in_background(app, graph, {"amount": 2}, on_busy="wait") as second:
                gate.open()
                assert first.result(PATIENCE_S)["notes"] == ["worked on 1"]
                assert second.result(PATIENCE_S)["notes"] == ["worked on 1", "worked on 2"]

    def test_finds_the_thread_free_after_a_failure(self, app: App) -> None:
        def fail(state: Story) -> None:
            raise ValueError("broken")

        graph = app.chain(fail)
        for _ in range(2):
            with pytest.raises(ValueError, match="broken"):
                app.run(graph, {"amount": 1})

    def test_finds_the_thread_free_while_it_waits_for_a_person(self, app: App) -> None:
        def ask(state: Story) -> dict[str, Any]:
            return {"notes": [interrupt("sure?")]}

        graph = app.chain(ask)
        app.run(graph, {"amount": 1})
        assert app.answer(graph, "yes")["notes"] == ["yes"]

    def test_is_refused_while_a_stream_that_is_not_read_to_its_end_holds_the_thread(
        self, app: App
    ) -> None:
        graph = app.chain(standing(_open_gate()), quiet)
        with LiveStream(app, graph, {"amount": 1}, stream_mode="values") as live:
            live.next()
            with pytest.raises(ThreadBusy):
                app.run(graph, {"amount": 2})
            live.rest()

    def test_of_an_unknown_manner_is_refused(self, app: App) -> None:
        with pytest.raises(ValueError, match="on_busy"):
            app.run(app.chain(standing(Gate())), {"amount": 1}, on_busy="queue")


class TestWhileAThreadIsBusy:
    def test_its_state_can_be_read(self, app: App) -> None:
        gate = Gate()

        def prepare(state: Story) -> dict[str, Any]:
            return {"notes": ["prepared"]}

        graph = app.chain(prepare, standing(gate))
        with in_background(app, graph, {"amount": 1}) as first:
            gate.await_arrival()
            state = app.state(graph)
            gate.open()
            first.result(PATIENCE_S)
        assert state.values["notes"] == ["prepared"]
        assert state.next == ("work",)

    def test_its_state_cannot_be_updated(self, app: App) -> None:
        gate = Gate()
        graph = app.chain(standing(gate))
        with in_background(app, graph, {"amount": 1}) as first:
            gate.await_arrival()
            with pytest.raises(ThreadBusy):
                app.update(graph, {"amount": 9})
            gate.open()
            assert first.result(PATIENCE_S)["amount"] == 1


class TestARequestId:
    def test_repeats_the_result_without_running_again(self, app: App) -> None:
        ran: list[int] = []

        def work(state: Story) -> dict[str, Any]:
            ran.append(state["amount"])
            return {"notes": ["worked"]}

        graph = app.chain(work)
        first = app.run(graph, {"amount": 1}, request_id="order-7")
        again = app.run(graph, {"amount": 1}, request_id="order-7")
        assert first == again == {"amount": 1, "notes": ["worked"]}
        assert ran == [1]

    def test_holds_across_a_restart_of_the_program(self, app: App) -> None:
        ran: list[int] = []

        def work(state: Story) -> dict[str, Any]:
            ran.append(state["amount"])
            return {"notes": ["worked"]}

        first = app.run(app.chain(work), {"amount": 1}, request_id="order-7")
        app.restart()
        assert app.run(app.chain(work), {"amount": 1}, request_id="order-7") == first
        assert ran == [1]

    def test_with_another_input_is_refused(self, app: App) -> None:
        graph = app.chain(standing(_open_gate()))
        app.run(graph, {"amount": 1}, request_id="order-7")
        with pytest.raises(RequestMismatch, match="order-7"):
            app.run(graph, {"amount": 2}, request_id="order-7")
        assert app.state(graph).values["notes"] == ["worked on 1"]

    def test_repeated_at_a_pause_shows_the_same_question(self, app: App) -> None:
        def ask(state: Story) -> dict[str, Any]:
            return {"notes": [interrupt("sure?")]}

        graph = app.chain(ask)
        first = app.run(graph, {"amount": 1}, request_id="order-7")
        again = app.run(graph, {"amount": 1}, request_id="order-7")
        assert again.interrupts == first.interrupts
        assert app.answer(graph, "yes")["notes"] == ["yes"]

    def test_repeated_after_a_failure_goes_on_with_what_is_left(self, app: App) -> None:
        ran: list[str] = []

        def first(state: Story) -> dict[str, Any]:
            ran.append("first")
            return {"notes": ["first"]}

        def shaky(state: Story) -> dict[str, Any]:
            ran.append("shaky")
            if len(ran) == 2:
                raise ValueError("not today")
            return {"notes": ["shaky"]}

        graph = app.chain(first, shaky)
        with pytest.raises(ValueError, match="not today"):
            app.run(graph, {"amount": 1}, request_id="order-7")
        result = app.run(graph, {"amount": 1}, request_id="order-7")
        assert result["notes"] == ["first", "shaky"]
        assert ran == ["first", "shaky", "shaky"]

    def test_belongs_to_its_thread(self, app: App) -> None:
        graph = app.chain(standing(_open_gate()))
        app.run(graph, {"amount": 1}, request_id="order-7", thread="a")
        result = app.run(graph, {"amount": 2}, request_id="order-7", thread="b")
        assert result["notes"] == ["worked on 2"]

    def test_another_one_is_another_request(self, app: App) -> None:
        graph = app.chain(standing(_open_gate()))
        app.run(graph, {"amount": 1}, request_id="order-7")
        result = app.run(graph, {"amount": 1}, request_id="order-8")
        assert result["notes"] == ["worked on 1", "worked on 1"]


def _open_gate() -> Gate:
    gate = Gate()
    gate.open()
    return gate
