"""A process that dies at a chosen write, and the next one that goes on where it was.

Promises: what is counted happened outside of the program, so no crash takes it back; the next
process sees only what the first one wrote: a new store object on the same data, the graph compiled
anew, another name among the processes. Called by the tests beside it.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

from caesura import Command, MemoryStore, SqliteStore, once
from caesura.core.decide import open_questions
from caesura.engine.projections import rows_of
from caesura.testing import Crash, CrashAfter, ManualClock, assert_replays

Api = Literal["sync", "async"]
THREAD = "t"
MOST_ROUNDS = 30


class Effect(NamedTuple):
    """Something done outside. `task` says by which task, `name` what; together they name it."""

    task: str
    name: str
    key: str


class World:
    """What stays when a process dies, beside the log."""

    def __init__(self) -> None:
        self.lives: list[list[Effect]] = [[]]  # the effects, by the process that performed them
        self.finished: list[list[str]] = [[]]  # the tasks that came to their end, likewise
        self.tries: dict[str, int] = {}

    def do(self, task: str, name: str) -> str:
        """To be called within `once`."""
        self.lives[-1].append(Effect(task, name, once.key()))
        return f"{task}.{name}"

    async def do_slowly(self, task: str, name: str) -> str:
        await asyncio.sleep(0)
        return self.do(task, name)

    def finish(self, task: str) -> None:
        self.finished[-1].append(task)

    def fails(self, what: str, *, times: int) -> bool:
        """Whether something outside is still broken; it mends after so many tries."""
        self.tries[what] = self.tries.get(what, 0) + 1
        return self.tries[what] <= times

    def bury(self) -> None:
        """A process has died; what comes now is the next one's."""
        self.lives.append([])
        self.finished.append([])


@dataclass(frozen=True)
class Story:
    """A workflow and the person who answers it."""

    name: str
    build: Callable[[World], Any]  # gives the builder of a graph
    width: int = 1  # tasks that run at once
    input: Any = field(default_factory=lambda: {"notes": []})
    reply: Callable[[Any], Any] = lambda payload: f"yes to {payload}"


class Host:
    """The processes of one machine: only the latest lives."""

    def __init__(self, number: int) -> None:
        self._name = f"process-{number}"

    def identity(self) -> str:
        return self._name

    def is_alive(self, identity: str) -> bool | None:
        return identity == self._name


class Machine:
    """Where the data is, from one process to the next."""

    def __init__(self, kind: str, directory: Path) -> None:
        self.clock = ManualClock()
        self._kind, self._file = kind, directory / "app.db"
        self._memory = MemoryStore(clock=self.clock)
        self._processes = 0
        self._stores: list[Any] = []

    def start(self, writes: float = math.inf, *, written: bool = False) -> CrashAfter:
        """The store of a new process, which dies at a write, or never."""
        self._processes += 1
        store: Any = self._memory
        if self._kind == "sqlite":
            store = SqliteStore(self._file, clock=self.clock, synchronous="normal")
            self._stores.append(store)
        process = CrashAfter(store, writes, written=written)
        process.host = Host(self._processes)
        return process

    def close(self) -> None:
        for store in (*self._stores, self._memory):
            store.close()


class Ending(NamedTuple):
    """What a story came to, as far as anybody can see."""

    result: Any
    values: Any
    answers: list[tuple[str, Any, Any]]  # status, payload, answer


def go_on(story: Story, world: World, store: Any, api: Api, durability: str) -> Ending:
    """Whatever was done before, bring the story to its end, answering what it asks."""
    graph = story.build(world).compile(checkpointer=store, name=story.name)
    if api == "sync":
        result = graph.invoke(story.input, thread=THREAD, request_id="begin", durability=durability)
        for _ in range(MOST_ROUNDS):
            if not result.interrupts:
                break
            answers = {q.id: story.reply(q.value) for q in result.interrupts}
            result = graph.invoke(Command(resume=answers), thread=THREAD, durability=durability)
    else:
        result = asyncio.run(_go_on_async(graph, story, durability))
    state = graph.get_state(THREAD)
    assert state.next == ()
    return Ending(dict(result), state.values, questions_of(graph, store))


