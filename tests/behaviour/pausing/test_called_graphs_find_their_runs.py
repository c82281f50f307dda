"""A graph that is called again gets its own run, answers and result, whatever comes first this time."""

from __future__ import annotations

import asyncio
import threading
from contextvars import copy_context

import pytest

from caesura import START, Command, RetryPolicy, StateGraph, interrupt, once
from caesura.errors import JournalSealed, LeaseLost
from tests.behaviour.both import PATIENCE_S, Story


def graph_of(*nodes):
    """A graph without a store, to be called by a node."""
    builder = StateGraph(Story)
    previous = START
    for node in nodes:
        builder.add_node(node).add_edge(previous, node.__name__)
        previous = node.__name__
    return builder.compile(name="child")


def asking():
    """A graph that asks about the amount it was given."""

    def ask(state):
        return {"notes": [f"{state['amount']}: {interrupt(state['amount'])}"]}

    return graph_of(ask)


def answer_all(app, graph, waiting):
    """Answer each question with what it is about, one at a time, and tell in which order."""
    order = []
    while waiting.interrupts:
        question = waiting.interrupts[0]
        order.append(question.value)
        waiting = app.answer(graph, {question.id: f"yes to {question.value}"})
    return order, waiting


class Turns:
    """Lets the strands of a node come to a place in the order that the test says."""

    def __init__(self, order):
        self.order = list(order)

    async def come(self, who):
        while self.order and self.order[0] != who:  # noqa: ASYNC110 - the order is data
            await asyncio.sleep(0)
        if self.order:
            self.order.pop(0)


# ------------------------------------------------------------------------------ side by side
@pytest.mark.parametrize("first", [[0, 1, 2], [2, 1, 0], [1, 2, 0]])
@pytest.mark.parametrize("later", [[0, 1, 2], [2, 1, 0]])
def test_calls_side_by_side_get_their_own_answers_in_whatever_order_they_come(app, first, later):
    child, orders = asking(), [first]

    async def node(state):
        turns = Turns(orders.pop() if orders else later)

        async def call(number):
            await turns.come(number)
            return (await child.ainvoke({"amount": number}))["notes"][0]

        found = await asyncio.gather(*map(call, range(3)), return_exceptions=True)
        return {"notes": [note for note in found if isinstance(note, str)]}

    graph = app.chain(node)
    order, result = answer_all(app, graph, app.run(graph, {}))
    assert sorted(order) == [0, 1, 2]
    assert result["notes"] == [f"{n}: yes to {n}" for n in range(3)]


def test_a_strand_that_was_late_at_first_does_not_get_the_answer_of_another(app, till):
    def ask(state):
        verdict = interrupt({"approve": state["amount"]})
        once(till.charge, state["amount"])
        return {"notes": [f"{state['amount']}: {verdict}"]}

    child, late = graph_of(ask), []

    async def node(state):
        turns = Turns([1, 0] if not late else [0, 1])
        late.append(True)

        async def call(number):
            await turns.come(number)
            return (await child.ainvoke({"amount": number}))["notes"][0]

        return {"notes": await asyncio.gather(call(0), call(1))}

    graph = app.chain(node)
    waiting = app.run(graph, {})
    while waiting.interrupts:
        question = waiting.interrupts[0]
        waiting = app.answer(graph, {question.id: f"yes to {question.value['approve']}"})
    assert waiting["notes"] == ["0: yes to 0", "1: yes to 1"]
    assert sorted(till.charged) == [0, 1]


def test_calls_that_had_finished_give_their_own_results_again(app):
    def tell(state):
        return {"notes": [f"result {state['amount']}"]}

    child, orders = graph_of(tell), [[1, 0], [0, 1]]

    async def node(state):
        turns = Turns(orders.pop())

        async def call(number):
            await turns.come(number)
            return (await child.ainvoke({"amount": number}))["notes"][0]

        found = await asyncio.gather(call(0), call(1))
        return {"notes": [*found, interrupt("sure?")]}

    graph = app.chain(node)
    app.run(graph, {})
    assert app.answer(graph, "yes")["notes"] == ["result 0", "result 1", "yes"]


def test_calls_with_one_input_are_as_many_runs(app):
    child = asking()

    async def node(state):
        calls = [child.ainvoke({"amount": 7}) for _ in range(2)]
        found = await asyncio.gather(*calls, return_exceptions=True)
        return {"notes": [f["notes"][0] for f in found if isinstance(f, dict)]}

    graph = app.chain(node)
    order, result = answer_all(app, graph, app.run(graph, {}))
    assert order == [7, 7]
    assert result["notes"] == ["7: yes to 7"] * 2


# --------------------------------------------------------------------- in the node's own order
def test_calls_that_the_code_swaps_keep_their_results(app):
    def tell(state):
        return {"notes": [f"result {state['amount']}"]}

    child, orders = graph_of(tell), [[1, 2], [2, 1]]

    def node(state):
        results = {n: child.invoke({"amount": n})["notes"][0] for n in orders.pop()}
        interrupt("sure?")
        return {"notes": [results[1], results[2]]}

    graph = app.chain(node)
    app.run(graph, {})
    assert app.answer(graph, "yes")["notes"] == ["result 1", "result 2"]


