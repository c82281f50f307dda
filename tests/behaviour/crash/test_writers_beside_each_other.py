"""Somebody else writes to the thread at each moment in turn: nobody's word is lost."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextvars import Context
from pathlib import Path
from typing import Any

import pytest

from caesura import START, Command, StateGraph, interrupt, once
from caesura.engine.projections import rows_of
from caesura.errors import LeaseLost
from caesura.testing import CrashAfter, assert_replays
from tests.behaviour.both import PATIENCE_S
from tests.behaviour.crash.deaths import THREAD, Api, Host, Machine, World
from tests.behaviour.crash.stories import Notes, worker


class Meanwhile(CrashAfter):
    """A store on which something else happens just before one of the writes."""

    def __init__(self, store: Any, write: int, act: Callable[[], None]) -> None:
        super().__init__(store)
        self._left, self._act = write, act

    def append(self, append: Any) -> int:
        self._step()
        return super().append(append)

    def append_soon(self, append: Any, tag: Any, sink: Any) -> None:
        self._step()
        super().append_soon(append, tag, sink)

    def _step(self) -> None:
        self._left -= 1
        if self._left == -1:
            self._act()

    @property
    def has_acted(self) -> bool:
        return self._left < 0


class Elsewhere(Host):
    """A process of another machine: whether others live cannot be known."""

    def is_alive(self, identity: str) -> bool | None:
        return True if identity == self.identity() else None


@pytest.fixture(params=["memory", "sqlite"])
def machine(request: pytest.FixtureRequest, tmp_path: Path):
    one = Machine(request.param, tmp_path)
    yield one
    one.close()


@pytest.fixture(params=["sync", "async"])
def api(request: pytest.FixtureRequest) -> Api:
    return request.param  # type: ignore[no-any-return]


def call(api: Api, graph: Any, value: Any, **options: Any) -> Any:
    if api == "sync":
        return graph.invoke(value, thread=options.pop("thread", THREAD), **options)
    return asyncio.run(graph.ainvoke(value, thread=options.pop("thread", THREAD), **options))


def two_questions(world: World) -> Any:
    def price(state: Notes) -> dict[str, Any]:
        answer = interrupt("price?")
        return {"notes": [answer, once(world.do, "price", "charge")]}

    def address(state: Notes) -> dict[str, Any]:
        return {"notes": [interrupt("address?"), once(world.do, "address", "send")]}

    graph = StateGraph(Notes)
    for node in (price, address, worker(world, "end", "close")):
        graph.add_node(node)
    graph.add_edge(START, "price").add_edge(START, "address")
    return graph.add_edge(["price", "address"], "end")


def a_question_that_is_dropped(world: World) -> Any:
    """A node that asks two questions, and the second no more when the first was answered."""

    async def ask(state: Notes) -> dict[str, Any]:
        async def first() -> str:
            return interrupt("first?")  # type: ignore[no-any-return]

        async def second() -> str:
            return interrupt("second?")  # type: ignore[no-any-return]

        if state.get("item"):
            return {"notes": [await first(), once(world.do, "ask", "act")]}
        return {"notes": list(await asyncio.gather(first(), second()))}

    return StateGraph(Notes).add_node(ask).add_edge(START, "ask")


def assert_the_rows_are_those_of_the_log(graph: Any, store: Any) -> None:
    ledger = graph.ledger_for(THREAD)
    ledger.load()
    row, questions, ended = rows_of(graph, ledger)
    assert store.threads()[0].row == row
    assert {q.row.id: q.row for q in store.questions(thread=THREAD)} == questions
    assert {(run.step, run.index): run for run in store.runs(THREAD)} == {
        (run.step, run.index): run for run in ended
    }


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
def test_an_answer_that_comes_at_any_moment_of_a_run_is_heard(
    machine: Machine, api: Api, durability: str
) -> None:
    for write in range(40):
        world, thread = World(), THREAD
        plain = machine.start()
        plain.delete_thread(thread)
        elsewhere = two_questions(World()).compile(checkpointer=plain, name="two")
        elsewhere.invoke({"notes": []}, thread=thread)
        ids = {q.value: q.id for q in elsewhere.get_state(thread).interrupts}

        def answer(ids: Any = ids, elsewhere: Any = elsewhere) -> None:
            elsewhere.answer(ids["address?"], "home")

        store = Meanwhile(plain, write, answer)
        graph = two_questions(world).compile(checkpointer=store, name="two")
        call(api, graph, Command(resume={ids["price?"]: "5"}), durability=durability)
        if not store.has_acted:
            assert write >= 3
            break
        assert_the_rows_are_those_of_the_log(graph, plain)
        result = call(api, graph, None, durability=durability)
        assert not result.interrupts
        assert result["notes"] == ["home", "address.send", "5", "price.charge", "end.close"]
        assert len(world.lives[0]) == 3
        assert_the_rows_are_those_of_the_log(graph, plain)
        assert_replays(graph, THREAD)


def test_a_question_that_its_node_drops_is_answered_or_withdrawn_for_everybody(
    machine: Machine, api: Api
) -> None:
    outcomes: list[str] = []
    for write in range(20):
        plain = machine.start()
        plain.delete_thread(THREAD)
        elsewhere = a_question_that_is_dropped(World()).compile(checkpointer=plain, name="drop")
        elsewhere.invoke({"notes": []}, thread=THREAD)
        ids = {q.value: q.id for q in elsewhere.get_state(THREAD).interrupts}
        elsewhere.answer(ids["first?"], "one")

        def answer(ids: Any = ids, elsewhere: Any = elsewhere) -> None:
            elsewhere.answer(ids["second?"], "two")

        store = Meanwhile(plain, write, answer)
        graph = a_question_that_is_dropped(World()).compile(checkpointer=store, name="drop")
        call(api, graph, Command(update={"item": 1}))
        assert_the_rows_are_those_of_the_log(graph, plain)
        outcomes.append(plain.question(ids["second?"]).row.status)
        if not store.has_acted:
            break
    assert outcomes == ["answered"] * write + ["withdrawn"]


@pytest.mark.parametrize("machine", ["sqlite"], indirect=True)  # nobody else reaches a memory
def test_a_run_whose_lease_was_taken_over_performs_nothing_more(machine: Machine) -> None:
    world, ours, theirs = World(), machine.start(), machine.start()
    ours.host, theirs.host = Elsewhere(1), Elsewhere(2)
    heirs: list[Any] = []

    def slow(state: Notes) -> dict[str, Any]:
        if not heirs:
            machine.clock.advance(60)  # this machine was asleep, and its lease has lapsed
            heir = StateGraph(Notes).add_node(slow).add_edge(START, "slow")
            heirs.append(heir.compile(checkpointer=theirs, name="slow"))
            Context().run(lambda: heirs[0].invoke(None, thread=THREAD))  # not as a child run
        return {"notes": [once(world.do, "slow", "charge")]}

    graph = StateGraph(Notes).add_node(slow).add_edge(START, "slow")
    compiled = graph.compile(checkpointer=ours, name="slow")
    with pytest.raises(LeaseLost):
        compiled.invoke({"notes": []}, thread=THREAD)
    assert [effect.name for effect in world.lives[0]] == ["charge"]
    assert heirs[0].get_state(THREAD).values["notes"] == ["slow.charge"]


def test_a_long_run_whose_lease_lapsed_and_was_not_taken_goes_on(machine: Machine) -> None:
    world, store = World(), machine.start()

    def slow(state: Notes) -> dict[str, Any]:
        machine.clock.advance(3600)
        return {"notes": [once(world.do, "slow", "charge")]}

    graph = StateGraph(Notes).add_node(slow).add_edge(START, "slow")
    result = graph.compile(checkpointer=store, name="slow").invoke({"notes": []}, thread=THREAD)
    assert result["notes"] == ["slow.charge"]


def test_a_call_that_is_cancelled_while_it_takes_the_thread_gives_it_back(
    machine: Machine,
) -> None:
    async def cancelled() -> None:
        loop, has_come = asyncio.get_running_loop(), threading.Event()

        def cancel() -> None:
            if threading.current_thread() is not threading.main_thread():
                loop.call_soon_threadsafe(call.cancel)
                loop.call_soon_threadsafe(lambda: loop.call_soon(has_come.set))
                has_come.wait(PATIENCE_S)

        store = Meanwhile(machine.start(), 0, cancel)
        graph = StateGraph(Notes).add_node(worker(World(), "work", "act"))
        graph.add_edge(START, "work")
        compiled = graph.compile(checkpointer=store, name="work")
        call = asyncio.ensure_future(compiled.ainvoke({"notes": []}, thread=THREAD))
        await asyncio.wait({call})
        assert call.cancelled() or not has_come.is_set()
        assert store.load(THREAD).lease.owner is None

    asyncio.run(cancelled())
