"""The workflows that several processes run on one SQLite file, and the world that they act on.

Promises: every effect is one line of a file, appended in one write, so that a process that is
killed leaves either the whole line or none. Called by the workers and by the tests beside them.
"""

from __future__ import annotations

import operator
import os
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypedDict

from caesura import END, START, SqliteStore, StateGraph, interrupt, once


class Effect(NamedTuple):
    """Something that was really done, outside of the program, and by which process."""

    name: str
    key: str
    pid: int


class World:
    """What stays when a process dies: a file of effects."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def happen(self, name: str, key: str) -> None:
        line = f"{name} {key} {os.getpid()}\n".encode()
        with open(self.path, "ab", buffering=0) as file:
            file.write(line)

    def effects(self) -> list[Effect]:
        if not self.path.exists():
            return []
        rows = [line.split(" ") for line in self.path.read_text().splitlines()]
        return [Effect(name, key, int(pid)) for name, key, pid in rows]


class Order(TypedDict):
    rounds: int
    notes: Annotated[list[str], operator.add]


def say(line: str) -> None:
    """Tell the parent how far this process came; in one piece, as two branches speak at once."""
    os.write(1, f"{line}\n".encode())


def one_question(store: SqliteStore, world: World) -> Any:
    """Ask once, then charge: the thread that ten processes want to resume."""

    def charge(amount: int) -> str:
        world.happen("charge", once.key())
        return f"charged {amount}"

    def review(state: Order) -> dict[str, Any]:
        verdict = interrupt("may I charge?", key="verdict")
        return {"notes": [verdict, once(charge, 5)]}

    return (
        StateGraph(Order)
        .add_node(review)
        .add_edge(START, "review")
        .compile(checkpointer=store, name="orders")
    )


def many_rounds(store: SqliteStore, world: World, rounds: int) -> Any:
    """A loop of effects and questions beside a parallel branch: something to be killed in."""

    def pack(number: int) -> str:
        say(f"packing {number}")
        world.happen(f"pack-{number}", once.key())
        say(f"packed {number}")
        return f"packed {number}"

    def label(number: int) -> str:
        world.happen(f"label-{number}", once.key())
        say(f"labelled {number}")
        return f"labelled {number}"

    def begin(state: Order) -> dict[str, Any]:
        say(f"round {state['rounds']}")
        return {}

    def packing(state: Order) -> dict[str, Any]:
        number = state["rounds"]
        receipt = once(pack, number)
        verdict = interrupt(f"seal parcel {number}?", key="seal")
        return {"notes": [receipt, f"{verdict} {number}"]}

    def labelling(state: Order) -> dict[str, Any]:
        return {"notes": [once(label, state["rounds"])]}

    def count(state: Order) -> dict[str, Any]:
        say(f"counting {state['rounds']}")
        return {"rounds": state["rounds"] + 1}

    def again(state: Order) -> str:
        return "begin" if state["rounds"] < rounds else END

    graph = StateGraph(Order)
    for node in (begin, packing, labelling, count):
        graph.add_node(node)
    graph.add_edge(START, "begin").add_edge("begin", "packing").add_edge("begin", "labelling")
    graph.add_edge(["packing", "labelling"], "count")
    graph.add_conditional_edges("count", again, ["begin", END])
    return graph.compile(checkpointer=store, name="parcels")


def holding(store: SqliteStore, world: World) -> Any:
    """A node that says it is inside and then stays there until somebody writes it a line."""

    def open_gate() -> str:
        world.happen("gate", once.key())
        return "opened"

    def hold(state: Order) -> dict[str, Any]:
        opened = once(open_gate)
        say("inside")
        told = input()
        return {"notes": [opened, told]}

    return (
        StateGraph(Order)
        .add_node(hold)
        .add_edge(START, "hold")
        .compile(checkpointer=store, name="holding")
    )
