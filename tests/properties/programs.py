"""Random graphs as plain descriptions, so that a failing one can be read, and their making.

A program is a row of segments, each of which hypothesis can shrink: a node, branches that are
joined, a loop, a fan-out by `Send`, a child graph, an edge that asks.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypedDict

from hypothesis import strategies as st

from caesura import END, START, Send, StateGraph, interrupt, once
from tests.behaviour.crash.deaths import World


class Notes(TypedDict, total=False):
    notes: Annotated[list[Any], operator.add]
    last: Any
    round: int
    item: int


Act = Literal["effect", "ask", "ask by key"]


@dataclass(frozen=True)
class Body:
    """What a node does, in order."""

    acts: tuple[Act, ...] = ()


@dataclass(frozen=True)
class Segment:
    kind: Literal["node", "branches", "loop", "sends", "child", "asking edge"]
    bodies: tuple[Body, ...]
    times: int = 1


Program = tuple[Segment, ...]

_bodies = st.builds(
    Body, st.lists(st.sampled_from(["effect", "ask", "ask by key"]), max_size=3).map(tuple)
)
_segments = st.one_of(
    st.builds(Segment, st.just("node"), st.tuples(_bodies)),
    st.builds(Segment, st.just("branches"), st.lists(_bodies, min_size=2, max_size=3).map(tuple)),
    st.builds(Segment, st.just("loop"), st.tuples(_bodies), st.integers(1, 3)),
    st.builds(Segment, st.just("sends"), st.tuples(_bodies), st.integers(0, 3)),
    st.builds(Segment, st.just("child"), st.lists(_bodies, min_size=1, max_size=2).map(tuple)),
    st.builds(Segment, st.just("asking edge"), st.tuples(_bodies)),
)
programs = st.lists(_segments, min_size=1, max_size=3).map(tuple)


def width(program: Program) -> int:
    """The most tasks that run at once, with those of the graphs around them."""
    return max(
        max(len(s.bodies) if s.kind == "branches" else 1, s.times if s.kind == "sends" else 1)
        for s in program
    )


def perform(world: World, task: str, body: Body) -> list[Any]:
    """A node's work: each act leaves a note."""
    done: list[Any] = []
    for number, act in enumerate(body.acts):
        if act == "effect":
            done.append(once(world.do, task, f"effect {number}"))
        elif act == "ask":
            done.append(interrupt({"task": task, "asks": number}))
        else:
            done.append(interrupt({"task": task, "asks": number}, key=f"key {number}"))
    world.finish(task)
    return done


def node(world: World, name: str, body: Body) -> Any:
    def work(state: Notes) -> dict[str, Any]:
        return {"notes": [name, *perform(world, name, body)]}

    work.__name__ = name
    return work


def build(program: Program, world: World) -> Any:
    """A builder; every segment begins and ends in one node, by which it is tied to the next."""
    graph = StateGraph(Notes)
    last = START
    for number, segment in enumerate(program):
        first, end = _add(graph, f"s{number}", segment, world)
        graph.add_edge(last, first)
        last = end
    return graph.add_edge(last, END)


def _add(graph: Any, name: str, segment: Segment, world: World) -> tuple[str, str]:
    first, end = f"{name}_first", f"{name}_end"
    bodies = segment.bodies
    graph.add_node(node(world, first, Body()))
    if segment.kind == "node":
        graph.add_node(node(world, end, bodies[0])).add_edge(first, end)
        return first, end
    graph.add_node(node(world, end, Body()))
    if segment.kind == "branches":
        names = [f"{name}_{place}" for place in range(len(bodies))]
        for branch, body in zip(names, bodies, strict=True):
            graph.add_node(node(world, branch, body)).add_edge(first, branch)
        graph.add_edge(names, end)
    elif segment.kind == "loop":
        _add_loop(graph, name, segment, world)
    elif segment.kind == "sends":
        _add_sends(graph, name, segment, world)
    elif segment.kind == "child":
        child = StateGraph(Notes)
        inner = [f"{name}_in{place}" for place in range(len(bodies))]
        for place, (own, body) in enumerate(zip(inner, bodies, strict=True)):
            child.add_node(node(world, own, body))
            child.add_edge(inner[place - 1] if place else START, own)
        graph.add_node(f"{name}_child", child.compile(name=f"{name}_child"))
        graph.add_edge(first, f"{name}_child").add_edge(f"{name}_child", end)
    else:

        def where(state: Notes) -> str:
            perform(world, f"{name}_where", bodies[0])
            return end

        graph.add_conditional_edges(first, where, [end])
    return first, end


def _add_loop(graph: Any, name: str, segment: Segment, world: World) -> None:
    def turn(state: Notes) -> dict[str, Any]:
        number = state.get("round", 0)
        task = f"{name}_turn {number}"
        return {"notes": [task, *perform(world, task, segment.bodies[0])], "round": number + 1}

    def again(state: Notes) -> str:
        return f"{name}_turn" if state["round"] % segment.times else f"{name}_end"

    def begin(state: Notes) -> dict[str, Any]:
        return {"round": 0}

    graph.add_node(f"{name}_begin", begin).add_node(f"{name}_turn", turn)
    graph.add_edge(f"{name}_first", f"{name}_begin").add_edge(f"{name}_begin", f"{name}_turn")
    graph.add_conditional_edges(f"{name}_turn", again, [f"{name}_turn", f"{name}_end"])


def _add_sends(graph: Any, name: str, segment: Segment, world: World) -> None:
    def one(state: Notes) -> dict[str, Any]:
        task = f"{name}_one {state['item']}"
        return {"notes": [task, *perform(world, task, segment.bodies[0])]}

    def spread(state: Notes) -> Any:
        if not segment.times:
            return f"{name}_end"
        return [Send(f"{name}_one", {"item": item}) for item in range(segment.times)]

    graph.add_node(f"{name}_one", one)
    graph.add_conditional_edges(f"{name}_first", spread, [f"{name}_one", f"{name}_end"])
    graph.add_edge(f"{name}_one", f"{name}_end")