def test_a_call_whose_input_differs_each_time_goes_on_where_it_was(app):
    child, numbers = asking(), iter(range(9))

    async def node(state):
        return {"notes": (await child.ainvoke({"amount": next(numbers)}))["notes"]}

    graph = app.chain(node)
    order, result = answer_all(app, graph, app.run(graph, {}))
    assert order == [0]
    assert result["notes"] == ["0: yes to 0"]


def test_a_call_beside_the_node_s_own_order_is_not_taken_for_one_within_it(app):
    child, passes = asking(), []

    async def node(state):
        passes.append(True)
        aside = asyncio.ensure_future(child.ainvoke({"amount": 1}))
        if len(passes) == 1:
            await asyncio.wait({aside})
        try:
            own = await child.ainvoke({"amount": 2})
        finally:
            await asyncio.wait({aside})
        return {"notes": [*aside.result()["notes"], *own["notes"]]}

    graph = app.chain(node)
    order, result = answer_all(app, graph, app.run(graph, {}))
    assert sorted(order) == [1, 2]
    assert result["notes"] == ["1: yes to 1", "2: yes to 2"]


def test_an_edge_that_calls_the_graph_of_its_node_gets_a_run_of_its_own(app):
    child = asking()

    def node(state):
        return {"notes": child.invoke({"amount": 1})["notes"]}

    def edge(state):
        child.invoke({"amount": 1})
        return "last"

    def last(state):
        return {"notes": ["last"]}

    builder = StateGraph(Story).add_node(node).add_node(last).add_edge(START, "node")
    graph = app.compile(builder.add_conditional_edges("node", edge, ["last"]))
    order, result = answer_all(app, graph, app.run(graph, {}))
    assert order == [1, 1]
    assert result["notes"] == ["1: yes to 1", "last"]


def test_a_graph_that_is_a_node_goes_on_where_it_was_after_an_update(app):
    ran = []

    def write(state):
        ran.append(state["amount"])
        return {"notes": ["written"]}

    def ask(state):
        return {"notes": [interrupt("sure?")]}

    child = graph_of(write, ask)
    graph = app.compile(StateGraph(Story).add_node("child", child).add_edge(START, "child"))
    app.run(graph, {"amount": 1})
    app.update(graph, {"amount": 2}, as_node=START)
    app.run(graph, None)
    app.answer(graph, "yes")
    assert ran[0] == 1


# ------------------------------------------------------------------- what runs beside a question
async def gathered(*strands):
    return await asyncio.gather(*strands)


async def gathered_with_errors(*strands):
    return await asyncio.gather(*strands, return_exceptions=True)


async def in_a_task_group(*strands):
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(strand) for strand in strands]
    return [task.result() for task in tasks]


async def called(child, begun):
    """Call the graph; on a later pass it has finished, and its node sets nothing."""
    try:
        return await child.ainvoke({})
    finally:
        begun.set()


@pytest.mark.parametrize(
    "together", [gathered, gathered_with_errors, in_a_task_group], ids=lambda f: f.__name__
)
def test_a_graph_that_runs_beside_a_question_has_finished_when_the_call_returns(app, together):
    ran = []

    async def node(state):
        begun, asked = asyncio.Event(), asyncio.Event()

        async def works(state):
            begun.set()
            await asked.wait()
            for _ in range(5):
                await asyncio.sleep(0)
            ran.append("works")
            return {"notes": ["worked"]}

        def ends(state):
            ran.append("ends")

        async def ask():
            await begun.wait()
            try:
                return interrupt("sure?")
            finally:
                asked.set()

        child = graph_of(works, ends)
        answer, child_result = await together(ask(), called(child, begun))
        return {"notes": [answer, *child_result["notes"]]}

    graph = app.chain(node)
    app.run(graph, {})
    assert ran == ["works", "ends"]
    assert app.answer(graph, "yes")["notes"] == ["yes", "worked"]
    assert ran == ["works", "ends"]


def test_its_effects_are_recorded_before_the_call_returns(app, till):
    async def node(state):
        begun, asked = asyncio.Event(), asyncio.Event()

        async def works(state):
            begun.set()
            await asked.wait()
            return {"notes": [await once(till.charge_slowly, 5)]}

        async def ask():
            await begun.wait()
            try:
                return interrupt("sure?")
            finally:
                asked.set()

        answer, child_result = await asyncio.gather(ask(), called(graph_of(works), begun))
        return {"notes": [answer, *child_result["notes"]]}

    graph = app.chain(node)
    app.run(graph, {})
    assert till.charged == [5]
    assert app.answer(graph, "yes")["notes"] == ["yes", "receipt 1"]
    assert till.charged == [5]


