"""1,000 `Send`s in one superstep, each adding one item to a list."""

from __future__ import annotations

import operator
from pathlib import Path
from typing import Annotated, Any, TypedDict

from bench.measure import Bound, Figures, Measurement, expect, stopwatch
from bench.peers import Library, both, thread


class Pile(TypedDict):
    results: Annotated[list[Any], operator.add]


def fan_out(library: Library, saver: Any, tasks: int) -> Figures:
    def spread(_: dict[str, Any]) -> list[Any]:
        return [library.Send("work", {"item": i}) for i in range(tasks)]

    def work(arg: dict[str, Any]) -> dict[str, Any]:
        return {"results": [arg["item"]]}

    graph = library.StateGraph(Pile)
    graph.add_node("work", work)
    graph.add_conditional_edges(library.START, spread, ["work"])
    compiled = graph.compile(checkpointer=saver)
    with stopwatch() as watch:
        result = compiled.invoke({"results": []}, thread("pile"), durability="sync")
    expect(result["results"], list(range(tasks)), "the results in the order issued")
    return watch.per(1)


def in_memory(library: Library, directory: Path, tasks: int) -> Figures:
    with library.memory(directory) as saver:
        return fan_out(library, saver, tasks)


def on_sqlite(library: Library, directory: Path, tasks: int) -> Figures:
    with library.sqlite(directory) as saver:
        return fan_out(library, saver, tasks)


MEASUREMENTS = [
    Measurement(
        name="sends-memory",
        title="1,000 parallel Sends, in memory",
        unit="ms for all",
        sides=both(in_memory),
        bounds=[Bound("wall", 1 / 12)],
        sizes={"full": 1000, "quick": 1000, "smoke": 5},
    ),
    Measurement(
        name="sends-sqlite",
        title="1,000 parallel Sends, SQLite",
        unit="ms for all",
        sides=both(on_sqlite),
        bounds=[Bound("wall", 1 / 12)],
        sizes={"full": 1000, "quick": 1000, "smoke": 5},
    ),
]
