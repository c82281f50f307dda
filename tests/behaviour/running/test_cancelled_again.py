"""A call that is cancelled again and again still records what had begun and frees its thread."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from caesura import EncryptedStore, MemoryStore, SqliteStore, interrupt, once
from caesura.engine.scopes import current_scope
from caesura.errors import JournalSealed, LeaseLost, NodeCancelled
from tests.behaviour.both import PATIENCE_S, Story

TIMES = [1, 2, 5]
TURNS = 20  # of the loop, in which a cancellation gets as far as it can


@pytest.fixture(params=["memory", "sqlite", "encrypted"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    if request.param == "sqlite":
        with SqliteStore(tmp_path / "app.db") as opened:
            yield opened
        return
    with MemoryStore() as opened:
        if request.param == "memory":
            yield opened
        else:
            pytest.importorskip("cryptography")
            yield EncryptedStore(opened, keys={"first": b"k" * 32}, current="first")


class Till:
    """A payment that takes until the test lets it end."""

    def __init__(self) -> None:
        self.begun, self.may_end = threading.Event(), threading.Event()
        self.paid: list[int] = []

    def pay(self, amount: int) -> str:
        self.begun.set()
        assert self.may_end.wait(PATIENCE_S)
        self.paid.append(amount)
        return f"paid {amount}"

    async def pay_on_the_loop(self, amount: int) -> str:
        self.begun.set()
        while not self.may_end.is_set():  # noqa: ASYNC110 - threads wait for it as well
            await asyncio.sleep(0)
        self.paid.append(amount)
        return f"paid {amount}"


def nodes_of(till: Till) -> dict[str, list[Callable[..., Any]]]:
    async def awaits(state: Story) -> dict[str, Any]:
        return {"notes": [await once(till.pay_on_the_loop, 5)]}

    async def in_a_thread(state: Story) -> dict[str, Any]:
        return {"notes": [await once.thread(till.pay, 5)]}

    async def gathers(state: Story) -> dict[str, Any]:
        return {"notes": await asyncio.gather(once(till.pay_on_the_loop, 5))}

    def blocks(state: Story) -> dict[str, Any]:
        return {"notes": [once(till.pay, 5)]}

    def does_nothing(state: Story) -> None:
        pass

    return {
        "once": [awaits],
        "once.thread": [in_a_thread],
        "gather": [gathers],
        "a sync node": [blocks],
        "side by side": [awaits, does_nothing],
        "sync nodes side by side": [blocks, does_nothing],
    }


def graph_of(store: Any, nodes: list[Callable[..., Any]]) -> Any:
    from caesura import START, StateGraph

    builder = StateGraph(Story)
    for node in nodes:
        builder.add_node(node).add_edge(START, node.__name__)
    return builder.compile(checkpointer=store, name="story")


async def until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while not is_so():  # noqa: ASYNC110 - threads make it so
            await asyncio.sleep(0)


async def insist(call: asyncio.Task[Any], times: int) -> None:
    """Cancel it so often; it must still be there after that."""
    for _ in range(times):
        call.cancel()
        for _ in range(TURNS):
            await asyncio.sleep(0)


async def ends_cancelled(call: Awaitable[Any]) -> None:
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(call, PATIENCE_S)


@pytest.mark.parametrize("times", TIMES)
@pytest.mark.parametrize("way", list(nodes_of(Till())))
def test_an_effect_that_had_begun_is_recorded_and_never_repeated(store, way, times):
    till = Till()
    graph = graph_of(store, nodes_of(till)[way])

    async def story() -> Any:
        call = asyncio.create_task(graph.ainvoke({}, thread="t"))
        await until(till.begun.is_set)
        await insist(call, times)
        assert not call.done()
        till.may_end.set()
        await ends_cancelled(call)
        assert till.paid == [5]
        return await graph.ainvoke(None, thread="t")

    assert asyncio.run(story())["notes"] == ["paid 5"]
    assert till.paid == [5]


@pytest.mark.parametrize("times", TIMES)
def test_a_child_graph_records_what_it_had_begun(store, times):
    till = Till()
    child = graph_of(None, nodes_of(till)["once"])

    async def calls(state: Story) -> dict[str, Any]:
        return {"notes": (await child.ainvoke({}))["notes"]}

    graph = graph_of(store, [calls])

    async def story() -> Any:
        call = asyncio.create_task(graph.ainvoke({}, thread="t"))
        await until(till.begun.is_set)
        await insist(call, times)
        till.may_end.set()
        await ends_cancelled(call)
        return await graph.ainvoke(None, thread="t")

    assert asyncio.run(story())["notes"] == ["paid 5"]
    assert till.paid == [5]


def test_a_cancel_scope_that_insists_is_no_different(store):
    anyio = pytest.importorskip("anyio")
    till = Till()
    graph = graph_of(store, nodes_of(till)["once"])

    async def story() -> Any:
        async def let_it_end() -> None:
            await until(till.begun.is_set)
            scope.cancel()
            for _ in range(TURNS):
                await asyncio.sleep(0)
            till.may_end.set()

        ending = asyncio.create_task(let_it_end())
        with anyio.CancelScope() as scope:
            await graph.ainvoke({}, thread="t")
        await ending
        assert till.paid == [5]
        return await graph.ainvoke(None, thread="t")

    assert asyncio.run(story())["notes"] == ["paid 5"]
    assert till.paid == [5]


def test_a_node_that_cleans_up_is_awaited_before_the_thread_is_free(store):
    clean, stands = [], asyncio.Event()

    async def works(state: Story) -> dict[str, Any]:
        try:
            stands.set()
            await asyncio.Event().wait()
        finally:
            for _ in range(3):
                try:
                    for _ in range(TURNS * 5):
                        await asyncio.sleep(0)
                except asyncio.CancelledError:
                    pass
            clean.append("clean")
        return {}

    graph = graph_of(store, [works])

    async def story() -> None:
        call = asyncio.create_task(graph.ainvoke({}, thread="t"))
        await stands.wait()
        await insist(call, 2)
        await ends_cancelled(call)
        assert clean == ["clean"]

    asyncio.run(story())


def test_a_call_made_while_the_caller_cleans_up_after_a_cancellation_runs_to_its_end(store):
    async def works(state: Story) -> dict[str, Any]:
        await asyncio.sleep(0)
        return {"notes": ["made good"]}

    graph = graph_of(store, [works])
    results: list[Any] = []

    async def story() -> None:
        stands = asyncio.Event()

        async def caller() -> None:
            try:
                stands.set()
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                results.append(await graph.ainvoke({}, thread="t"))

        task = asyncio.create_task(caller())
        await stands.wait()
        task.cancel()
        await task

    asyncio.run(story())
    assert results[0]["notes"] == ["made good"]


def test_code_that_outlives_a_cancelled_call_is_told_what_it_outlived(store):
    stands, may_go_on, refused = threading.Event(), threading.Event(), []
    child = graph_of(None, nodes_of(Till())["a sync node"])

    def works(state: Story) -> None:
        stands.set()
        assert may_go_on.wait(PATIENCE_S)
        try:
            child.invoke({})
        except BaseException as error:
            refused.append(error)
            raise

    graph = graph_of(store, [works])

    async def story() -> None:
        call = asyncio.create_task(graph.ainvoke({}, thread="t"))
        await until(stands.is_set)
        call.cancel()
        await ends_cancelled(call)
        may_go_on.set()
        await until(lambda: bool(refused))

    asyncio.run(story())
    assert isinstance(refused[0], JournalSealed)
    assert "Await or join" in str(refused[0])


def test_code_that_outlives_its_run_is_not_told_of_another_process(app):
    ledgers = []

    def node(state):
        ledgers.append(current_scope("this test").work.call.ledger)

    app.run(app.chain(node), {})
    with pytest.raises(LeaseLost, match=r"(?s)has ended.*Await or join"):
        ledgers[0].check()


# -------------------------------------------------------------- a node that cancels itself
def cancels_itself() -> Callable[..., Any]:
    async def node(state: Story) -> dict[str, Any]:
        waiting = asyncio.ensure_future(asyncio.Event().wait())
        waiting.cancel()
        await waiting
        return {}

    return node


def test_a_node_that_cancels_itself_has_failed_and_says_so(app):
    graph = app.chain(cancels_itself())
    with pytest.raises(NodeCancelled, match="cancelled by its own code"):
        app.run(graph, {})
    assert "NodeCancelled" in str(app.state(graph).tasks[0].error)


def test_a_sync_node_that_raises_cancelled_error_has_failed_too(app):
    def node(state):
        raise asyncio.CancelledError

    with pytest.raises(NodeCancelled):
        app.run(app.chain(node), {})


def test_a_node_that_cancels_itself_is_tried_again_when_its_policy_says_so(app):
    from caesura import START, RetryPolicy, StateGraph

    attempts = []

    async def node(state: Story) -> dict[str, Any]:
        attempts.append(1)
        if len(attempts) == 1:
            raise asyncio.CancelledError
        return {"notes": ["done"]}

    policy = RetryPolicy(max_attempts=2, retry_on=NodeCancelled, initial_interval=0.0)
    builder = StateGraph(Story).add_node("node", node, retry_policy=policy)
    graph = app.compile(builder.add_edge(START, "node"))
    assert app.run(graph, {})["notes"] == ["done"]


def test_a_node_that_cancels_itself_is_handed_to_its_error_handler(app):
    from caesura import START, StateGraph

    builder = StateGraph(Story).add_node(
        "node", cancels_itself(), error_handler=lambda state: {"notes": ["handled"]}
    )
    graph = app.compile(builder.add_edge(START, "node"))
    assert app.run(graph, {})["notes"] == ["handled"]


def test_a_node_that_cancelled_itself_runs_again_when_it_is_called_with_nothing_new(app):
    is_mended = []

    async def node(state):
        if not is_mended:
            raise asyncio.CancelledError
        return {"notes": ["done"]}

    graph = app.chain(node)
    with pytest.raises(NodeCancelled):
        app.run(graph, {})
    is_mended.append(True)
    assert app.go_on(graph)["notes"] == ["done"]


def test_a_question_wins_over_a_strand_that_was_cancelled(app):
    async def node(state):
        async def ask() -> Any:
            return interrupt("sure?")

        asking = asyncio.ensure_future(ask())
        other = asyncio.ensure_future(asyncio.Event().wait())
        await asyncio.wait({asking})
        other.cancel()
        asking.exception()
        await other

    assert [q.value for q in app.run(app.chain(node), {}).interrupts] == ["sure?"]


def test_a_question_wins_over_a_node_that_exits_because_of_it(app):
    def node(state):
        try:
            return {"notes": [interrupt("sure?")]}
        except BaseException:
            raise SystemExit(3) from None

    graph = app.chain(node)
    assert [q.value for q in app.run(graph, {}).interrupts] == ["sure?"]


def test_a_node_that_exits_without_a_question_ends_the_program(app):
    def node(state):
        raise SystemExit(3)

    with pytest.raises(SystemExit):
        app.run(app.chain(node), {})
