"""The workflows in which processes die: each shows another way in which work can be under way."""

from __future__ import annotations

import asyncio
import operator
from itertools import pairwise
from typing import Annotated, Any, TypedDict

from caesura import END, START, RetryPolicy, Send, StateGraph, interrupt, once
from tests.behaviour.crash.deaths import Story, World


class Notes(TypedDict, total=False):
    notes: Annotated[list[str], operator.add]
    round: int
    item: int


def worker(world: World, name: str, *effects: str) -> Any:
    """A node that performs effects, one after another."""

    def work(state: Notes) -> dict[str, Any]:
        done = [once(world.do, name, effect) for effect in effects]
        world.finish(name)
        return {"notes": done}

    work.__name__ = name
    return work


def chain(*nodes: Any) -> Any:
    graph = StateGraph(Notes)
    names = [START, *(node.__name__ for node in nodes), END]
    for node in nodes:
        graph.add_node(node)
    for source, target in pairwise(names):
        graph.add_edge(source, target)
    return graph


def a_line(world: World) -> Any:
    return chain(
        worker(world, "pick", "reserve", "label"),
        worker(world, "pack"),
        worker(world, "ship", "book", "hand over"),
    )


def a_loop_that_asks(world: World) -> Any:
    def turn(state: Notes) -> dict[str, Any]:
        number = state.get("round", 0)
        before = once(world.do, f"turn {number}", "prepare")
        answer = interrupt(f"round {number}?", key="round")
        after = once(world.do, f"turn {number}", "act")
        world.finish(f"turn {number}")
        return {"notes": [before, answer, after], "round": number + 1}

    graph = StateGraph(Notes).add_node(turn).add_edge(START, "turn")
    return graph.add_conditional_edges(
        "turn", lambda state: "turn" if state["round"] < 3 else END, ["turn", END]
    )


def branches_side_by_side(world: World) -> Any:
    def ask(state: Notes) -> dict[str, Any]:
        before = once(world.do, "ask", "look up")
        answers = [interrupt("price?"), interrupt("address?", key="address")]
        after = once(world.do, "ask", "confirm")
        world.finish("ask")
        return {"notes": [before, *answers, after]}

    graph = StateGraph(Notes)
    branches = worker(world, "left", "one", "two"), worker(world, "right", "three"), ask
    for branch in branches:
        graph.add_node(branch)
        graph.add_edge(START, branch.__name__)
    graph.add_node(worker(world, "join", "sum"))
    return graph.add_edge([branch.__name__ for branch in branches], "join")


def a_graph_in_a_graph(world: World) -> Any:
    def review(state: Notes) -> dict[str, Any]:
        before = once(world.do, "review", "fetch")
        answer = interrupt("approve?", key="verdict")
        after = once(world.do, "review", "file")
        world.finish("review")
        return {"notes": [before, answer, after]}

    inner = chain(worker(world, "inner", "open"), review, worker(world, "close", "seal"))
    graph = StateGraph(Notes).add_node(worker(world, "first", "begin"))
    graph.add_node("child", inner.compile(name="inner"))
    graph.add_node(worker(world, "last", "end"))
    return (
        graph.add_edge(START, "first")
        .add_edge("first", "child")
        .add_edge("child", "last")
        .add_edge("last", END)
    )


def a_graph_called_by_a_function(world: World) -> Any:
    def review(state: Notes) -> dict[str, Any]:
        answer = interrupt("approve?")
        after = once(world.do, "review", "file")
        world.finish("review")
        return {"notes": [answer, after]}

    inner = chain(worker(world, "inner", "open"), review).compile(name="inner")

    def call(state: Notes) -> dict[str, Any]:
        before = once(world.do, "call", "dial")
        got = inner.invoke({"notes": []})["notes"]
        after = once(world.do, "call", "hang up")
        world.finish("call")
        return {"notes": [before, *got, after]}

    return chain(call)


def a_fan_out(world: World) -> Any:
    def one(state: Notes) -> dict[str, Any]:
        task = f"one {state['item']}"
        done = [once(world.do, task, "first"), once(world.do, task, "second")]
        world.finish(task)
        return {"notes": done}

    def spread(state: Notes) -> list[Send]:
        return [Send("one", {"item": item}) for item in range(4)]

    graph = StateGraph(Notes).add_node(one).add_node(worker(world, "gather", "sum"))
    return graph.add_conditional_edges(START, spread, ["one"]).add_edge("one", "gather")


def an_error_that_is_handled(world: World) -> Any:
    def pay(state: Notes) -> dict[str, Any]:
        once(world.do, "pay", "reserve")
        raise ValueError("the card was refused")

    def apologise(state: Notes) -> dict[str, Any]:
        done = once(world.do, "apologise", "write")
        world.finish("apologise")
        return {"notes": [done]}

    graph = StateGraph(Notes).add_node(pay, error_handler=apologise)
    return (
        graph.add_node(worker(world, "after", "close"))
        .add_edge(START, "pay")
        .add_edge("pay", "after")
    )


def retries(world: World) -> Any:
    def fetch(state: Notes) -> dict[str, Any]:
        before = once(world.do, "fetch", "connect")
        if world.fails("fetch", times=2):
            raise ConnectionError("try again")
        after = once(world.do, "fetch", "read")
        world.finish("fetch")
        return {"notes": [before, after]}

    graph = StateGraph(Notes).add_node(fetch, retry_policy=RetryPolicy(max_attempts=5))
    return graph.add_edge(START, "fetch")


def an_edge_that_asks(world: World) -> Any:
    def where(state: Notes) -> str:
        once(world.do, "where", "look at the map")
        answer = interrupt("left or right?", key="way")
        once(world.do, "where", "turn")
        return "left" if "yes" in answer else "right"

    graph = StateGraph(Notes)
    for node in (
        worker(world, "walk", "step"),
        worker(world, "left", "arrive left"),
        worker(world, "right", "arrive right"),
    ):
        graph.add_node(node)
    return graph.add_edge(START, "walk").add_conditional_edges("walk", where, ["left", "right"])


def async_strands(world: World) -> Any:
    async def race(state: Notes) -> dict[str, Any]:
        one, two = await asyncio.gather(
            once(world.do_slowly, "race/1", "one"), once(world.do_slowly, "race/2", "two")
        )
        answer = interrupt("who won?")
        three = await once.thread(world.do, "race", "prize")
        world.finish("race")
        return {"notes": [one, two, answer, three]}

    async def beside(state: Notes) -> dict[str, Any]:
        done = await once(world.do_slowly, "beside", "watch")
        world.finish("beside")
        return {"notes": [done]}

    graph = StateGraph(Notes).add_node(race).add_node(beside)
    return graph.add_edge(START, "race").add_edge(START, "beside")


STORIES = (
    Story("line", a_line),
    Story("loop", a_loop_that_asks),
    Story("branches", branches_side_by_side, width=3),
    Story("subgraph", a_graph_in_a_graph, width=2),
    Story("called", a_graph_called_by_a_function, width=2),
    Story("fan-out", a_fan_out, width=4),
    Story("handler", an_error_that_is_handled),
    Story("retries", retries),
    Story("edge", an_edge_that_asks),
    Story("async", async_strands, width=3),
)