async def _go_on_async(graph: Any, story: Story, durability: str) -> Any:
    result = await graph.ainvoke(
        story.input, thread=THREAD, request_id="begin", durability=durability
    )
    for _ in range(MOST_ROUNDS):
        if not result.interrupts:
            break
        answers = {q.id: story.reply(q.value) for q in result.interrupts}
        result = await graph.ainvoke(Command(resume=answers), thread=THREAD, durability=durability)
    return result


def questions_of(graph: Any, store: Any) -> list[tuple[str, Any, Any]]:
    """Every question that was ever shown to people, and what became of it."""
    facts = [graph.codec.decode_value(q.row.body) for q in store.questions(thread=THREAD)]
    return sorted((f["status"], str(f["payload"]), f.get("answer")) for f in facts)


@dataclass
class Undisturbed:
    """The story as it goes when nobody dies."""

    ending: Ending
    effects: set[tuple[str, str]]
    writes: int


def undisturbed(story: Story, kind: str, directory: Path, api: Api, durability: str) -> Undisturbed:
    directory.mkdir()
    machine, world = Machine(kind, directory), World()
    try:
        process = machine.start()
        ending = go_on(story, world, process, api, durability)
        performed = [(effect.task, effect.name) for effect in world.lives[0]]
        assert len(set(performed)) == len(performed)
        return Undisturbed(ending, set(performed), process.writes)
    finally:
        machine.close()


def survive(
    story: Story,
    expected: Undisturbed,
    kind: str,
    directory: Path,
    api: Api,
    durability: str,
    *deaths: tuple[int, bool],
) -> int:
    """Let a process die at each of these writes, one after another; how many did die."""
    directory.mkdir()
    machine, world = Machine(kind, directory), World()
    died = 0
    try:
        for writes, written in deaths:
            process = machine.start(writes, written=written)
            try:
                go_on(story, world, process, api, durability)
            except Crash:
                died += 1
                world.bury()
            if not process.has_crashed:
                break
        process = machine.start()
        ending = go_on(story, world, process, api, durability)
        assert ending == expected.ending
        assert_nothing_finished_was_repeated(story, world, expected, durability)
        assert_the_rows_are_those_of_the_log(story, world, process)
        return died
    finally:
        machine.close()


def assert_nothing_finished_was_repeated(
    story: Story, world: World, expected: Undisturbed, durability: str
) -> None:
    all_effects = [effect for life in world.lives for effect in life]
    assert {(effect.task, effect.name) for effect in all_effects} == expected.effects
    for task, name in expected.effects:
        keys = {e.key for e in all_effects if (e.task, e.name) == (task, name)}
        assert len(keys) == 1, f"{task}.{name} ran under several keys"
    keys = {effect.key for effect in all_effects}
    assert len(keys) == len(expected.effects), "two effects share a key"
    for number, life in enumerate(world.lives):
        later = {e[:2] for following in world.lives[number + 1 :] for e in following}
        repeated = [effect for effect in life if effect[:2] in later]
        assert len(repeated) <= story.width, f"repeated were {repeated}"
        assert len({effect[:2] for effect in life}) == len(life), "twice in one process"
        for effect in repeated:
            last = [e for e in life if e.task == effect.task][-1]
            assert effect == last, f"{effect} had been recorded when {last} began"
    if durability == "sync":
        for number, finished in enumerate(world.finished):
            later_finished = [t for life in world.finished[number + 1 :] for t in life]
            twice = [task for task in finished if task in later_finished]
            assert len(twice) <= story.width, f"ran to their end again: {twice}"


def assert_the_rows_are_those_of_the_log(story: Story, world: World, store: Any) -> None:
    graph = story.build(world).compile(checkpointer=store, name=story.name)
    ledger = graph.ledger_for(THREAD)
    ledger.load()
    assert not open_questions(ledger.view)
    row, questions, ended = rows_of(graph, ledger)
    assert store.threads()[0].row == row
    assert {q.row.id: q.row for q in store.questions(thread=THREAD)} == questions
    assert {(run.step, run.index): run for run in store.runs(THREAD)} == {
        (run.step, run.index): run for run in ended
    }
    assert_replays(graph, THREAD)
