"""A cancelled ainvoke leaves a thread that goes on; a drained program stops at a boundary."""

from __future__ import annotations

import asyncio
import operator
import threading
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest

from caesura import END, START, MemoryStore, SqliteStore, StateGraph, once
from caesura.errors import GraphDrained
from tests.behaviour.both import PATIENCE_S, App, Story
from tests.behaviour.running.live import in_background


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    with MemoryStore() if request.param == "memory" else SqliteStore(tmp_path / "app.db") as opened:
        yield opened


class Stuck:
    """A graph whose second node performs an effect and then hangs, until it is mended."""

    def __init__(self, store: Any) -> None:
        self.performed: list[str] = []
        self.is_mended = False
        self.hangs = asyncio.Event()
        builder = StateGraph(Story).add_node(self.prepare).add_node(self.work)
        builder.add_edge(START, "prepare").add_edge("prepare", "work")
        self.graph = builder.compile(checkpointer=store, name="stuck")

    def charge(self) -> str:
        self.performed.append("charge")
        return "receipt"

    async def prepare(self, state: Story) -> dict[str, Any]:
        self.performed.append("prepare")
        return {"notes": ["prepared"]}

    async def work(self, state: Story) -> dict[str, Any]:
        receipt = once(self.charge)
        if not self.is_mended:
            self.hangs.set()
            await asyncio.Event().wait()
        return {"notes": [receipt]}

    async def cancel_while_it_hangs(self, **options: Any) -> None:
        call = asyncio.create_task(self.graph.ainvoke({"amount": 1}, thread="t", **options))
        await asyncio.wait_for(self.hangs.wait(), PATIENCE_S)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(call, PATIENCE_S)


class TestACancelledCall:
    def test_leaves_the_thread_free_and_resumable(self, store: Any) -> None:
        async def story() -> Any:
            stuck = Stuck(store)
            await stuck.cancel_while_it_hangs()
            stuck.is_mended = True
            return await stuck.graph.ainvoke(None, thread="t")

        assert asyncio.run(story())["notes"] == ["prepared", "receipt"]

    def test_keeps_finished_steps_and_recorded_effects(self, store: Any) -> None:
        async def story() -> list[str]:
            stuck = Stuck(store)
            await stuck.cancel_while_it_hangs()
            stuck.is_mended = True
            await stuck.graph.ainvoke(None, thread="t")
            return stuck.performed

        assert asyncio.run(story()) == ["prepare", "charge"]

    def test_loses_no_effect_that_was_written_behind(self, store: Any) -> None:
        async def story() -> list[str]:
            stuck = Stuck(store)
            await stuck.cancel_while_it_hangs(durability="async")
            stuck.is_mended = True
            await stuck.graph.ainvoke(None, thread="t")
            return stuck.performed

        assert asyncio.run(story()) == ["prepare", "charge"]

    def test_shows_where_it_stands(self, store: Any) -> None:
        async def story() -> Any:
            stuck = Stuck(store)
            await stuck.cancel_while_it_hangs()
            return await stuck.graph.aget_state("t")

        state = asyncio.run(story())
        assert state.next == ("work",)
        assert state.values["notes"] == ["prepared"]

    def test_can_be_continued_by_a_sync_call(self, store: Any) -> None:
        stuck = Stuck(store)
        asyncio.run(stuck.cancel_while_it_hangs())
        stuck.is_mended = True
        assert stuck.graph.invoke(None, thread="t")["notes"] == ["prepared", "receipt"]

    def test_by_a_timeout_around_it_is_no_different(self, store: Any) -> None:
        async def story() -> Any:
            stuck = Stuck(store)
            call = asyncio.create_task(stuck.graph.ainvoke({"amount": 1}, thread="t"))
            await asyncio.wait_for(stuck.hangs.wait(), PATIENCE_S)
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(call, 0)
            stuck.is_mended = True
            return await stuck.graph.ainvoke(None, thread="t")

        assert asyncio.run(story())["notes"] == ["prepared", "receipt"]

    def test_before_it_began_leaves_the_thread_free(self, store: Any) -> None:
        async def story() -> Any:
            stuck = Stuck(store)
            call = asyncio.create_task(stuck.graph.ainvoke({"amount": 1}, thread="t"))
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            stuck.is_mended = True
            return await stuck.graph.ainvoke({"amount": 1}, thread="t")

        assert "receipt" in asyncio.run(story())["notes"]


class Rounds(TypedDict):
    done: Annotated[list[int], operator.add]


class Endless:
    """A loop that ends when it is told to, and otherwise never."""

    def __init__(self, app: App) -> None:
        self.is_told_to_end = False
        self.begun = threading.Event()
        builder = StateGraph(Rounds).add_node(self.work).add_edge(START, "work")
        self.graph = app.compile(builder.add_conditional_edges("work", self.more))

    def work(self, state: Rounds) -> dict[str, Any]:
        self.begun.set()
        return {"done": [len(state["done"])]}

    def more(self, state: Rounds) -> str:
        return END if self.is_told_to_end else "work"


PATIENT = {"recursion_limit": 10_000_000, "configurable": {"thread_id": "t"}}


class TestDraining:
    def test_stops_a_running_thread_at_its_next_boundary(self, app: App) -> None:
        endless = Endless(app)
        with in_background(app, endless.graph, {"done": []}, config=PATIENT) as running:
            assert endless.begun.wait(PATIENCE_S)
            endless.graph.drain(timeout=PATIENCE_S)
            assert isinstance(running.exception(PATIENCE_S), GraphDrained)
        state = app.state(endless.graph)
        assert state.next == ("work",)
        assert state.values["done"] == list(range(len(state.values["done"])))

    def test_leaves_a_thread_that_goes_on_later(self, app: App) -> None:
        endless = Endless(app)
        with in_background(app, endless.graph, {"done": []}, config=PATIENT) as running:
            assert endless.begun.wait(PATIENCE_S)
            endless.graph.drain(timeout=PATIENCE_S)
            running.exception(PATIENCE_S)
        app.restart()
        later = Endless(app)
        later.is_told_to_end = True
        rounds = len(app.state(later.graph).values["done"])
        assert app.go_on(later.graph)["done"] == list(range(rounds + 1))

    def test_with_nothing_running_returns_at_once(self, app: App) -> None:
        Endless(app).graph.drain(timeout=PATIENCE_S)