def test_its_questions_are_asked_together_with_the_other(app):
    async def node(state):
        begun, asked = asyncio.Event(), asyncio.Event()

        async def asks(state):
            begun.set()
            await asked.wait()
            await asyncio.sleep(0)
            return {"notes": [interrupt("inside?")]}

        async def ask():
            await begun.wait()
            try:
                return interrupt("outside?")
            finally:
                asked.set()

        async with asyncio.TaskGroup() as group:
            outside = group.create_task(ask())
            inside = group.create_task(called(graph_of(asks), begun))
        return {"notes": [outside.result(), *inside.result()["notes"]]}

    graph = app.chain(node)
    waiting = app.run(graph, {})
    by_value = {question.value: question.id for question in waiting.interrupts}
    assert sorted(by_value) == ["inside?", "outside?"]
    result = app.answer(graph, {by_value["inside?"]: "in", by_value["outside?"]: "out"})
    assert result["notes"] == ["out", "in"]


def test_a_graph_that_a_thread_of_the_node_called_is_waited_for_too(app, till):
    def node(state):
        begun, asked = threading.Event(), threading.Event()
        results = []

        def works(state):
            begun.set()
            assert asked.wait(PATIENCE_S)
            return {"notes": [once(till.charge, 5)]}

        def call():
            try:
                results.append(graph_of(works).invoke({}))
            finally:
                begun.set()

        thread = threading.Thread(target=copy_context().run, args=(call,))
        thread.start()
        assert begun.wait(PATIENCE_S)
        try:
            answer = interrupt("sure?")
        finally:
            asked.set()
        thread.join(PATIENCE_S)
        return {"notes": [answer, *results[0]["notes"]]}

    graph = app.chain(node)
    app.run(graph, {})
    assert till.charged == [5]
    assert app.answer(graph, "yes")["notes"] == ["yes", "receipt 1"]
    assert till.charged == [5]


def test_a_graph_whose_strand_was_cancelled_without_a_question_stops(app):
    cleaned_up = []

    async def hangs(state):
        try:
            await asyncio.Event().wait()
        finally:
            cleaned_up.append("child")

    async def node(state):
        calling = asyncio.ensure_future(graph_of(hangs).ainvoke({}))
        for _ in range(20):
            await asyncio.sleep(0)
        calling.cancel()
        with pytest.raises(asyncio.CancelledError):
            await calling
        return {"notes": [*cleaned_up, "went on"]}

    assert app.run(app.chain(node), {})["notes"] == ["child", "went on"]


@pytest.mark.parametrize("app", ["async"], indirect=True)
def test_a_graph_that_hangs_beside_a_question_does_not_keep_the_call_from_being_cancelled(app):
    async def story():
        stands = asyncio.Event()

        async def hangs(state):
            stands.set()
            await asyncio.Event().wait()

        async def node(state):
            async def ask():
                await stands.wait()
                return interrupt("sure?")

            await asyncio.gather(ask(), graph_of(hangs).ainvoke({}))

        graph = app.chain(node)
        call = asyncio.create_task(graph.ainvoke({}, thread="t"))
        await stands.wait()
        for _ in range(50):
            await asyncio.sleep(0)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(call, PATIENCE_S)
        assert (await graph.aget_state("t")).next == ("node",)

    asyncio.run(story())


@pytest.mark.parametrize("app", ["async"], indirect=True)
def test_a_cancelled_call_does_not_wait_for_a_sync_node_of_a_graph_in_a_thread(app):
    stands, may_go_on, refused = threading.Event(), threading.Event(), []

    def works(state):
        stands.set()
        assert may_go_on.wait(PATIENCE_S)
        try:
            once(len, "late")
        except BaseException as error:
            refused.append(error)
            raise

    def node(state):
        graph_of(works).invoke({})

    graph = app.chain(node)

    async def story():
        call = asyncio.create_task(graph.ainvoke({}, thread="t"))
        while not stands.is_set():  # noqa: ASYNC110 - a thread sets it
            await asyncio.sleep(0)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(call, PATIENCE_S)
        may_go_on.set()
        while not refused:  # noqa: ASYNC110 - a thread fills it
            await asyncio.sleep(0)

    asyncio.run(story())
    assert isinstance(refused[0], asyncio.CancelledError | JournalSealed | LeaseLost)


def test_a_graph_in_a_node_that_ran_out_of_time_stops_at_its_next_step(app):
    ran, may_go_on = [], threading.Event()

    def slow(state):
        if not may_go_on.is_set():
            may_go_on.wait(0.2)
        ran.append("slow")
        may_go_on.set()

    def after(state):
        ran.append("after")
        return {"notes": ["done"]}

    child = graph_of(slow, after)

    def node(state):
        return {"notes": child.invoke({})["notes"]}

    policy = RetryPolicy(max_attempts=50, initial_interval=0.0)
    builder = StateGraph(Story).add_node("node", node, timeout=0.1, retry_policy=policy)
    graph = app.compile(builder.add_edge(START, "node"))
    assert app.run(graph, {})["notes"] == ["done"]
    assert ran == ["slow", "after"]


def test_a_command_is_still_no_input_of_a_graph_that_is_called(app):
    child = asking()

    def node(state):
        child.invoke(Command(resume=1))

    with pytest.raises(NotImplementedError):
        app.run(app.chain(node), {})
