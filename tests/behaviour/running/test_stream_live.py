"""Streams yield as things happen, and a reader that goes away gives the thread back."""

from __future__ import annotations

import operator
import threading
from typing import Annotated, Any, TypedDict

import pytest

from caesura import END, START, StateGraph
from tests.behaviour.both import PATIENCE_S, App, Story
from tests.behaviour.running.live import Gate, LiveStream


def quick(state: Story) -> dict[str, Any]:
    return {"notes": ["quick"]}


def test_a_custom_chunk_arrives_while_its_node_still_runs(app: App) -> None:
    heard = threading.Event()

    def talk(state: Story, writer) -> dict[str, Any]:
        writer("half way")
        return {"notes": ["heard" if heard.wait(PATIENCE_S) else "nobody heard"]}

    with LiveStream(app, app.chain(talk), {"amount": 1}, stream_mode=["custom", "values"]) as live:
        assert live.next() == ("values", {"amount": 1, "notes": []})
        assert live.next() == ("custom", "half way")
        heard.set()
        assert live.rest() == [("values", {"amount": 1, "notes": ["heard"]})]


def test_the_update_of_a_finished_task_arrives_while_its_sibling_still_runs(app: App) -> None:
    gate = Gate()

    def slow(state: Story) -> dict[str, Any]:
        gate.stand()
        return {"notes": ["slow"]}

    graph = app.side_by_side(quick, slow)
    with LiveStream(app, graph, {"amount": 1}, stream_mode="updates") as live:
        assert live.next() == {"quick": {"notes": ["quick"]}}
        gate.open()
        assert live.rest() == [{"slow": {"notes": ["slow"]}}]


def test_the_values_of_a_step_arrive_before_the_next_step_is_over(app: App) -> None:
    gate = Gate()

    def slow(state: Story) -> dict[str, Any]:
        gate.stand()
        return {"notes": ["slow"]}

    with LiveStream(app, app.chain(quick, slow), {"amount": 1}, stream_mode="values") as live:
        assert live.next() == {"amount": 1, "notes": []}
        assert live.next() == {"amount": 1, "notes": ["quick"]}
        gate.open()
        assert live.rest() == [{"amount": 1, "notes": ["quick", "slow"]}]


class Rounds(TypedDict):
    round: int
    done: Annotated[list[int], operator.add]


LAST_ROUND = 8


def rounds(app: App, permits: threading.Semaphore) -> Any:
    """A loop of which every round needs a permit from the test."""

    def work(state: Rounds) -> dict[str, Any]:
        assert permits.acquire(timeout=PATIENCE_S), "this round was not to be begun"
        return {"round": state["round"] + 1, "done": [state["round"]]}

    def more(state: Rounds) -> str:
        return "work" if state["round"] < LAST_ROUND else END

    builder = StateGraph(Rounds).add_node(work).add_edge(START, "work")
    return app.compile(builder.add_conditional_edges("work", more))


def test_closing_a_stream_stops_at_the_next_boundary(app: App) -> None:
    permits = threading.Semaphore(2)  # the round that is read, and one that may be on its way
    graph = rounds(app, permits)
    with LiveStream(app, graph, {"round": 0, "done": []}, stream_mode="updates") as live:
        assert live.next() == {"work": {"round": 1, "done": [0]}}
        live.close()
    state = app.state(graph)
    assert state.next == ("work",)
    assert state.values["done"] in ([0], [0, 1])


def test_a_thread_whose_stream_was_closed_goes_on_without_repeating_a_step(app: App) -> None:
    permits = threading.Semaphore(2)
    graph = rounds(app, permits)
    with LiveStream(app, graph, {"round": 0, "done": []}, stream_mode="updates") as live:
        live.next()
        live.close()
    permits.release(LAST_ROUND)
    assert app.go_on(graph)["done"] == list(range(LAST_ROUND))


def test_a_stream_that_is_closed_before_it_is_read_leaves_the_thread_free(app: App) -> None:
    graph = app.chain(quick)
    with LiveStream(app, graph, {"amount": 1}) as live:
        live.close()
    assert "quick" in app.run(graph, {"amount": 1})["notes"]


def test_a_stream_that_failed_leaves_the_thread_free(app: App) -> None:
    broken = [True]

    def shaky(state: Story) -> dict[str, Any]:
        if broken:
            broken.clear()
            raise ValueError("not today")
        return {"notes": ["done"]}

    graph = app.chain(shaky)
    with LiveStream(app, graph, {"amount": 1}) as live, pytest.raises(ValueError, match="today"):
        live.rest()
    assert app.go_on(graph)["notes"] == ["done"]
