"""From a question to the answer's effect: invoke until it pauses, resume until it ends.

Each unit is a fresh thread and two calls. The least that can be written durably for it is two
transactions: the question before the first call returns, the outcome before the second does.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any, TypedDict

from bench import bare
from bench.measure import Bound, Figures, Measurement, expect, stopwatch
from bench.peers import Library, both, thread


class Request(TypedDict, total=False):
    amount: int
    verdict: str


def approval(library: Library, saver: Any) -> Any:
    def ask(state: dict[str, Any]) -> dict[str, Any]:
        return {"verdict": library.interrupt({"approve": state["amount"]})}

    graph = library.StateGraph(Request)
    graph.add_node("ask", ask)
    graph.add_edge(library.START, "ask")
    graph.add_edge("ask", library.END)
    return graph.compile(checkpointer=saver)


def round_trips(library: Library, saver: Any, units: int) -> Figures:
    graph = approval(library, saver)
    with stopwatch() as watch:
        for i in range(units):
            config = thread(f"request-{i}")
            paused = graph.invoke({"amount": i}, config, durability="sync")
            done = graph.invoke(library.Command(resume="yes"), config, durability="sync")
    expect(paused["__interrupt__"][0].value, {"approve": units - 1}, "the last question")
    expect(done, {"amount": units - 1, "verdict": "yes"}, "the last result")
    return watch.per(units)


def in_memory(library: Library, directory: Path, units: int) -> Figures:
    with library.memory(directory) as saver:
        return round_trips(library, saver, units)


def on_sqlite(library: Library, directory: Path, units: int) -> Figures:
    with library.sqlite(directory) as saver:
        return round_trips(library, saver, units)


MEASUREMENTS = [
    Measurement(
        name="round-trip-memory",
        title="interrupt → resume, in memory",
        unit="ms per round trip",
        sides=both(in_memory),
        bounds=[Bound("wall", 1 / 20)],
        sizes={"full": 200, "quick": 100, "smoke": 3},
    ),
    Measurement(
        name="round-trip-sqlite",
        title="interrupt → resume, SQLite",
        unit="ms per round trip",
        sides={**both(on_sqlite), "bare": partial(bare.transactions, each=2)},
        bounds=[Bound("wall", 0.3), Bound("cpu", 1 / 6)],
        sizes={"full": 200, "quick": 100, "smoke": 3},
    ),
]
