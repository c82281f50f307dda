"""A log is replayed against today's code, and the first difference is named."""

from __future__ import annotations

import asyncio
import operator
from itertools import pairwise
from typing import Annotated, Any, TypedDict

import pytest

from caesura import (
    END,
    START,
    Command,
    MemoryStore,
    RetryPolicy,
    Send,
    StateGraph,
    interrupt,
    once,
)
from caesura.testing import aassert_replays, assert_replays


class Notes(TypedDict, total=False):
    notes: Annotated[list[str], operator.add]
    item: int


performed: list[str] = []


def charge(what: str) -> str:
    performed.append(what)
    return f"charged {what}"


@pytest.fixture
def store():
    performed.clear()
    with MemoryStore() as opened:
        yield opened


def chain(store: Any, *nodes: Any, **edges: Any) -> Any:
    graph = StateGraph(Notes)
    names = [START, *(node.__name__ for node in nodes), END]
    for node in nodes:
        graph.add_node(node)
    for source, target in pairwise(names):
        graph.add_edge(source, target)
    return graph.compile(checkpointer=store, name="story")


def pay(state: Notes) -> dict[str, Any]:
    return {"notes": [once(charge, "5")]}


def ask(state: Notes) -> dict[str, Any]:
    return {"notes": [interrupt("sure?", key="sure")]}


def run_to_the_end(graph: Any, value: Any = None) -> None:
    result = graph.invoke(value or {"notes": []}, thread="t")
    while result.interrupts:
        result = graph.invoke(
            Command(resume={question.id: "yes" for question in result.interrupts}), thread="t"
        )


def differs(graph: Any) -> str:
    before = list(performed)
    with pytest.raises(AssertionError) as raised:
        assert_replays(graph, "t")
    assert performed == before, "a replay performs nothing"
    return str(raised.value)


def test_unchanged_code_replays_and_performs_nothing(store):
    graph = chain(store, pay, ask)
    run_to_the_end(graph)
    head = store.head("t")
    assert assert_replays(graph, "t") == 3  # the node that asked ran twice
    assert performed == ["5"]
    assert store.head("t") == head


def test_unchanged_code_replays_through_the_async_api(store):
    async def slow(state):
        return {"notes": [await once.thread(charge, "6")]}

    graph = chain(store, slow, ask)
    run_to_the_end(graph)
    assert asyncio.run(aassert_replays(graph, "t")) == 3
    assert performed == ["6"]


def test_an_effect_that_was_not_recorded_is_a_difference(store):
    run_to_the_end(chain(store, pay))

    def pay_twice(state):
        return {"notes": [once(charge, "5"), once(charge, "tip")]}

    pay_twice.__name__ = "pay"
    said = differs(chain(store, pay_twice))
    assert "node 'pay'" in said
    assert "step 0" in said
    assert "performs charge('tip'), which is not in the log" in said


def test_an_effect_that_is_performed_no_more_is_a_difference(store):
    run_to_the_end(chain(store, pay))

    def pay_nothing(state):
        return {"notes": ["charged 5"]}

    pay_nothing.__name__ = "pay"
    assert "performs charge('5')" in differs(chain(store, pay_nothing))


def test_other_arguments_of_an_effect_are_a_difference(store):
    run_to_the_end(chain(store, pay))

    def pay_more(state):
        return {"notes": [once(charge, "50")]}

    pay_more.__name__ = "pay"
    assert "'50'" in differs(chain(store, pay_more))


def test_another_result_is_a_difference_that_shows_both(store):
    run_to_the_end(chain(store, pay))

    def thank(state):
        return {"notes": [once(charge, "5") + ", thank you"]}

    thank.__name__ = "pay"
    said = differs(chain(store, thank))
    assert "['charged 5']" in said
    assert "['charged 5, thank you']" in said


