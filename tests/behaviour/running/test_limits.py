"""Bounds that a run keeps to: supersteps, tasks at once, the size of what is written."""

from __future__ import annotations

import operator
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest

from caesura import END, START, MemoryStore, Send, SqliteStore, StateGraph, interrupt, once
from caesura.errors import GraphRecursionError, RecordTooLarge
from tests.behaviour.both import PATIENCE_S, THREAD, App, Story

ON_THREAD = {"configurable": {"thread_id": THREAD}}


def count_to(app: App, target: int) -> Any:
    def count(state: Story) -> dict[str, Any]:
        return {"amount": state["amount"] + 1}

    def more(state: Story) -> str:
        return "count" if state["amount"] < target else END

    builder = StateGraph(Story).add_node(count).add_edge(START, "count")
    return app.compile(builder.add_conditional_edges("count", more))


class TestTheRecursionLimit:
    def test_stops_a_run_that_takes_more_supersteps(self, app: App) -> None:
        with pytest.raises(GraphRecursionError, match="3"):
            app.run(count_to(app, 10), {"amount": 0}, config={**ON_THREAD, "recursion_limit": 3})

    def test_lets_a_run_take_exactly_as_many(self, app: App) -> None:
        config = {**ON_THREAD, "recursion_limit": 3}
        assert app.run(count_to(app, 3), {"amount": 0}, config=config)["amount"] == 3

    def test_keeps_what_was_done_and_lets_a_later_call_go_on(self, app: App) -> None:
        graph = count_to(app, 10)
        with pytest.raises(GraphRecursionError):
            app.run(graph, {"amount": 0}, config={**ON_THREAD, "recursion_limit": 3})
        assert app.state(graph).values["amount"] == 3
        assert app.state(graph).next == ("count",)
        assert app.go_on(graph)["amount"] == 10

    def test_counts_the_supersteps_of_one_call(self, app: App) -> None:
        def ask(state: Story) -> dict[str, Any]:
            return {"amount": state["amount"] + interrupt("one more?", key="more")}

        def more(state: Story) -> str:
            return "ask" if state["amount"] < 5 else END

        builder = StateGraph(Story).add_node(ask).add_edge(START, "ask")
        graph = app.compile(builder.add_conditional_edges("ask", more))
        config = {**ON_THREAD, "recursion_limit": 2}
        result = app.run(graph, {"amount": 0}, config=config)
        while result.interrupts:
            result = app.answer(graph, 1, config=config)
        assert result["amount"] == 5


class Crowd:
    """Counts how many nodes are inside at once; two of them wait for each other."""

    def __init__(self) -> None:
        self.most_at_once = 0
        self._inside = 0
        self._lock = threading.Lock()
        self._pair = threading.Barrier(2)

    def visit(self, state: Story) -> dict[str, Any]:
        with self._lock:
            self._inside += 1
            self.most_at_once = max(self.most_at_once, self._inside)
        self._pair.wait(PATIENCE_S)
        with self._lock:
            self._inside -= 1
        return {"notes": ["visited"]}


class TestMaxConcurrency:
    def test_bounds_how_many_tasks_run_at_once_and_uses_what_it_allows(self, app: App) -> None:
        crowd = Crowd()

        def fan(state: Story) -> list[Send]:
            return [Send("visit", state) for _ in range(6)]

        builder = StateGraph(Story).add_node("visit", crowd.visit)
        graph = app.compile(builder.add_conditional_edges(START, fan, ["visit"]))
        config = {**ON_THREAD, "max_concurrency": 2}
        assert app.run(graph, {"amount": 1}, config=config)["notes"] == ["visited"] * 6
        assert crowd.most_at_once == 2

    def test_of_one_runs_the_tasks_in_their_order(self, app: App) -> None:
        order: list[str] = []

        def named(name: str) -> Callable[[Story], None]:
            def node(state: Story) -> None:
                order.append(name)

            node.__name__ = name
            return node

        graph = app.side_by_side(*(named(name) for name in ("d", "b", "a", "c")))
        app.run(graph, {"amount": 1}, config={**ON_THREAD, "max_concurrency": 1})
        assert order == ["a", "b", "c", "d"]

    def test_does_not_deadlock_a_task_that_calls_a_subgraph(self, app: App) -> None:
        def leaf(state: Story) -> dict[str, Any]:
            return {"notes": ["leaf"]}

        inner = StateGraph(Story).add_node(leaf).add_edge(START, "leaf").compile()
        builder = StateGraph(Story).add_node("child", inner).add_edge(START, "child")
        config = {**ON_THREAD, "max_concurrency": 1}
        assert app.run(app.compile(builder), {"amount": 1}, config=config)["notes"] == ["leaf"]


