"""What else runs in a node when one strand of it asks: begun effects finish, later ones wait."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context

import pytest

from caesura import interrupt, once
from caesura.errors import JournalSealed
from tests.behaviour.both import PATIENCE_S


class Race:
    """An effect that is under way while somebody asks, and one that begins after that."""

    def __init__(self) -> None:
        self.finished: list[str] = []
        self.effect_began = asyncio.Event()
        self.asked = asyncio.Event()

    async def early_effect(self) -> str:
        self.effect_began.set()
        await self.asked.wait()
        await asyncio.sleep(0)
        self.finished.append("early")
        return "early"

    async def late_effect(self) -> str:
        self.finished.append("late")
        return "late"

    async def ask(self) -> str:
        await self.effect_began.wait()
        try:
            return interrupt("sure?")
        finally:
            self.asked.set()

    async def begin_late(self) -> str:
        await self.asked.wait()
        return await once(self.late_effect)


@pytest.fixture
def finished():
    """The effects that came to their end, over all passes."""
    return []


async def all_gathered(*strands):
    return await asyncio.gather(*strands)


async def all_in_a_task_group(*strands):
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(strand) for strand in strands]
    return [task.result() for task in tasks]


@pytest.fixture(params=[all_gathered, all_in_a_task_group], ids=lambda together: together.__name__)
def graph(request, app, finished):
    """A node with three strands: an early effect, a question, and an effect after the question."""

    async def race(state):
        run = Race()
        run.finished = finished
        answers = await request.param(once(run.early_effect), run.ask(), run.begin_late())
        return {"notes": list(answers)}

    return app.chain(race)


def test_an_effect_that_was_under_way_is_finished_before_the_call_returns(app, graph, finished):
    app.run(graph, {})
    assert "early" in finished


def test_an_effect_that_comes_later_does_not_begin(app, graph, finished):
    app.run(graph, {})
    assert "late" not in finished


def test_the_question_beside_a_running_effect_is_asked(app, graph):
    assert [question.value for question in app.run(graph, {}).interrupts] == ["sure?"]


def test_both_effects_have_happened_once_when_all_is_over(app, finished):
    async def early():
        finished.append("early")
        return "early"

    async def late():
        finished.append("late")
        return "late"

    async def race(state):
        effect_over = asyncio.Event()

        async def act_first():
            result = await once(early)
            effect_over.set()
            return result

        async def ask_then_act():
            await effect_over.wait()
            return [interrupt("sure?"), await once(late)]

        first, (answer, last) = await asyncio.gather(act_first(), ask_then_act())
        return {"notes": [first, answer, last]}

    graph = app.chain(race)
    app.run(graph, {})
    result = app.answer(graph, "yes")

    assert result["notes"] == ["early", "yes", "late"]
    assert finished == ["early", "late"]


def test_an_effect_that_was_under_way_is_not_repeated_after_the_answer(app):
    finished = []

    async def race(state):
        effect_began, asked = asyncio.Event(), asyncio.Event()

        async def slow_effect():
            effect_began.set()
            await asked.wait()
            finished.append("slow")
            return "slow"

        async def act():
            try:
                return await once(slow_effect)
            finally:
                effect_began.set()

        async def ask():
            await effect_began.wait()
            try:
                return interrupt("sure?")
            finally:
                asked.set()

        return {"notes": list(await asyncio.gather(act(), ask()))}

    graph = app.chain(race)
    app.run(graph, {})
    result = app.answer(graph, "yes")

    assert result["notes"] == ["slow", "yes"]
    assert finished == ["slow"]


def test_an_effect_in_a_thread_is_finished_before_the_call_returns(app):
    finished = []

    def race(state):
        effect_began, asked = threading.Event(), threading.Event()

        def slow_effect():
            effect_began.set()
            asked.wait(PATIENCE_S)
            finished.append("slow")
            return "slow"

        pool = ThreadPoolExecutor(max_workers=1)
        job = pool.submit(copy_context().run, once, slow_effect)
        job.add_done_callback(lambda _: effect_began.set())
        pool.shutdown(wait=False)
        effect_began.wait(PATIENCE_S)
        try:
            answer = interrupt("sure?")
        finally:
            asked.set()
        return {"notes": [job.result(), answer]}

    graph = app.chain(race)
    app.run(graph, {})
    assert finished == ["slow"]
    assert app.answer(graph, "yes")["notes"] == ["slow", "yes"]
    assert finished == ["slow"]


def test_an_effect_in_a_thread_does_not_begin_after_the_question(app, till):
    refused = []

    def race(state):
        def act_late():
            try:
                once(till.charge, 5)
            except BaseException as paused:
                refused.append(type(paused).__name__)

        try:
            interrupt("sure?")
        finally:
            late = threading.Thread(target=copy_context().run, args=(act_late,))
            late.start()
            late.join(PATIENCE_S)

    app.run(app.chain(race), {})

    assert till.charged == []
    assert refused == ["Suspended"]


def test_questions_of_several_strands_are_asked_together(app):
    async def confirm(state):
        async def ask(what):
            return interrupt(f"{what}?")

        answers = await asyncio.gather(ask("price"), ask("address"), return_exceptions=True)
        return {"notes": list(answers)}

    graph = app.chain(confirm)
    waiting = app.run(graph, {})

    assert sorted(question.value for question in waiting.interrupts) == ["address?", "price?"]


def test_a_pause_wins_over_an_error_in_the_same_group(app):
    async def race(state):
        asked = asyncio.Event()

        async def ask():
            try:
                return interrupt("sure?")
            finally:
                asked.set()

        async def fail():
            await asked.wait()
            raise ValueError("out of paper")

        async with asyncio.TaskGroup() as group:
            group.create_task(ask())
            group.create_task(fail())

    waiting = app.run(app.chain(race), {})

    assert [question.value for question in waiting.interrupts] == ["sure?"]


def test_an_error_that_stood_behind_a_pause_comes_again_on_the_next_pass(app):
    async def race(state):
        asked = asyncio.Event()

        async def ask():
            try:
                return interrupt("sure?")
            finally:
                asked.set()

        async def fail():
            await asked.wait()
            raise ValueError("out of paper")

        await asyncio.gather(ask(), fail())

    graph = app.chain(race)
    app.run(graph, {})

    with pytest.raises(ValueError, match="out of paper"):
        app.answer(graph, "yes")


def test_work_that_outlives_its_node_can_record_nothing(app, till):
    node_is_over = threading.Event()
    errors = []
    late = []

    def hand_over(state):
        def work_on():
            node_is_over.wait(PATIENCE_S)
            try:
                once(till.charge, 5)
            except BaseException as error:
                errors.append(error)

        late.append(threading.Thread(target=copy_context().run, args=(work_on,)))
        late[0].start()
        return {"notes": ["handed over"]}

    result = app.run(app.chain(hand_over), {})
    node_is_over.set()
    late[0].join(PATIENCE_S)

    assert result["notes"] == ["handed over"]
    assert till.charged == []
    assert [type(error) for error in errors] == [JournalSealed]


def test_work_that_outlives_a_paused_node_charges_nothing(app, till):
    call_is_over = threading.Event()
    errors = []
    late = []

    def confirm(state):
        def work_on():
            call_is_over.wait(PATIENCE_S)
            try:
                once(till.charge, 5)
            except BaseException as error:
                errors.append(error)

        late.append(threading.Thread(target=copy_context().run, args=(work_on,)))
        late[0].start()
        interrupt("sure?")

    app.run(app.chain(confirm), {})
    call_is_over.set()
    late[0].join(PATIENCE_S)

    assert till.charged == []
    assert len(errors) == 1