def test_another_question_is_a_difference_that_shows_both(store):
    run_to_the_end(chain(store, ask))

    def ask_else(state):
        return {"notes": [interrupt("really?", key="sure")]}

    ask_else.__name__ = "ask"
    said = differs(chain(store, ask_else))
    assert "asks ('sure?') (key 'sure')" in said
    assert "asks ('really?') (key 'sure')" in said


def test_a_question_that_is_asked_no_more_is_a_difference(store):
    run_to_the_end(chain(store, ask))

    def tell(state):
        return {"notes": ["yes"]}

    tell.__name__ = "ask"
    assert "finishes" in differs(chain(store, tell))


def test_another_next_node_is_a_difference(store):
    run_to_the_end(chain(store, pay))
    said = differs(chain(store, pay, ask))
    assert "is followed by nothing" in said
    assert "ask" in said


def test_a_node_that_is_no_more_is_a_difference(store):
    run_to_the_end(chain(store, pay))
    assert "is followed by pay" in differs(chain(store, ask))


def test_a_node_that_changes_its_state_in_place_is_told_so(store):
    def sneak(state):
        state["notes"].append("sneaked in")

    graph = chain(store, sneak)
    graph.invoke({"notes": ["first"]}, thread="t")
    assert "in place" in differs(graph)


def test_another_route_is_a_difference(store):
    def graph(where):
        builder = StateGraph(Notes).add_node(pay).add_node(ask).add_edge(START, "pay")
        builder.add_conditional_edges("pay", lambda state: where, ["ask", END])
        return builder.compile(checkpointer=store, name="story")

    run_to_the_end(graph(END))
    assert_replays(graph(END), "t")
    assert "ask" in differs(graph("ask"))


def test_side_by_side_tasks_and_sends_replay(store):
    def one(state):
        return {"notes": [once(charge, str(state["item"]))]}

    def graph(items):
        builder = StateGraph(Notes).add_node(one).add_node(ask)
        builder.add_conditional_edges(
            START, lambda state: [Send("one", {"item": item}) for item in items], ["one"]
        )
        builder.add_edge("one", "ask")
        return builder.compile(checkpointer=store, name="story")

    run_to_the_end(graph(range(3)))
    assert assert_replays(graph(range(3)), "t") == 6
    assert "Send('one'" in differs(graph(range(2)))


def test_child_graphs_replay_task_by_task(store):
    def graph(*inner):
        child = StateGraph(Notes)
        for node in inner:
            child.add_node(node).add_edge(START, node.__name__)
        builder = StateGraph(Notes).add_node("child", child.compile(name="child"))
        builder.add_edge(START, "child").add_node(pay).add_edge("child", "pay")
        return builder.compile(checkpointer=store, name="story")

    run_to_the_end(graph(ask))
    assert assert_replays(graph(ask), "t") == 4

    def ask_else(state):
        return {"notes": [interrupt("really?", key="sure")]}

    ask_else.__name__ = "ask"
    assert "graph 'child'" in differs(graph(ask_else))


def test_error_handlers_and_retries_replay(store):
    tries = []

    def fail(state):
        once(charge, "deposit")
        tries.append(1)
        raise ValueError("refused")

    def mend(state, error):
        return {"notes": [once(charge, "refund")]}

    builder = StateGraph(Notes)
    builder.add_node(fail, error_handler=mend, retry_policy=RetryPolicy(max_attempts=2))
    graph = builder.add_edge(START, "fail").compile(checkpointer=store, name="story")
    run_to_the_end(graph)
    assert assert_replays(graph, "t") == 1  # the handler; what failed is not compared


def test_a_waiting_thread_replays_as_far_as_it_came(store):
    graph = chain(store, pay, ask)
    graph.invoke({"notes": []}, thread="t")
    assert assert_replays(graph, "t") == 2


def test_what_went_back_in_time_replays(store):
    graph = chain(store, pay, ask)
    run_to_the_end(graph)
    before_ask = next(s for s in graph.get_state_history("t") if s.next == ("ask",))
    graph.invoke(None, before_ask.config)
    assert assert_replays(graph, "t") == 4
