"""Random programs, answered in random ways, with processes that die in between."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from caesura import Command
from caesura.core.events import Answered
from caesura.core.history import Fold
from caesura.core.view import ThreadView
from caesura.engine import folios
from caesura.engine.families import Family
from caesura.engine.projections import rebuild, rows_of
from caesura.testing import Crash, CrashAfter, assert_replays
from tests.behaviour.crash.deaths import THREAD, Machine, World, questions_of
from tests.properties.programs import Program, build, programs, width

MOST_ROUNDS = 200

steady = settings(derandomize=True, database=None, deadline=None, max_examples=150)


@pytest.fixture(autouse=True, scope="module")
def _snapshots_all_the_time():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(folios, "SNAPSHOT_FLOOR", 200)
        yield


def reply(payload: Any) -> Any:
    """What a person answers; the same for the same question, and of every shape."""
    shapes = ["yes", 7, None, False, {"ok": True}, {}, [1, [2]], ""]
    return shapes[sum(map(ord, payload["task"])) % len(shapes)]


class Person:
    """Answers what is open: all at once or one at a time, here or from elsewhere, in any order."""

    def __init__(self, chance: random.Random, *, api: str, durability: str) -> None:
        self._chance, self._api, self._durability = chance, api, durability

    def bring_to_an_end(self, graph: Any) -> Any:
        result = self._call(graph, "invoke", {"notes": []}, request_id="begin")
        for _ in range(MOST_ROUNDS):
            if not result.interrupts:
                return result
            asked = list(result.interrupts)
            self._chance.shuffle(asked)
            asked = asked[: self._chance.randint(1, len(asked))]
            if self._chance.random() < 0.5:
                answers = {question.id: reply(question.value) for question in asked}
                result = self._call(graph, "invoke", Command(resume=answers))
            else:
                for question in asked:
                    self._answer(graph, question)
                result = self._call(graph, "invoke", None)
        raise AssertionError("the program asks for ever")

    def _answer(self, graph: Any, question: Any) -> None:
        if self._api == "sync":
            graph.answer(question.id, reply(question.value))
        else:
            asyncio.run(graph.aanswer(question.id, reply(question.value)))

    def _call(self, graph: Any, method: str, value: Any, **options: Any) -> Any:
        options |= {"thread": THREAD, "durability": self._durability}
        if self._api == "sync":
            return graph.invoke(value, **options)
        return asyncio.run(graph.ainvoke(value, **options))


ways = st.builds(
    lambda seed, api, durability: Person(random.Random(seed), api=api, durability=durability),
    st.integers(0, 1000),
    st.sampled_from(["sync", "async"]),
    st.sampled_from(["sync", "async", "exit"]),
)


def compiled(program: Program, world: World, store: Any) -> Any:
    return build(program, world).compile(checkpointer=store, name="program")


def folded(graph: Any, store: Any) -> ThreadView:
    """The whole log, from its first record, without any snapshot."""
    fold = Fold(ThreadView(), Family(graph.plan).spec)
    for record in store.read(THREAD):
        fold.apply(*graph.codec.decode(record.body))
    return fold.view


def assert_the_log_tells_it_all(graph: Any, store: Any, result: Any) -> None:
    """The log, the state, the snapshots, the rows and a replay say the same."""
    ledger = graph.ledger_for(THREAD)
    ledger.load()
    view = folded(graph, store)
    assert view.runs[0].values == dict(result) == graph.get_state(THREAD).values
    assert graph.codec.encode_view(view) == graph.codec.encode_view(ledger.view)
    row, questions, ended = rows_of(graph, ledger)
    assert store.threads()[0].row == row
    assert {q.row.id: q.row for q in store.questions(thread=THREAD)} == questions
    assert {(run.step, run.index): run for run in store.runs(THREAD)} == {
        (run.step, run.index): run for run in ended
    }
    rebuild(graph, THREAD)
    assert store.threads()[0].row == row
    assert {q.row.id: q.row for q in store.questions(thread=THREAD)} == questions
    assert_replays(graph, THREAD)


def assert_every_question_has_one_answer(graph: Any, store: Any) -> None:
    answered = [
        event.question
        for record in store.read(THREAD)
        for event in graph.codec.decode(record.body)[1]
        if type(event) is Answered
    ]
    assert len(answered) == len(set(answered))
    for stored in store.questions(thread=THREAD):
        facts = graph.codec.decode_value(stored.row.body)
        assert facts["status"] == "answered"
        assert facts["answer"] == reply(facts["payload"])


@steady
@given(program=programs, person=ways)
def test_the_log_of_every_program_tells_all_that_its_run_returned(program, person):
    world, machine = World(), Machine("memory", Path())
    store = machine.start()
    graph = compiled(program, world, store)
    result = person.bring_to_an_end(graph)
    effects = [effect[:2] for effect in world.lives[0]]
    assert len(effects) == len(set(effects)), "an effect happened twice"
    assert_the_log_tells_it_all(graph, store, result)
    assert_every_question_has_one_answer(graph, store)


@steady
@given(
    program=programs,
    person=ways,
    deaths=st.lists(st.tuples(st.integers(0, 12), st.booleans()), min_size=1, max_size=3),
)
def test_every_program_comes_to_the_same_end_however_often_it_dies(program, person, deaths):
    undisturbed = World()
    calm = compiled(program, undisturbed, Machine("memory", Path()).start())
    expected = Person(random.Random(0), api="sync", durability="sync").bring_to_an_end(calm)

    world, machine = World(), Machine("memory", Path())
    for writes, written in deaths:
        dying = machine.start(writes, written=written)
        try:
            person.bring_to_an_end(compiled(program, world, dying))
        except Crash:
            world.bury()
    store: CrashAfter = machine.start()
    graph = compiled(program, world, store)
    assert person.bring_to_an_end(graph) == expected

    performed = [effect for life in world.lives for effect in life]
    assert {e[:2] for e in performed} == {e[:2] for e in undisturbed.lives[0]}
    assert len({e[:2] for e in performed}) == len({e.key for e in performed})
    repeats = len(performed) - len(undisturbed.lives[0])
    assert repeats <= width(program) * (len(world.lives) - 1)
    assert_the_log_tells_it_all(graph, store, expected)
    assert_every_question_has_one_answer(graph, store)
    assert questions_of(graph, store) == questions_of(calm, calm.store)