class Text(TypedDict):
    pieces: Annotated[list[str], operator.add]


LIMIT = 20_000


@pytest.fixture(params=["memory", "sqlite"])
def small_store(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """A store that takes records of at most LIMIT bytes."""
    if request.param == "memory":
        opened: Any = MemoryStore(max_bytes=LIMIT)
    else:
        opened = SqliteStore(tmp_path / "app.db", max_bytes=LIMIT)
    with opened as store:
        yield store


def writing(size: int, store: Any) -> Any:
    def write(state: Text) -> dict[str, Any]:
        return {"pieces": ["x" * size]}

    builder = StateGraph(Text).add_node(write).add_edge(START, "write")
    return builder.compile(checkpointer=store, name="writing")


class TestTheSizeOfWhatIsWritten:
    def test_is_refused_beyond_the_limit_with_both_figures(self, small_store: Any) -> None:
        with pytest.raises(RecordTooLarge, match=f"{LIMIT:,}.*max_bytes") as refused:
            writing(2 * LIMIT, small_store).invoke({"pieces": []}, thread="t")
        assert refused.value.limit == LIMIT
        assert refused.value.size > 2 * LIMIT

    def test_is_allowed_below_the_limit(self, small_store: Any) -> None:
        result = writing(LIMIT // 4, small_store).invoke({"pieces": []}, thread="t")
        assert len(result["pieces"][0]) == LIMIT // 4

    def test_leaves_the_thread_as_it_was_when_it_is_refused(self, small_store: Any) -> None:
        graph = writing(2 * LIMIT, small_store)
        with pytest.raises(RecordTooLarge):
            graph.invoke({"pieces": ["small"]}, thread="t")
        assert graph.get_state("t").values == {"pieces": ["small"]}
        mended = writing(10, small_store)
        assert mended.invoke(None, thread="t") == {"pieces": ["small", "x" * 10]}

    def test_is_refused_in_an_input(self, small_store: Any) -> None:
        with pytest.raises(RecordTooLarge):
            writing(1, small_store).invoke({"pieces": ["x" * 2 * LIMIT]}, thread="t")

    def test_is_refused_in_a_question(self, small_store: Any) -> None:
        def ask(state: Text) -> dict[str, Any]:
            return {"pieces": [interrupt("x" * 2 * LIMIT)]}

        builder = StateGraph(Text).add_node(ask).add_edge(START, "ask")
        with pytest.raises(RecordTooLarge):
            builder.compile(checkpointer=small_store).invoke({"pieces": []}, thread="t")

    def test_of_an_effect_that_happened_does_not_make_it_happen_again(
        self, small_store: Any
    ) -> None:
        performed: list[str] = []

        def fetch() -> str:
            performed.append("fetch")
            return "x" * 2 * LIMIT

        def work(state: Text) -> dict[str, Any]:
            return {"pieces": [once(fetch)]}

        builder = StateGraph(Text).add_node(work).add_edge(START, "work")
        graph = builder.compile(checkpointer=small_store)
        for attempt in ({"pieces": []}, None):
            with pytest.raises(Exception, match="fetch"):
                graph.invoke(attempt, thread="t")
        assert performed == ["fetch"]

    def test_bounds_a_state_that_grows_step_by_step(self, small_store: Any) -> None:
        def grow(state: Text) -> dict[str, Any]:
            return {"pieces": ["x" * (LIMIT // 10)]}

        builder = StateGraph(Text).add_node(grow).add_edge(START, "grow").add_edge("grow", "grow")
        with pytest.raises(RecordTooLarge):
            builder.compile(checkpointer=small_store).invoke(
                {"pieces": []}, {"recursion_limit": 100}, thread="t"
            )
